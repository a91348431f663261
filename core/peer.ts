import * as z from 'zod';
import { AS_NUMBER_PATTERN, asNumberRefusal, parseAsNumber } from './as-number.ts';
import { refusal, whenRight } from './body.ts';
import { zeroOr } from './bounded-number.ts';
import { addressOfKind, classifyAddress } from './dial-guard.ts';
import { embeddedIpv4, formatIpAddress, parseIpAddress, withoutIpv4Mapping } from './ip-address.ts';
import { description, name } from './name.ts';
import type { Ability } from './ownership.ts';

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
  z.string().superRefine((value, context) => {
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
  });

const address = (member: string, whenEmpty?: string) =>
  z.string().superRefine((value, context) => {
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
  });

const PASSWORD_LIMIT_BYTES = 80;

const ADDRESS_FORMATS = [{ format: 'ipv4' }, { format: 'ipv6' }] as const;

/** What people ask of a peer (seed: Configuration fields; the optional ones after `auth-password` are ours). */
export const peerConfiguration = z
  .strictObject({
    name,
    description,
    'peer-address': address('peer-address').meta({
      legal: 'an IPv4 or IPv6 address',
      anyOf: ADDRESS_FORMATS,
    }),
    'user-peer-as': asNumber('user-peer-as').meta({
      legal: 'an AS number in a string, as "65001" or "0.65001"',
      pattern: AS_NUMBER_PATTERN,
    }),
    'hold-time': zeroOr(3, 65535, ' seconds', 'meaning 90'),
    'keepalive-time': zeroOr(1, 21845, ' seconds', 'meaning a third of the hold time'),
    'connect-retry': zeroOr(1, 65535, ' seconds', 'meaning 120'),
    enabled: z.boolean().default(false).meta({ legal: 'true or false' }),
    'auth-password': z
      .string()
      .refine((value) => value.isWellFormed(), { error: 'auth-password is well-formed Unicode' })
      .refine((value) => utf8Length(value) <= PASSWORD_LIMIT_BYTES, {
        ...refusal('out-of-range'),
        error: `auth-password is at most ${PASSWORD_LIMIT_BYTES} bytes (TCP-MD5)`,
      })
      .default('')
      .meta({ legal: `text of at most ${PASSWORD_LIMIT_BYTES} bytes`, maxLength: PASSWORD_LIMIT_BYTES }),
    'peer-port': zeroOr(1, 65535, '', 'meaning 179'),
    'local-address': address('local-address', 'any')
      .default('')
      .meta({ legal: 'empty or an IPv4 or IPv6 address', anyOf: [{ const: '' }, ...ADDRESS_FORMATS] }),
    passive: z.boolean().default(false).meta({ legal: 'true or false' }),
    'ttl-security-hops': zeroOr(1, 254, '', 'meaning off'),
    'local-as': asNumber('local-as', 'that of the engine')
      .default('')
      .meta({
        legal: 'empty or an AS number in a string',
        anyOf: [{ const: '' }, { pattern: AS_NUMBER_PATTERN }],
      }),
    'max-nlri': zeroOr(1, 10_000_000, '', 'meaning 2000000'),
    preference: zeroOr(1, 65535, '', 'meaning 100'),
  })
  .superRefine(
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
  )
  .superRefine(
    (peer, context) => {
      const local = parseIpAddress(peer['local-address']);
      const remote = parseIpAddress(peer['peer-address']);
      if (local !== undefined && remote !== undefined && local.family !== withoutIpv4Mapping(remote).family) {
        context.addIssue({
          code: 'custom',
          ...refusal('invalid-format'),
          path: ['local-address'],
          message: 'local-address is of the same family as peer-address',
        });
      }
    },
    whenRight('local-address', 'peer-address'),
  );

export type PeerConfiguration = z.output<typeof peerConfiguration>;

/** A peer as stored: its configuration, with the password replaced by whether and how it is stored. */
export interface Peer {
  readonly id: number;
  /** Goes up by one with each change of the configuration; the ETag. */
  readonly revision: number;
  readonly configuration: Omit<PeerConfiguration, 'auth-password'>;
  /** The password, encrypted by the keyring; undefined: none. */
  readonly encryptedPassword?: string;
}

/** What a peer's zeros stand for. Seconds where the name says so. */
export interface EffectivePeer {
  readonly peerAddress: string;
  readonly peerPort: number;
  readonly peerAs: number;
  /** 0: the peer's own AS (iBGP) unless the engine has one. */
  readonly localAs: number;
  readonly holdTimeSeconds: number;
  /** 0: a third of the negotiated hold time. */
  readonly keepaliveTimeSeconds: number;
  readonly connectRetrySeconds: number;
  readonly maxNlri: number;
  readonly preference: number;
}

/** The values that a session runs with, of a peer whose configuration has passed its checks. */
export function effectivePeer(configuration: Peer['configuration']): EffectivePeer {
  const remote = parseIpAddress(configuration['peer-address']);
  if (remote === undefined) throw new Error('a stored peer-address is an address');
  return {
    peerAddress: formatIpAddress(withoutIpv4Mapping(remote)),
    peerPort: configuration['peer-port'] || 179,
    peerAs: parseAsNumber(configuration['user-peer-as']) as number,
    localAs: parseAsNumber(configuration['local-as']) ?? 0,
    holdTimeSeconds: effectiveHoldTime(configuration),
    keepaliveTimeSeconds: configuration['keepalive-time'],
    connectRetrySeconds: configuration['connect-retry'] || 120,
    maxNlri: configuration['max-nlri'] || 2_000_000,
    preference: configuration['preference'] || 100,
  };
}

/** What a worker must be able to do to run this peer. A peer that we may dial needs no listener. */
export function neededAbilities({ configuration, encryptedPassword }: Peer): Ability[] {
  const needs: Ability[] = [];
  if (configuration.passive) needs.push('bgp-listen');
  if (encryptedPassword !== undefined) needs.push('tcp-md5');
  if (configuration['ttl-security-hops'] !== 0) needs.push('ttl-security');
  return needs;
}

/** What no two peers may share: address, port and local address in their canonical spelling. */
export function peerIdentity(configuration: Peer['configuration']): string {
  const { peerAddress, peerPort } = effectivePeer(configuration);
  const local = parseIpAddress(configuration['local-address']);
  return `${peerAddress}|${peerPort}|${local === undefined ? '' : formatIpAddress(local)}`;
}

function effectiveHoldTime(configuration: { 'hold-time': number }): number {
  return configuration['hold-time'] || 90;
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}
