import { deliveryMetricsAnswer, detectAnswer, webhookAnswer } from '../../core/webhook-answer.ts';
import { detectRequest, webhookRequest } from '../../core/webhook-request.ts';
import type { NamedSchema, OperationDocuments } from '../operation.ts';

const WEBHOOK: NamedSchema = { name: 'Webhook', schema: webhookAnswer };

export const OUTPUT_OPERATIONS: OperationDocuments = {
  'GET /api/v1/outputs/webhook': {
    id: 'getWebhook',
    summary: 'Show the webhook output',
    answer: { status: 200, description: 'The configuration', body: WEBHOOK, headers: ['ETag'] },
  },
  'PUT /api/v1/outputs/webhook': {
    id: 'replaceWebhook',
    summary: 'Configure the webhook output',
    description:
      '`enabled` and `config` are required; an omitted key of `config` takes its default. In `auth-header`, empty or the mask keeps what is stored; null or no member clears it.',
    isConditional: true,
    request: { name: 'WebhookRequest', schema: webhookRequest, readOnly: [] },
    answer: { status: 200, description: 'The configuration', body: WEBHOOK, headers: ['ETag'] },
  },
  'POST /api/v1/outputs/webhook/detect': {
    id: 'detectWebhook',
    summary: 'Ask a receiver whether it answers',
    description: 'One HEAD request without authorization; without `url`, to the saved one.',
    request: { name: 'DetectRequest', schema: detectRequest, readOnly: [], isOptional: true },
    answer: {
      status: 200,
      description: 'What the receiver answered, or why it did not',
      body: { name: 'Detection', schema: detectAnswer },
    },
    problems: ['no-saved-url'],
  },
  'GET /api/v1/outputs/metrics': {
    id: 'getOutputMetrics',
    summary: 'Count what was delivered',
    answer: {
      status: 200,
      description: 'Counters since the first start',
      body: { name: 'DeliveryMetrics', schema: deliveryMetricsAnswer },
    },
  },
};
