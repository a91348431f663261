import { createHash } from 'node:crypto';
import type { Device } from './device.ts';
import type { Mapping, Model, Protocol } from './model.ts';
import { secretIdentity } from './secret.ts';
import { chooseMapping, resolveModel, type Subscription, selectsDevice } from './subscription.ts';

/** One subscription on one device: what to collect, how, and how often. */
export interface StreamPlan {
  readonly subscriptionId: number;
  readonly device: Device;
  readonly model: Model;
  readonly mapping: Mapping;
  readonly protocol: Protocol;
  readonly mode: 'sample' | 'on-change' | 'poll';
  readonly intervalMilliseconds: number;
  /** 0: off. */
  readonly heartbeatMilliseconds: number;
  /** Equal for two plans exactly when a stream of the one does what the other asks. */
  readonly signature: string;
}

/** A subscription that collects nothing from a device, and why. */
export interface IdleStream {
  readonly subscriptionId: number;
  readonly reason: string;
}

export interface DevicePlan {
  readonly deviceId: number;
  readonly streams: readonly StreamPlan[];
  readonly idle: readonly IdleStream[];
}

/** What a device is to be collected for, by everything that people have configured. */
export function planDevice(
  device: Device,
  subscriptions: readonly Subscription[],
  models: readonly Model[],
): DevicePlan {
  const streams: StreamPlan[] = [];
  const idle: IdleStream[] = [];
  for (const subscription of subscriptions) {
    if (!selectsDevice(subscription.configuration, device)) continue;
    const planned = planStream(device, subscription, models);
    if (typeof planned === 'string') idle.push({ subscriptionId: subscription.id, reason: planned });
    else streams.push(planned);
  }
  return { deviceId: device.id, streams, idle };
}

function planStream(
  device: Device,
  subscription: Subscription,
  models: readonly Model[],
): StreamPlan | string {
  const { configuration } = subscription;
  if (!device.configuration.enabled || !configuration.enabled) return 'disabled';
  const { model, reason } = resolveModel(subscription, models);
  if (model === undefined || reason !== '') return reason;
  const choice = chooseMapping(model, device, configuration.protocol);
  if (!choice.ok) return choice.reason;
  const mapping = model.mappings.find(({ id }) => id === choice.mappingId) as Mapping;
  if (choice.protocol === 'snmp' && configuration.mode === 'on-change') {
    return 'SNMP is polled; on-change needs gNMI';
  }
  const plan = {
    subscriptionId: subscription.id,
    device,
    model,
    mapping,
    protocol: choice.protocol,
    mode: configuration.mode,
    intervalMilliseconds: configuration['interval-ms'],
    heartbeatMilliseconds: configuration['heartbeat-ms'],
  };
  return { ...plan, signature: signatureOf(plan) };
}

/** Everything that a stream or its records depend on; labels, descriptions and other models' edits are not in it. */
function signatureOf(plan: Omit<StreamPlan, 'signature'>): string {
  const { device, model, mapping } = plan;
  const { name, address, netos } = device.configuration;
  const secrets = Object.entries(device.encryptedSecrets)
    .filter(([place]) => place.startsWith(plan.protocol))
    .map(([place, stored]) => [place, secretIdentity(stored)] as const);
  return createHash('sha256')
    .update(
      JSON.stringify([
        [name, address, netos, byName(device.configuration[plan.protocol] ?? {}), byName(secrets)],
        [model.id, model.name, model.fields.map((field) => [field.name, field.type])],
        [mapping.id, byName(mapping.fieldMappings)],
        [plan.mode, plan.intervalMilliseconds, plan.heartbeatMilliseconds],
      ]),
    )
    .digest('base64url');
}

/** Members in one order: a store gives them back in any. */
function byName(members: object | ReadonlyArray<readonly [string, unknown]>): unknown[] {
  const entries = Array.isArray(members) ? members : Object.entries(members);
  return entries.toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * When a polled stream is due next: always at the same offset within its interval, which is drawn from its name, so
 * that neither restarts nor slow polls make it drift and thousands of streams do not fall together.
 */
export function nextDueAt(streamName: string, intervalMilliseconds: number, now: number): number {
  const phase = createHash('sha256').update(streamName).digest().readUInt32BE(0) % intervalMilliseconds;
  return Math.floor((now - phase) / intervalMilliseconds + 1) * intervalMilliseconds + phase;
}
