/** Plans of streams to a simulated target, as the worker makes them from stored things. */
import { planDevice, type StreamPlan } from '../../../core/collection-plan.ts';
import type { Device } from '../../../core/device.ts';
import type { FieldType } from '../../../core/mapping/field-type.ts';
import type { Model } from '../../../core/model.ts';
import type { Subscription } from '../../../core/subscription.ts';

export interface PlanOptions {
  readonly port: number;
  readonly deviceId?: number;
  readonly netos?: string;
  readonly subscriptionId?: number;
  readonly mode?: 'sample' | 'on-change' | 'poll';
  readonly intervalMilliseconds?: number;
  /** Name, type and path of each field. */
  readonly fields: ReadonlyArray<readonly [name: string, type: FieldType, path: string]>;
}

export function deviceAt(port: number, id = 1, netos = 'srlinux'): Device {
  const gnmi = {
    port,
    tls: 'off',
    ca: '',
    'client-certificate': '',
    'client-key': '',
    'server-name': '',
    username: '',
    password: '',
    target: '',
  } as const;
  return {
    id,
    revision: 1,
    configuration: {
      name: `leaf${id}`,
      address: '127.0.0.1',
      netos,
      labels: [],
      enabled: true,
      gnmi,
      snmp: null,
    },
    encryptedSecrets: {},
  };
}

export function streamPlan(options: PlanOptions): StreamPlan {
  const { port, deviceId = 1, netos = 'srlinux', subscriptionId = 1, mode = 'sample', fields } = options;
  const model: Model = {
    id: 1,
    revision: 1,
    name: 'interfaces',
    version: '1.0.0',
    description: '',
    active: true,
    activatedAt: null,
    activation: 1,
    fields: fields.map(([name, type], index) => ({ id: index + 1, name, type })),
    mappings: [
      {
        id: 1,
        protocol: 'gnmi',
        netos: '*',
        fieldMappings: fields.map(([name, , path]) => [name, path] as const),
      },
    ],
    createdAt: '',
    updatedAt: '',
  };
  const subscription: Subscription = {
    id: subscriptionId,
    revision: 1,
    configuration: {
      name: 's',
      description: '',
      enabled: true,
      'model-name': 'interfaces',
      'model-version': 'latest',
      devices: { ids: [deviceId], labels: [] },
      protocol: '',
      mode,
      'interval-ms': options.intervalMilliseconds ?? 1_000,
      'heartbeat-ms': 0,
    },
    pinnedModelId: null,
  };
  const [plan] = planDevice(deviceAt(port, deviceId, netos), [subscription], [model]).streams;
  if (plan === undefined) throw new Error('no plan');
  return plan;
}
