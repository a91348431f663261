import type { StoryStep } from '../example.ts';

const WEBHOOK = '/api/v1/outputs/webhook';
const URL = 'http://192.0.2.20:18080/hook';

export const OUTPUT_STEPS: readonly StoryStep[] = [
  { name: 'get-webhook', operation: `GET ${WEBHOOK}`, title: 'Before anybody configured it', status: 200 },
  {
    name: 'detect-without-url',
    operation: `POST ${WEBHOOK}/detect`,
    title: 'No URL is saved',
    status: 409,
  },
  {
    name: 'detect-webhook',
    operation: `POST ${WEBHOOK}/detect`,
    title: 'The receiver answers',
    body: { url: URL },
    status: 200,
  },
  {
    name: 'detect-nobody',
    operation: `POST ${WEBHOOK}/detect`,
    title: 'Nobody listens there',
    body: { url: 'http://192.0.2.21:18080/hook' },
    status: 200,
  },
  {
    name: 'replace-webhook',
    operation: `PUT ${WEBHOOK}`,
    title: 'A receiver with a token and a header of its own, several records a request',
    body: {
      enabled: false,
      config: {
        url: URL,
        method: 'POST',
        headers: { 'X-Site': 'berlin' },
        'auth-header': 'Bearer a-secret',
        'batch-mode': true,
        'timeout-ms': 5_000,
      },
    },
    status: 200,
  },
  {
    name: 'replace-webhook-refused',
    operation: `PUT ${WEBHOOK}`,
    title: 'A header that the sender sets itself, and no URL',
    body: { enabled: true, config: { url: 'receiver.example', headers: { Host: 'receiver.example' } } },
    status: 400,
  },
  {
    name: 'get-output-metrics',
    operation: 'GET /api/v1/outputs/metrics',
    title: 'Nothing was sent yet',
    status: 200,
  },
];
