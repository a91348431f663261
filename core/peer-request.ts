import * as z from 'zod/mini';
import { AS_NUMBER_PATTERN, asNumberRefusal, parseAsNumber } from './as-number.ts';
import { refusal, whenRight } from './body.ts';
import { zeroOr } from './bounded-number.ts';
import { addressOfKind, classifyAddress } from './dial-guard.ts';
import { flag } from './flag.ts';
import { embeddedIpv4, parseIpAddress, withoutIpv4Mapping } from './ip-address.ts';
import { description, name } from './name.ts';
import { effectiveHoldTime } from './peer.ts';

/** Members that the engine owns; in a body they are ignored. */
export const PEER_READ_ONLY = [
  'id',
  'state',
  'messages-sent',
  'messages-received',
  'last-state-change',
  'last-error',
  'session',
] as const;

/** `''` is legal only where `whenEmpty` says what it means. */
const asNumber = (member: string, whenEmpty?: string) =>
  z.string().check(
    z.superRefine((value, context) => {
      if (value === '' && whenEmpty !== undefined) return;
      const parsed = parseAsNumber(value);
      if (parsed === undefined) {
        const shape = `${member} is an AS number as 65001, 4200000001 or 64086.59905`;
        context.addIssue({ code: 'custom', ...refusal('invalid-format'), message: shape });
        return;
      }
      const reason = asNumberRefusal(parsed);
      if (reason !== undefined)
        context.addIssue({ code: 'custom', ...refusal('out-of-range'), message: reason });
    }),
  );

const address = (member: string, whenEmpty?: string) =>
  z.string().check(
    z.superRefine((value, context) => {
      if (value === '' && whenEmpty !== undefined) return;
      const add = (code: 'invalid-format' | 'address-not-allowed', message: string) =>
        context.addIssue({ code: 'custom', ...refusal(code), message });
      const [literal, zone] = value.split('%');
      const parsed = parseIpAddress(literal as string);
      if (parsed === undefined) {
        add('invalid-format', `${member} is an IPv4 or IPv6 address`);
      } else if (zone !== undefined) {
        add(
          'address-not-allowed',
          `${member} has a zone; only addresses that mean the same everywhere are allowed`,
        );
      } else if (!['public', 'private', 'loopback'].includes(classifyAddress(parsed))) {
        const kind = classifyAddress(parsed);
        add('address-not-allowed', `${member} is ${addressOfKind(kind)}; a unicast address is needed`);
      } else if (parsed.family === 6 && embeddedIpv4(parsed) !== undefined && member === 'local-address') {
        add('address-not-allowed', `${member} embeds an IPv4 address; write that address itself`);
      }
    }),
  );

const PASSWORD_LIMIT_BYTES = 80;

const ADDRESS_FORMATS = [{ format: 'ipv4' }, { format: 'ipv6' }] as const;

/** What people ask of a peer (seed: Configuration fields; the optional ones after `auth-password` are ours). */
export const peerConfiguration = z
  .strictObject({
    name,
    description,
    'peer-address': address('peer-address').register(z.globalRegistry, {
      legal: 'an IPv4 or IPv6 address',
      anyOf: ADDRESS_FORMATS,
    }),
    'user-peer-as': asNumber('user-peer-as').register(z.globalRegistry, {
      legal: 'an AS number in a string, as "65001" or "0.65001"',
      pattern: AS_NUMBER_PATTERN,
    }),
    'hold-time': zeroOr(3, 65535, ' seconds', 'meaning 90'),
    'keepalive-time': zeroOr(1, 21845, ' seconds', 'meaning a third of the hold time'),
    'connect-retry': zeroOr(1, 65535, ' seconds', 'meaning 120'),
    enabled: flag,
    'auth-password': z
      ._default(
        z.string().check(
          z.refine((value) => value.isWellFormed(), { error: 'auth-password is well-formed Unicode' }),
          z.refine((value) => utf8Length(value) <= PASSWORD_LIMIT_BYTES, {
            ...refusal('out-of-range'),
            error: `auth-password is at most ${PASSWORD_LIMIT_BYTES} bytes (TCP-MD5)`,
          }),
        ),
        '',
      )
      .register(z.globalRegistry, {
        legal: `text of at most ${PASSWORD_LIMIT_BYTES} bytes`,
        maxLength: PASSWORD_LIMIT_BYTES,
      }),
    'peer-port': zeroOr(1, 65535, '', 'meaning 179'),
    'local-address': z._default(address('local-address', 'any'), '').register(z.globalRegistry, {
      legal: 'empty or an IPv4 or IPv6 address',
      anyOf: [{ const: '' }, ...ADDRESS_FORMATS],
    }),
    passive: flag,
    'ttl-security-hops': zeroOr(1, 254, '', 'meaning off'),
    'local-as': z._default(asNumber('local-as', 'that of the engine'), '').register(z.globalRegistry, {
      legal: 'empty or an AS number in a string',
      anyOf: [{ const: '' }, { pattern: AS_NUMBER_PATTERN }],
    }),
    'max-nlri': zeroOr(1, 10_000_000, '', 'meaning 2000000'),
    preference: zeroOr(1, 65535, '', 'meaning 100'),
  })
  .check(
    z.superRefine(
      (peer, context) => {
        const holdTime = effectiveHoldTime(peer);
        const isEachInBounds = holdTime >= 3 && peer['keepalive-time'] <= 21845;
        if (isEachInBounds && peer['keepalive-time'] >= holdTime) {
          context.addIssue({
            code: 'custom',
            ...refusal('out-of-range'),
            path: ['keepalive-time'],
            message: `keepalive-time is below the hold time, which is ${holdTime} seconds`,
          });
        }
      },
      whenRight('hold-time', 'keepalive-time'),
    ),
    z.superRefine(
      (peer, context) => {
        const local = parseIpAddress(peer['local-address']);
        const remote = parseIpAddress(peer['peer-address']);
        if (local === undefined || remote === undefined) return;
        if (local.family === withoutIpv4Mapping(remote).family) return;
        context.addIssue({
          code: 'custom',
          ...refusal('invalid-format'),
          path: ['local-address'],
          message: 'local-address is of the same family as peer-address',
        });
      },
      whenRight('local-address', 'peer-address'),
    ),
  );

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}
