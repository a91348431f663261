import * as z from 'zod';
import { inDeclaredOrder, refusal, whenRight } from './body.ts';
import { labels } from './device.ts';
import { latestVersion, type Model, type Protocol } from './model.ts';
import { parseVersion, VERSION_PATTERN } from './model-version.ts';
import { description, name } from './name.ts';
import { toObject } from './string-map.ts';

export const SUBSCRIPTION_READ_ONLY = ['id', 'model-id', 'reason', 'status'] as const;

/** The version of a subscription that follows activations. */
export const LATEST = 'latest';

const MIN_INTERVAL_MILLISECONDS = 1_000;
const MAX_INTERVAL_MILLISECONDS = 86_400_000;

const milliseconds = (meaningOfZero: string) =>
  z
    .int()
    .refine(
      (value) => value === 0 || (value >= MIN_INTERVAL_MILLISECONDS && value <= MAX_INTERVAL_MILLISECONDS),
      { ...refusal('out-of-range'), error: '' },
    )
    .default(0)
    .meta({
      legal: `0 (${meaningOfZero}) or ${MIN_INTERVAL_MILLISECONDS} to ${MAX_INTERVAL_MILLISECONDS} milliseconds`,
      anyOf: [{ const: 0 }, { minimum: MIN_INTERVAL_MILLISECONDS, maximum: MAX_INTERVAL_MILLISECONDS }],
    });

export const subscriptionConfiguration = z
  .strictObject({
    name,
    description,
    enabled: z.boolean().default(false).meta({ legal: 'true or false' }),
    'model-name': name,
    'model-version': z
      .string()
      .refine((value) => value === LATEST || parseVersion(value) !== undefined, {
        error: 'model-version is "latest" or a version as "1.2.0"',
      })
      .meta({
        legal: '"latest" or a version as "1.2.0"',
        anyOf: [{ const: LATEST }, { pattern: VERSION_PATTERN }],
      }),
    devices: z
      .strictObject({
        ids: z
          .array(z.int().min(1).max(999_999_999_999_999).meta({ legal: "a device's id" }))
          .max(10_000)
          .default([])
          .meta({ legal: 'a list of at most 10000 device ids' }),
        labels: labels.prefault({}),
      })
      .prefault({})
      .meta({ legal: 'device ids and labels' }),
    protocol: z
      .enum(['', 'gnmi', 'snmp'])
      .default('')
      .meta({ legal: 'empty (whichever fits), gnmi or snmp' }),
    mode: z.enum(['sample', 'on-change', 'poll']).meta({ legal: 'sample, on-change or poll' }),
    'interval-ms': milliseconds('only with on-change'),
    'heartbeat-ms': milliseconds('off'),
  })
  .superRefine(
    (subscription, context) => {
      if (subscription.mode !== 'on-change' && subscription['interval-ms'] === 0) {
        context.addIssue({
          code: 'custom',
          ...refusal('out-of-range'),
          path: ['interval-ms'],
          message: `interval-ms is ${MIN_INTERVAL_MILLISECONDS} to ${MAX_INTERVAL_MILLISECONDS} milliseconds in mode ${subscription.mode}`,
        });
      }
    },
    whenRight('mode', 'interval-ms'),
  )
  .superRefine(
    (subscription, context) => {
      if (subscription.protocol === 'snmp' && subscription.mode === 'on-change') {
        context.addIssue({
          code: 'custom',
          ...refusal('invalid-format'),
          path: ['mode'],
          message: 'SNMP is polled; on-change needs gNMI',
        });
      }
    },
    whenRight('mode', 'protocol'),
  );

export type SubscriptionConfiguration = z.output<typeof subscriptionConfiguration>;

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
    ...inDeclaredOrder(subscriptionConfiguration, configuration),
    'model-name': pinned?.name ?? configuration['model-name'],
    devices: { ids: configuration.devices.ids, labels: toObject(configuration.devices.labels) },
  };
}
