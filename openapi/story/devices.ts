import type { StoryStep } from '../example.ts';

const DEVICES = '/api/v1/devices';
const DEVICE = `${DEVICES}/{deviceId}`;

const SWITCH = {
  name: 'switch1',
  address: '192.0.2.17',
  netos: 'ios',
  labels: { site: 'berlin', role: 'access' },
  enabled: true,
  snmp: { port: 16_100, version: 'v2c', community: 'public' },
};

const LEAF = {
  name: 'leaf1',
  address: '192.0.2.10',
  netos: 'srlinux',
  labels: { site: 'berlin', role: 'leaf' },
  gnmi: { username: 'graticule', password: 'a secret' },
};

interface DeviceBody {
  readonly status: { readonly worker: string; readonly snmp: object | null };
}

export const DEVICE_STEPS: readonly StoryStep[] = [
  {
    name: 'create-device',
    operation: `POST ${DEVICES}`,
    title: 'A switch that speaks SNMP',
    body: SWITCH,
    status: 201,
    unsettled: ['status'],
  },
  {
    name: 'create-gnmi-device',
    operation: `POST ${DEVICES}`,
    title: 'One that speaks gNMI, to be enabled later',
    body: LEAF,
    status: 201,
    unsettled: ['status'],
  },
  {
    name: 'create-device-conflict',
    operation: `POST ${DEVICES}`,
    title: 'A name that another device has',
    body: SWITCH,
    status: 409,
  },
  {
    name: 'create-device-refused',
    operation: `POST ${DEVICES}`,
    title: 'Neither protocol',
    body: { name: 'leaf2', address: '192.0.2.11', netos: 'srlinux' },
    status: 400,
  },
  {
    name: 'replace-device',
    operation: `PUT ${DEVICE}`,
    title: 'Another port; the mask keeps the password',
    path: { deviceId: '2' },
    body: { ...LEAF, gnmi: { username: 'graticule', password: '********', port: 6030 } },
    status: 200,
    unsettled: ['status'],
  },
  {
    name: 'replace-device-refused',
    operation: `PUT ${DEVICE}`,
    title: 'A secret does not follow to another address by its mask',
    path: { deviceId: '2' },
    body: { ...LEAF, address: '192.0.2.99', gnmi: { username: 'graticule', password: '********' } },
    status: 400,
  },
  {
    name: 'get-device',
    operation: `GET ${DEVICE}`,
    title: 'A device that a worker has',
    path: { deviceId: '1' },
    status: 200,
    until: ({ status }: DeviceBody) => status.worker !== '' && status.snmp !== null,
  },
  {
    name: 'list-devices',
    operation: `GET ${DEVICES}`,
    title: 'A page of one',
    query: { limit: '1' },
    status: 200,
  },
  {
    name: 'delete-device',
    operation: `DELETE ${DEVICE}`,
    title: 'A device that is gone',
    path: { deviceId: '2' },
    status: 204,
  },
  {
    name: 'test-model',
    operation: 'POST /api/v1/models/{modelId}/test',
    title: 'What a mapping gets from a device now',
    path: { modelId: '1' },
    body: { 'device-id': 1, 'mapping-id': 2 },
    status: 200,
  },
  {
    name: 'test-model-refused',
    operation: 'POST /api/v1/models/{modelId}/test',
    title: 'A device that there is not',
    path: { modelId: '1' },
    body: { 'device-id': 7, 'mapping-id': 2 },
    status: 400,
  },
];
