import { validateBody } from '../core/body.ts';
import {
  DEVICE_SECRETS,
  type Device,
  type DeviceConfiguration,
  viewDeviceConfiguration,
} from '../core/device.ts';
import { DEVICE_READ_ONLY, deviceConfiguration } from '../core/device-request.ts';
import { invalidBody, type MemberError, Problem } from '../core/problem.ts';
import { SECRET_MASK } from '../core/secret.ts';
import { type DeviceStatus, viewProtocol } from '../core/stream-status.ts';
import { listDeviceStatuses } from '../store/device-status-store.ts';
import { createDevice, getDevice, listDevices, removeDevice, replaceDevice } from '../store/device-store.ts';
import { nextId } from '../store/id-store.ts';
import { encryptSecret } from '../store/keyring.ts';
import { listSubscriptions } from '../store/subscription-store.ts';
import { type ApiRequest, apiHandler } from './http.ts';
import { findLiveWorkers } from './live-workers.ts';
import { resourceOperations } from './resource.ts';

export const handler = apiHandler(
  'devices',
  resourceOperations({
    path: '/api/v1/devices',
    parameter: 'deviceId',
    noun: 'device',
    validate: (body) => validateBody(deviceConfiguration, DEVICE_READ_ONLY, body),
    list: listDevices,
    get: getDevice,
    create,
    replace,
    remove: (device) => removeDevice(device, () => refuseUsed(device.id)),
    view: async (device, request) => viewDevice(device, await readSeen(request)),
    viewAll: async (devices, request) => {
      const seen = await readSeen(request);
      return devices.map((device) => viewDevice(device, seen));
    },
  }),
);

async function create(asked: DeviceConfiguration): Promise<Device> {
  const changes = secretChanges(asked, undefined);
  const device = await withSecrets({ id: await nextId('device'), revision: 1 }, asked, changes, {});
  await createDevice(device);
  return device;
}

async function replace(previous: Device, asked: DeviceConfiguration): Promise<Device> {
  const changes = secretChanges(asked, previous);
  const isSame = stable(withoutSecrets(asked)) === stable(previous.configuration);
  const keepsSecrets = [...changes].every(
    ([place, change]) =>
      change === 'keep' || (change === 'clear' && previous.encryptedSecrets[place] === undefined),
  );
  if (isSame && keepsSecrets) return previous;
  const next = await withSecrets(
    { id: previous.id, revision: previous.revision + 1 },
    asked,
    changes,
    previous.encryptedSecrets,
  );
  await replaceDevice(previous, next);
  return next;
}

/** What a body does to each secret, by its place. Throws for masks that have nothing to stand for, all at once. */
function secretChanges(
  asked: DeviceConfiguration,
  previous: Device | undefined,
): Map<string, 'keep' | 'clear' | { readonly set: string }> {
  const changes = new Map<string, 'keep' | 'clear' | { readonly set: string }>();
  const errors: MemberError[] = [];
  for (const [group, member] of DEVICE_SECRETS) {
    const place = `${group}/${member}`;
    const value = (asked[group] as Record<string, unknown> | null)?.[member] ?? '';
    if (value === '') changes.set(place, 'clear');
    else if (value !== SECRET_MASK) changes.set(place, { set: value as string });
    else if (previous?.encryptedSecrets[place] === undefined) {
      const detail = `${member} is the mask, but none is stored that it could keep`;
      errors.push({ pointer: `/${place}`, code: 'mask-without-secret', detail });
    } else if (asked.address !== previous.configuration.address) {
      const detail = `the stored ${member} would go to another address; give it again with that address`;
      errors.push({ pointer: `/${place}`, code: 'secret-for-new-address', detail });
    } else changes.set(place, 'keep');
  }
  if (errors.length > 0) throw invalidBody(errors);
  return changes;
}

async function withSecrets(
  identity: Pick<Device, 'id' | 'revision'>,
  asked: DeviceConfiguration,
  changes: ReadonlyMap<string, 'keep' | 'clear' | { readonly set: string }>,
  stored: Device['encryptedSecrets'],
): Promise<Device> {
  const encryptedSecrets: Record<string, string> = {};
  for (const [place, change] of changes) {
    if (change === 'clear') continue;
    encryptedSecrets[place] =
      change === 'keep'
        ? (stored[place] as string)
        : await encryptSecret(change.set, { owner: `device/${identity.id}`, field: place });
  }
  return { ...identity, configuration: withoutSecrets(asked), encryptedSecrets };
}

function withoutSecrets(asked: DeviceConfiguration): DeviceConfiguration {
  const emptied = { ...asked } as Record<string, unknown>;
  for (const [group, member] of DEVICE_SECRETS) {
    if (asked[group] !== null) emptied[group] = { ...(emptied[group] as object), [member]: '' };
  }
  return emptied as DeviceConfiguration;
}

async function refuseUsed(id: number): Promise<void> {
  const user = (await listSubscriptions()).find(({ configuration }) =>
    configuration.devices.ids.includes(id),
  );
  if (user === undefined) return;
  throw new Problem('conflict', `subscription ${user.id} names device ${id}`, { conflictingId: user.id });
}

interface Seen {
  readonly statuses: ReadonlyMap<number, DeviceStatus>;
  readonly liveWorkers: ReadonlySet<string>;
}

async function readSeen(request: ApiRequest): Promise<Seen> {
  const [statuses, liveWorkers] = await Promise.all([listDeviceStatuses(), findLiveWorkers(request.now)]);
  return { statuses, liveWorkers };
}

function viewDevice(device: Device, { statuses, liveWorkers }: Seen) {
  const status = statuses.get(device.id);
  const isLive = status !== undefined && liveWorkers.has(status.worker);
  const reason = !device.configuration.enabled
    ? 'disabled'
    : liveWorkers.size === 0
      ? 'no-worker'
      : isLive
        ? status.reason
        : 'waiting-owner';
  return {
    id: device.id,
    ...viewDeviceConfiguration(device),
    status: {
      worker: isLive ? status.worker : '',
      reason,
      gnmi: viewProtocol(isLive ? status.gnmi : null),
      snmp: viewProtocol(isLive ? status.snmp : null),
    },
  };
}

/** One text for one content, whatever the order in which members and labels were written. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (Array.isArray(member)) return member.every(isPair) ? member.toSorted(byName) : member;
    return typeof member === 'object' && member !== null ? Object.entries(member).toSorted(byName) : member;
  });
}

function isPair(item: unknown): boolean {
  return Array.isArray(item) && item.length === 2 && typeof item[0] === 'string';
}

function byName(a: readonly unknown[], b: readonly unknown[]): number {
  return String(a[0]) < String(b[0]) ? -1 : 1;
}
