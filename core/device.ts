import * as z from 'zod';
import { inDeclaredOrder, refusal, whenRight } from './body.ts';
import { zeroOr } from './bounded-number.ts';
import { addressOfKind, classifyAddress } from './dial-guard.ts';
import { parseIpAddress } from './ip-address.ts';
import { netosName } from './model.ts';
import { name } from './name.ts';
import { SECRET_MASK } from './secret.ts';
import { stringMap, toObject } from './string-map.ts';

export const DEVICE_READ_ONLY = ['id', 'status'] as const;

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

const MAX_PEM_CHARACTERS = 65_536;
/** RFC 3414 §11.2: passwords shorter than this are refused. */
const MIN_USM_PASSWORD = 8;

const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values, whenEmpty: string) =>
  z
    .enum(['', ...values])
    .default('')
    .meta({ legal: `empty (${whenEmpty}) or one of ${values.join(', ')}` });

const text = (member: string, maxCharacters: number) =>
  z
    .string()
    .refine((value) => value.length <= maxCharacters, {
      ...refusal('out-of-range'),
      error: `${member} has at most ${maxCharacters} characters`,
    })
    .refine((value) => value.isWellFormed(), { error: `${member} is well-formed Unicode` })
    .default('')
    .meta({ legal: `text of at most ${maxCharacters} characters`, maxLength: maxCharacters });

const pem = (member: string, label: string) =>
  text(member, MAX_PEM_CHARACTERS)
    .refine((value) => value === '' || value === SECRET_MASK || value.includes(`-----BEGIN ${label}`), {
      error: `${member} is PEM text`,
    })
    .meta({
      legal: `empty or PEM text of at most ${MAX_PEM_CHARACTERS} characters`,
      maxLength: MAX_PEM_CHARACTERS,
      pattern: `^$|^\\*{8}$|-----BEGIN ${label}`,
    });

export const gnmiSettings = z
  .strictObject({
    port: zeroOr(1, 65_535, '', 'meaning 57400'),
    tls: oneOf(['verify', 'skip-verify', 'off'], 'verify'),
    ca: pem('ca', 'CERTIFICATE'),
    'client-certificate': pem('client-certificate', 'CERTIFICATE'),
    'client-key': pem('client-key', ''),
    'server-name': text('server-name', 253),
    username: text('username', 255),
    password: text('password', 1_024),
    target: text('target', 255),
  })
  .superRefine(
    (settings, context) => {
      if ((settings['client-certificate'] === '') === (settings['client-key'] === '')) return;
      const absent = settings['client-key'] === '' ? 'client-key' : 'client-certificate';
      context.addIssue({
        code: 'custom',
        ...refusal('required'),
        path: [absent],
        message: 'client-certificate and client-key come together',
      });
    },
    whenRight('client-certificate', 'client-key'),
  )
  .meta({ legal: 'gNMI settings or null' });

export const snmpSettings = z
  .strictObject({
    port: zeroOr(1, 65_535, '', 'meaning 161'),
    version: oneOf(['v1', 'v2c', 'v3'], 'v2c'),
    community: text('community', 255),
    user: text('user', 32),
    'auth-protocol': oneOf(AUTH_PROTOCOLS, 'no authentication'),
    'auth-password': text('auth-password', 1_024),
    'priv-protocol': oneOf(PRIV_PROTOCOLS, 'no privacy'),
    'priv-password': text('priv-password', 1_024),
    context: text('context', 255),
    'engine-id': z
      .string()
      .refine((value) => value === '' || /^([0-9a-f]{2}){5,32}$/i.test(value), {
        error: 'engine-id is empty or 5 to 32 octets in hex',
      })
      .default('')
      .meta({ legal: 'empty or 5 to 32 octets in hex', pattern: '^$|^([0-9a-fA-F]{2}){5,32}$' }),
    'max-repetitions': zeroOr(1, 127, '', 'meaning 25'),
    'timeout-ms': zeroOr(100, 20_000, ' milliseconds', 'meaning 2000'),
    retries: z.int().min(0).max(10).default(0).meta({ legal: '0 to 10' }),
    unconnected: z.boolean().default(false).meta({ legal: 'true or false' }),
  })
  .superRefine(
    (settings, context) => {
      const add = (path: string, code: 'required' | 'out-of-range', message: string) =>
        context.addIssue({ code: 'custom', ...refusal(code), path: [path], message });
      if (settings.version !== 'v3') return;
      if (settings.user === '') add('user', 'required', 'SNMPv3 needs a user');
      if (settings['priv-protocol'] !== '' && settings['auth-protocol'] === '') {
        add('auth-protocol', 'required', 'privacy needs authentication (RFC 3414 §1.4.2)');
      }
      for (const kind of ['auth', 'priv'] as const) {
        const password = settings[`${kind}-password`];
        if (settings[`${kind}-protocol`] === '') continue;
        if (password === '') add(`${kind}-password`, 'required', `${kind}-protocol needs ${kind}-password`);
        else if (password.length < MIN_USM_PASSWORD) {
          add(
            `${kind}-password`,
            'out-of-range',
            `${kind}-password has at least ${MIN_USM_PASSWORD} characters`,
          );
        }
      }
    },
    whenRight('version', 'user', 'auth-protocol', 'auth-password', 'priv-protocol', 'priv-password'),
  )
  .meta({ legal: 'SNMP settings or null' });

const address = z
  .string()
  .superRefine((value, context) => {
    const add = (code: 'invalid-format' | 'address-not-allowed', message: string) =>
      context.addIssue({ code: 'custom', ...refusal(code), message });
    const [literal, zone] = value.split('%');
    const parsed = parseIpAddress(literal as string);
    if (parsed === undefined) {
      if (!isHostName(value)) add('invalid-format', 'address is an IPv4 or IPv6 address or a host name');
    } else if (zone !== undefined) {
      add(
        'address-not-allowed',
        'address has a zone; only addresses that mean the same everywhere are allowed',
      );
    } else if (!['public', 'private', 'loopback'].includes(classifyAddress(parsed))) {
      add(
        'address-not-allowed',
        `address is ${addressOfKind(classifyAddress(parsed))}; a unicast address is needed`,
      );
    }
  })
  .meta({
    legal: 'an IPv4 or IPv6 address or a host name',
    anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }, { format: 'hostname' }],
  });

/** RFC 1123 names. One that ends in a number is none: resolvers read it as an odd spelling of an IPv4 address. */
function isHostName(value: string): boolean {
  const labels = value.split('.');
  return (
    value.length <= 253 &&
    labels.every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(label)) &&
    !/^(\d+|0x[0-9a-f]*)$/i.test(labels.at(-1) as string)
  );
}

const LABEL = /^[a-zA-Z0-9][a-zA-Z0-9._/-]{0,62}$/;

/** Labels as devices have and subscriptions select them. */
export const labels = stringMap(
  'labels',
  (label, value) =>
    LABEL.test(label) && value.length <= 255
      ? undefined
      : 'a label is 1 to 63 of letters, digits and ._/-, its value at most 255 characters',
  64,
).meta({
  legal: 'an object of names and texts',
  type: 'object',
  propertyNames: { pattern: LABEL.source },
  additionalProperties: { type: 'string', maxLength: 255 },
  maxProperties: 64,
});

export const deviceConfiguration = z
  .strictObject({
    name,
    address,
    netos: z
      .string()
      .refine((value) => netosName.test(value), {
        error: 'netos is 1 to 64 of a-z, 0-9, dot, underscore and hyphen',
      })
      .meta({ legal: 'the name of a network operating system', pattern: netosName.source }),
    labels: labels.prefault({}),
    enabled: z.boolean().default(false).meta({ legal: 'true or false' }),
    gnmi: gnmiSettings.nullable().default(null),
    snmp: snmpSettings.nullable().default(null),
  })
  .superRefine(
    (device, context) => {
      if (device.gnmi !== null || device.snmp !== null) return;
      context.addIssue({
        code: 'custom',
        ...refusal('required'),
        path: ['gnmi'],
        message: 'gnmi or snmp settings are needed',
      });
    },
    whenRight('gnmi', 'snmp'),
  );

export type DeviceConfiguration = z.output<typeof deviceConfiguration>;

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
    const declared = group === 'gnmi' ? gnmiSettings : snmpSettings;
    return inDeclaredOrder(declared, { ...settings, ...Object.fromEntries(secrets) });
  };
  return {
    ...inDeclaredOrder(deviceConfiguration, configuration),
    labels: toObject(configuration.labels),
    gnmi: masked('gnmi'),
    snmp: masked('snmp'),
  };
}
