import { CONFIG_KEYS } from '../contract/tables.ts';
import { DEVICE_MEMBERS, type Device } from '../core/device.ts';
import { withMembersOf } from '../core/stored-members.ts';
import { resourceStore } from './resource-store.ts';
import { closeUse, openUse } from './use-store.ts';

const devices = resourceStore<Device>({
  kind: 'device',
  partition: CONFIG_KEYS.devices,
  key: CONFIG_KEYS.device,
  identity: ({ configuration }) => CONFIG_KEYS.deviceName(configuration.name),
  identityIs: 'this name',
  mayHaveBeen: 'changed, removed or taken into use',
  fromItem: (item) => ({
    id: item['id'],
    revision: item['revision'],
    configuration: withMembersOf(DEVICE_MEMBERS, item['configuration']),
    encryptedSecrets: item['encryptedSecrets'],
  }),
});

/** Throws a `conflict` Problem when another device has its name. */
export const createDevice = (device: Device): Promise<void> =>
  devices.create(device, [openUse('device', device.id)]);
/** As `ResourceStore.replace`. */
export const replaceDevice = devices.replace;
export const getDevice = devices.get;
export const listDevices = devices.list;

/** Removes a device unless `refuseUsed` throws, also when a use begins meanwhile. */
export async function removeDevice(device: Device, refuseUsed: () => Promise<void>): Promise<void> {
  const use = await closeUse('device', device.id);
  await refuseUsed();
  await devices.remove(device, [use]);
}
