import * as z from 'zod/mini';
import { refusal, whenRight } from './body.ts';
import { zeroOr } from './bounded-number.ts';
import { AUTH_PROTOCOLS, PRIV_PROTOCOLS } from './device.ts';
import { addressOfKind, classifyAddress } from './dial-guard.ts';
import { flag } from './flag.ts';
import { parseIpAddress } from './ip-address.ts';
import { labels } from './labels.ts';
import { netosName } from './model.ts';
import { name } from './name.ts';
import { SECRET_MASK } from './secret.ts';

export const DEVICE_READ_ONLY = ['id', 'status'] as const;

const MAX_PEM_CHARACTERS = 65_536;
/** RFC 3414 §11.2: passwords shorter than this are refused. */
const MIN_USM_PASSWORD = 8;

const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values, whenEmpty: string) =>
  z
    ._default(z.enum(['', ...values]), '')
    .register(z.globalRegistry, { legal: `empty (${whenEmpty}) or one of ${values.join(', ')}` });

/** Text, empty when omitted. */
const text = (
  member: string,
  maxCharacters: number,
  { legal = `text of at most ${maxCharacters} characters`, ...schema }: z.core.GlobalMeta = {},
  ...checks: z.core.$ZodCheck<string>[]
) =>
  z
    ._default(
      z.string().check(
        z.refine((value) => value.length <= maxCharacters, {
          ...refusal('out-of-range'),
          error: `${member} has at most ${maxCharacters} characters`,
        }),
        z.refine((value) => value.isWellFormed(), { error: `${member} is well-formed Unicode` }),
        ...checks,
      ),
      '',
    )
    .register(z.globalRegistry, { legal, maxLength: maxCharacters, ...schema });

const pem = (member: string, label: string) =>
  text(
    member,
    MAX_PEM_CHARACTERS,
    {
      legal: `empty or PEM text of at most ${MAX_PEM_CHARACTERS} characters`,
      pattern: `^$|^\\*{8}$|-----BEGIN ${label}`,
    },
    z.refine((value) => value === '' || value === SECRET_MASK || value.includes(`-----BEGIN ${label}`), {
      error: `${member} is PEM text`,
    }),
  );

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
  .check(
    z.superRefine(
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
    ),
  )
  .register(z.globalRegistry, { legal: 'gNMI settings or null' });

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
      ._default(
        z.string().check(
          z.refine((value) => value === '' || /^([0-9a-f]{2}){5,32}$/i.test(value), {
            error: 'engine-id is empty or 5 to 32 octets in hex',
          }),
        ),
        '',
      )
      .register(z.globalRegistry, {
        legal: 'empty or 5 to 32 octets in hex',
        pattern: '^$|^([0-9a-fA-F]{2}){5,32}$',
      }),
    'max-repetitions': zeroOr(1, 127, '', 'meaning 25'),
    'timeout-ms': zeroOr(100, 20_000, ' milliseconds', 'meaning 2000'),
    retries: z
      ._default(z.int().check(z.minimum(0), z.maximum(10)), 0)
      .register(z.globalRegistry, { legal: '0 to 10' }),
    unconnected: flag,
  })
  .check(
    z.superRefine(
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
    ),
  )
  .register(z.globalRegistry, { legal: 'SNMP settings or null' });

const address = z
  .string()
  .check(
    z.superRefine((value, context) => {
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
    }),
  )
  .register(z.globalRegistry, {
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

export const deviceConfiguration = z
  .strictObject({
    name,
    address,
    netos: z
      .string()
      .check(
        z.refine((value) => netosName.test(value), {
          error: 'netos is 1 to 64 of a-z, 0-9, dot, underscore and hyphen',
        }),
      )
      .register(z.globalRegistry, {
        legal: 'the name of a network operating system',
        pattern: netosName.source,
      }),
    labels: z.prefault(labels, {}),
    enabled: flag,
    gnmi: z._default(z.nullable(gnmiSettings), null),
    snmp: z._default(z.nullable(snmpSettings), null),
  })
  .check(
    z.superRefine(
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
    ),
  );
