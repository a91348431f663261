import type * as z from 'zod/mini';
import { latestVersion, type Model, type Protocol } from './model.ts';
import { inDeclaredOrder, type Members } from './stored-members.ts';
import { toObject } from './string-map.ts';
import type { subscriptionConfiguration } from './subscription-request.ts';

/** The version of a subscription that follows activations. */
export const LATEST = 'latest';

export type SubscriptionConfiguration = z.output<typeof subscriptionConfiguration>;

/** A subscription's members. */
export const SUBSCRIPTION_MEMBERS: Members<SubscriptionConfiguration> = {
  name: undefined,
  description: '',
  enabled: false,
  'model-name': undefined,
  'model-version': undefined,
  devices: { ids: [], labels: [] },
  protocol: '',
  mode: undefined,
  'interval-ms': 0,
  'heartbeat-ms': 0,
};

export interface Subscription {
  readonly id: number;
  readonly revision: number;
  readonly configuration: SubscriptionConfiguration;
  /** The model that a pinned version names; it stays the same model when that is renamed. Null: tracks latest. */
  readonly pinnedModelId: number | null;
}

/** Why a subscription collects nothing, or `''`. */
export type SubscriptionReason =
  | ''
  | 'disabled'
  | 'no-active-version'
  | 'model-inactive'
  | 'no-devices'
  | 'no-mapping'
  | 'no-worker';

/** The model that a subscription collects now, and why it does not if so. */
export function resolveModel(
  { configuration, pinnedModelId }: Pick<Subscription, 'configuration' | 'pinnedModelId'>,
  models: readonly Model[],
): { readonly model: Model | undefined; readonly reason: SubscriptionReason } {
  if (pinnedModelId === null) {
    const model = latestVersion(models, configuration['model-name']);
    return { model, reason: model === undefined ? 'no-active-version' : '' };
  }
  const model = models.find(({ id }) => id === pinnedModelId);
  return { model, reason: model?.active ? '' : 'model-inactive' };
}

/** Whether a device is one of a subscription's: named by id, or with every label asked for. */
export function selectsDevice(
  { devices }: Pick<SubscriptionConfiguration, 'devices'>,
  device: {
    readonly id: number;
    readonly configuration: { readonly labels: SubscriptionConfiguration['devices']['labels'] };
  },
): boolean {
  if (devices.ids.includes(device.id)) return true;
  const own = new Map(device.configuration.labels);
  return devices.labels.length > 0 && devices.labels.every(([label, value]) => own.get(label) === value);
}

/** The mapping by which a device is collected, or what was looked for in vain. */
export type MappingChoice =
  | { readonly ok: true; readonly protocol: Protocol; readonly mappingId: number }
  | { readonly ok: false; readonly reason: string };

/**
 * Chooses protocol and mapping for a device: the subscription's protocol if it names one, else gNMI where the device
 * has its settings and a mapping fits, else SNMP. The device's own netos goes before `*`.
 */
export function chooseMapping(
  model: Pick<Model, 'mappings'>,
  device: {
    readonly configuration: { readonly netos: string; readonly gnmi: unknown; readonly snmp: unknown };
  },
  asked: '' | Protocol,
): MappingChoice {
  const { netos } = device.configuration;
  const lookedFor: string[] = [];
  for (const protocol of asked === '' ? (['gnmi', 'snmp'] as const) : [asked]) {
    if (device.configuration[protocol] === null) {
      lookedFor.push(`${protocol} settings of the device`);
      continue;
    }
    const fitting = model.mappings.filter((mapping) => mapping.protocol === protocol);
    const mapping =
      fitting.find((candidate) => candidate.netos === netos) ??
      fitting.find((candidate) => candidate.netos === '*');
    if (mapping !== undefined) return { ok: true, protocol, mappingId: mapping.id };
    lookedFor.push(`a mapping for ${protocol} and ${netos} or *`);
  }
  return { ok: false, reason: `looked for ${lookedFor.join(' and ')}` };
}

/** The configuration as the API shows it; a pinned model's name is the one that it has now. */
export function viewSubscriptionConfiguration(
  { configuration, pinnedModelId }: Subscription,
  models: readonly Model[],
) {
  const pinned = models.find(({ id }) => id === pinnedModelId);
  return {
    ...inDeclaredOrder(SUBSCRIPTION_MEMBERS, configuration),
    'model-name': pinned?.name ?? configuration['model-name'],
    devices: { ids: configuration.devices.ids, labels: toObject(configuration.devices.labels) },
  };
}
