import type * as z from 'zod/mini';
import { parseAsNumber } from './as-number.ts';
import { formatIpAddress, parseIpAddress, withoutIpv4Mapping } from './ip-address.ts';
import type { Ability } from './ownership.ts';
import type { peerConfiguration } from './peer-request.ts';
import type { Members } from './stored-members.ts';

export type PeerConfiguration = z.output<typeof peerConfiguration>;

/** A peer's members. */
export const PEER_MEMBERS: Members<PeerConfiguration> = {
  name: undefined,
  description: '',
  'peer-address': undefined,
  'user-peer-as': undefined,
  'hold-time': 0,
  'keepalive-time': 0,
  'connect-retry': 0,
  enabled: false,
  'auth-password': '',
  'peer-port': 0,
  'local-address': '',
  passive: false,
  'ttl-security-hops': 0,
  'local-as': '',
  'max-nlri': 0,
  preference: 0,
};

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

/** Seconds. */
export function effectiveHoldTime(configuration: { 'hold-time': number }): number {
  return configuration['hold-time'] || 90;
}
