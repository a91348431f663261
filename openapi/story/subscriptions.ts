import type { StoryStep } from '../example.ts';

const SUBSCRIPTIONS = '/api/v1/subscriptions';
const SUBSCRIPTION = `${SUBSCRIPTIONS}/{subscriptionId}`;

const ACCESS = {
  name: 'access every two seconds',
  enabled: true,
  'model-name': 'interfaces',
  'model-version': 'latest',
  devices: { labels: { role: 'access' } },
  mode: 'poll',
  'interval-ms': 2_000,
};

interface SubscriptionBody {
  readonly status: readonly { readonly state: string; readonly rows: number }[];
}

interface SnapshotBody {
  readonly rows: readonly unknown[];
}

export const SUBSCRIPTION_STEPS: readonly StoryStep[] = [
  {
    name: 'create-subscription',
    operation: `POST ${SUBSCRIPTIONS}`,
    title: 'All devices with a label',
    body: ACCESS,
    status: 201,
    unsettled: ['status'],
  },
  {
    name: 'create-subscription-refused',
    operation: `POST ${SUBSCRIPTIONS}`,
    title: 'A model that there is not',
    body: { ...ACCESS, 'model-name': 'interface' },
    status: 400,
  },
  {
    name: 'create-disabled-subscription',
    operation: `POST ${SUBSCRIPTIONS}`,
    title: 'One device, one version, not yet',
    body: {
      name: 'switch1 by the minute',
      'model-name': 'interfaces',
      'model-version': '1.0.0',
      devices: { ids: [1] },
      mode: 'poll',
      'interval-ms': 60_000,
    },
    status: 201,
    unsettled: ['status'],
  },
  {
    name: 'get-subscription',
    operation: `GET ${SUBSCRIPTION}`,
    title: 'How it goes on each device',
    path: { subscriptionId: '1' },
    status: 200,
    until: ({ status }: SubscriptionBody) => status[0]?.state === 'polling' && status[0].rows > 0,
  },
  {
    name: 'get-snapshot',
    operation: 'GET /api/v1/models/{modelId}/snapshot',
    title: 'The newest rows of every device that the model is collected from',
    path: { modelId: '1' },
    status: 200,
    until: ({ rows }: SnapshotBody) => rows.length === 1,
  },
  {
    name: 'get-snapshot-csv',
    operation: 'GET /api/v1/models/{modelId}/snapshot',
    title: 'The same for a spreadsheet',
    path: { modelId: '1' },
    query: { format: 'csv' },
    status: 200,
  },
  {
    name: 'replace-subscription',
    operation: `PUT ${SUBSCRIPTION}`,
    title: 'More often',
    path: { subscriptionId: '2' },
    body: {
      name: 'switch1 by the half minute',
      'model-name': 'interfaces',
      'model-version': '1.0.0',
      devices: { ids: [1] },
      mode: 'poll',
      'interval-ms': 30_000,
    },
    status: 200,
    unsettled: ['status'],
  },
  {
    name: 'list-subscriptions',
    operation: `GET ${SUBSCRIPTIONS}`,
    title: 'A page',
    query: { after: '1' },
    status: 200,
  },
  {
    name: 'delete-used-device',
    operation: 'DELETE /api/v1/devices/{deviceId}',
    title: 'A device that a subscription names',
    path: { deviceId: '1' },
    status: 409,
  },
  {
    name: 'delete-used-model',
    operation: 'DELETE /api/v1/models/{modelId}',
    title: 'A model that a subscription pins',
    path: { modelId: '1' },
    status: 409,
  },
  {
    name: 'delete-subscription',
    operation: `DELETE ${SUBSCRIPTION}`,
    title: 'Nobody reads it',
    path: { subscriptionId: '2' },
    status: 204,
  },
];
