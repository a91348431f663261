import { embeddedIpv4, formatIpAddress, type IpAddress, parseIpAddress } from './ip-address.ts';

/** What kind of place an address is; `public` and `private` can be dialled, the others may not. */
export type AddressKind =
  | 'public'
  | 'private'
  | 'loopback'
  | 'unspecified'
  | 'link-local'
  | 'multicast'
  | 'reserved'
  | 'metadata';

type Block = readonly [prefix: string, bits: number, kind: AddressKind];

/** First match wins. Sources: IANA special-purpose registries (RFC 6890), AWS's metadata and task endpoints. */
const IPV4_BLOCKS: readonly Block[] = [
  ['169.254.169.254', 32, 'metadata'],
  ['169.254.170.2', 32, 'metadata'],
  ['169.254.170.23', 32, 'metadata'],
  ['0.0.0.0', 32, 'unspecified'],
  ['0.0.0.0', 8, 'reserved'],
  ['127.0.0.0', 8, 'loopback'],
  ['169.254.0.0', 16, 'link-local'],
  ['10.0.0.0', 8, 'private'],
  ['172.16.0.0', 12, 'private'],
  ['192.168.0.0', 16, 'private'],
  ['100.64.0.0', 10, 'private'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved'],
];

const IPV6_BLOCKS: readonly Block[] = [
  ['fd00:ec2::254', 128, 'metadata'],
  ['fd00:ec2::23', 128, 'metadata'],
  ['::', 128, 'unspecified'],
  ['::1', 128, 'loopback'],
  ['fe80::', 10, 'link-local'],
  ['fec0::', 10, 'private'],
  ['fc00::', 7, 'private'],
  ['ff00::', 8, 'multicast'],
];

/**
 * The kind of an address. An IPv6 address that carries an IPv4 one (mapped, NAT64, 6to4, compatible) is of the IPv4
 * address's kind, so that no spelling leads past the guard.
 */
export function classifyAddress(address: IpAddress): AddressKind {
  const inner = embeddedIpv4(address);
  if (inner !== undefined) return classifyAddress(inner);
  const blocks = address.family === 4 ? IPV4_BLOCKS : IPV6_BLOCKS;
  const match = blocks.find(([prefix, bits]) => inBlock(address.bytes, prefix, bits));
  return match?.[2] ?? 'public';
}

/** `a multicast address`, `an unspecified address`: a kind as sentences name it. */
export function addressOfKind(kind: AddressKind): string {
  return `${kind === 'unspecified' ? 'an' : 'a'} ${kind} address`;
}

/**
 * Why a BGP session or a device collection may not reach this address, or undefined when it may.
 * Private ranges are what peers and devices live in; loopback is for the local run alone.
 */
export function deviceDialRefusal(
  address: IpAddress,
  options: { allowLoopback: boolean },
): string | undefined {
  const kind = classifyAddress(address);
  if (kind === 'public' || kind === 'private') return undefined;
  if (kind === 'loopback' && options.allowLoopback) return undefined;
  return `${formatIpAddress(address)} is ${addressOfKind(kind)}, which the engine does not connect to`;
}

/** A range of addresses, as `10.0.0.0/8` writes it. */
export interface Cidr {
  readonly address: IpAddress;
  readonly bits: number;
}

/** Reads ranges joined by commas. Throws a sentence that names the one that is none. */
export function parseCidrs(text: string): Cidr[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [literal, bits] = part.split('/');
      const address = parseIpAddress(literal as string);
      const most = address?.family === 4 ? 32 : 128;
      if (address === undefined || !/^\d{1,3}$/.test(bits ?? String(most)) || Number(bits ?? most) > most) {
        throw new Error(`${part} is no range of addresses; write one as 10.0.0.0/8 or fd00::/8`);
      }
      return { address, bits: Number(bits ?? most) };
    });
}

/** Where a webhook may go beside public addresses. */
export interface WebhookDialRules {
  /** The product runs on its user's own machine: loopback and private addresses are that user's to reach. */
  readonly isLocalRun: boolean;
  /** Private ranges that the operator has opened. */
  readonly allow: readonly Cidr[];
}

/**
 * Ranges that are neither private by name nor anybody's public address: for protocols, documentation and benchmarks, and
 * those whose embedded IPv4 address depends on who translates (RFC 8215, RFC 4380). A webhook has no business there.
 */
const NOT_GLOBAL: readonly (readonly [prefix: string, bits: number])[] = [
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 32],
  ['2001:db8::', 32],
];

/**
 * Why a webhook or a detect call may not connect to this address, or undefined when it may. Stricter than for devices:
 * whoever may write the configuration must not get to look around inside the network that the sender runs in.
 */
export function webhookDialRefusal(address: IpAddress, rules: WebhookDialRules): string | undefined {
  const kind = classifyAddress(address);
  const inner = embeddedIpv4(address) ?? address;
  const isGlobal =
    kind === 'public' &&
    !NOT_GLOBAL.some(([prefix, bits]) => isIn(address, prefix, bits) || isIn(inner, prefix, bits));
  if (isGlobal) return undefined;
  if (kind === 'public' || kind === 'private') {
    if (rules.isLocalRun) return undefined;
    const isAllowed = rules.allow.some((range) => isWithin(address, range) || isWithin(inner, range));
    if (isAllowed) return undefined;
    return `${formatIpAddress(address)} is not a public address, and no range that holds it is allowed`;
  }
  if (kind === 'loopback' && rules.isLocalRun) return undefined;
  return `${formatIpAddress(address)} is ${addressOfKind(kind)}, which the webhook never connects to`;
}

function isIn(address: IpAddress, prefix: string, bits: number): boolean {
  const block = parseIpAddress(prefix);
  return block !== undefined && isWithin(address, { address: block, bits });
}

function isWithin(address: IpAddress, range: Cidr): boolean {
  return (
    address.family === range.address.family &&
    inBlock(address.bytes, formatIpAddress(range.address), range.bits)
  );
}

function inBlock(bytes: Uint8Array, prefix: string, bits: number): boolean {
  const block = parseIpAddress(prefix);
  if (block === undefined) throw new Error(`${prefix} is no address`);
  for (let bit = 0; bit < bits; bit += 8) {
    const mask = bits - bit >= 8 ? 0xff : (0xff << (8 - (bits - bit))) & 0xff;
    if (((bytes[bit / 8] as number) & mask) !== ((block.bytes[bit / 8] as number) & mask)) return false;
  }
  return true;
}
