import type * as z from 'zod/mini';
import type { deviceConfiguration } from './device-request.ts';
import { SECRET_MASK } from './secret.ts';
import { inDeclaredOrder, type Members } from './stored-members.ts';
import { toObject } from './string-map.ts';

export type DeviceConfiguration = z.output<typeof deviceConfiguration>;

/** A device's members, and those of its settings below. */
export const DEVICE_MEMBERS: Members<DeviceConfiguration> = {
  name: undefined,
  address: undefined,
  netos: undefined,
  labels: [],
  enabled: false,
  gnmi: null,
  snmp: null,
};

export const GNMI_MEMBERS: Members<NonNullable<DeviceConfiguration['gnmi']>> = {
  port: 0,
  tls: '',
  ca: '',
  'client-certificate': '',
  'client-key': '',
  'server-name': '',
  username: '',
  password: '',
  target: '',
};

export const SNMP_MEMBERS: Members<NonNullable<DeviceConfiguration['snmp']>> = {
  port: 0,
  version: '',
  community: '',
  user: '',
  'auth-protocol': '',
  'auth-password': '',
  'priv-protocol': '',
  'priv-password': '',
  context: '',
  'engine-id': '',
  'max-repetitions': 0,
  'timeout-ms': 0,
  retries: 0,
  unconnected: false,
};

/** The members of a device that are write-only, by where they stand. */
export const DEVICE_SECRETS = [
  ['gnmi', 'client-key'],
  ['gnmi', 'password'],
  ['snmp', 'community'],
  ['snmp', 'auth-password'],
  ['snmp', 'priv-password'],
] as const;

export const AUTH_PROTOCOLS = ['md5', 'sha-1', 'sha-224', 'sha-256', 'sha-384', 'sha-512'] as const;
export const PRIV_PROTOCOLS = [
  'des',
  'aes-128',
  'aes-192',
  'aes-256',
  'aes-192-reeder',
  'aes-256-reeder',
] as const;

/** A device as stored: secrets stand apart, encrypted, by `gnmi/password` and the like; their members are empty. */
export interface Device {
  readonly id: number;
  readonly revision: number;
  readonly configuration: DeviceConfiguration;
  readonly encryptedSecrets: Readonly<Record<string, string>>;
}

/** The configuration as the API shows it: secrets that are stored as the mask. */
export function viewDeviceConfiguration({
  configuration,
  encryptedSecrets,
}: Omit<Device, 'id' | 'revision'>) {
  const masked = (group: 'gnmi' | 'snmp') => {
    const settings = configuration[group];
    if (settings === null) return null;
    const secrets = DEVICE_SECRETS.filter(([of]) => of === group).map(([, member]) => [
      member,
      encryptedSecrets[`${group}/${member}`] === undefined ? '' : SECRET_MASK,
    ]);
    const declared = group === 'gnmi' ? GNMI_MEMBERS : SNMP_MEMBERS;
    return inDeclaredOrder(declared, { ...settings, ...Object.fromEntries(secrets) });
  };
  return {
    ...inDeclaredOrder(DEVICE_MEMBERS, configuration),
    labels: toObject(configuration.labels),
    gnmi: masked('gnmi'),
    snmp: masked('snmp'),
  };
}
