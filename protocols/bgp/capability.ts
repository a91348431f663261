import { type Family, formatFamily } from './family.ts';
import { OctetReader } from './octet-reader.ts';
import { concatenate, octetsOf } from './octet-writer.ts';

/** https://www.iana.org/assignments/capability-codes */
export const CAPABILITY = {
  multiprotocol: 1, // RFC 4760 §8
  routeRefresh: 2, // RFC 2918 §2
  extendedMessage: 6, // RFC 8654 §3
  gracefulRestart: 64, // RFC 4724 §3
  fourOctetAs: 65, // RFC 6793 §3
  enhancedRouteRefresh: 70, // RFC 7313 §3.1
  longLivedGracefulRestart: 71, // RFC 9494 §3
} as const;

/** Code points that we do not use but can name when a peer announces them. */
const NAMES: Record<number, string> = {
  3: 'outbound-route-filtering',
  5: 'extended-next-hop-encoding',
  7: 'bgpsec',
  8: 'multiple-labels',
  9: 'bgp-role',
  67: 'dynamic-capability',
  68: 'multisession',
  69: 'add-path',
  72: 'routing-policy-distribution',
  73: 'fqdn',
  74: 'bfd',
  75: 'software-version',
  128: 'prestandard-route-refresh',
};

/** RFC 5492 §4: a code, and a value whose meaning is the code's. */
export interface Capability {
  readonly code: number;
  readonly value: Uint8Array;
}

/** RFC 4724 §3. */
export interface GracefulRestart {
  /** The peer has restarted and its routes are to be waited for. */
  readonly restarted: boolean;
  /** RFC 8538 §2: sessions ended by NOTIFICATION restart gracefully too. */
  readonly notification: boolean;
  readonly restartTimeSeconds: number;
  readonly families: ReadonlyArray<Family & { readonly forwardingPreserved: boolean }>;
}

/** RFC 9494 §3: shown, not used. */
export interface LongLivedGracefulRestart {
  readonly families: ReadonlyArray<Family & { readonly staleTimeSeconds: number }>;
}

/** Reads a list of code, length, value; undefined when a length points outside. */
export function decodeCapabilities(octets: Uint8Array): Capability[] | undefined {
  const reader = new OctetReader(octets);
  const capabilities: Capability[] = [];
  while (reader.remaining > 0) {
    const code = reader.u8();
    const value = reader.take(reader.u8());
    if (reader.short) return undefined;
    // A copy: capabilities outlive the OPEN that they came in.
    capabilities.push({ code, value: value.slice() });
  }
  return capabilities;
}

export function encodeCapabilities(capabilities: readonly Capability[]): Uint8Array {
  return concatenate(
    ...capabilities.flatMap(({ code, value }) => [Uint8Array.of(code, value.length), value]),
  );
}

export function multiprotocol({ afi, safi }: Family): Capability {
  return { code: CAPABILITY.multiprotocol, value: octetsOf([afi, 2], [0, 1], [safi, 1]) };
}

export function fourOctetAs(as: number): Capability {
  return { code: CAPABILITY.fourOctetAs, value: octetsOf([as, 4]) };
}

/** A capability that says all by being there. */
export function flag(code: number): Capability {
  return { code, value: new Uint8Array(0) };
}

/**
 * Graceful restart without families: "I keep no forwarding state, but send me End-of-RIB" (RFC 4724 §4).
 * `notification` is RFC 8538's N flag.
 */
export function gracefulRestartWithoutFamilies({ notification }: { notification: boolean }): Capability {
  return { code: CAPABILITY.gracefulRestart, value: octetsOf([notification ? 0x4000 : 0, 2]) };
}

/** Families of all Multiprotocol capabilities; one of a wrong length says nothing (RFC 5492 has no error for it). */
export function multiprotocolFamilies(capabilities: readonly Capability[]): Family[] {
  return capabilities
    .filter(({ code, value }) => code === CAPABILITY.multiprotocol && value.length === 4)
    .map(({ value }) => ({
      afi: ((value[0] as number) << 8) | (value[1] as number),
      safi: value[3] as number,
    }));
}

/** The AS number of the 4-octet AS capability; undefined when it is not announced. */
export function announcedFourOctetAs(capabilities: readonly Capability[]): number | undefined {
  const found = capabilities.find(({ code, value }) => code === CAPABILITY.fourOctetAs && value.length === 4);
  return found === undefined ? undefined : new OctetReader(found.value).u32();
}

/** RFC 4724 §3: of several, the last counts. */
export function announcedGracefulRestart(capabilities: readonly Capability[]): GracefulRestart | undefined {
  const found = capabilities.findLast(
    ({ code, value }) => code === CAPABILITY.gracefulRestart && value.length % 4 === 2,
  );
  if (found === undefined) return undefined;
  const reader = new OctetReader(found.value);
  const flagsAndTime = reader.u16();
  const families: Array<Family & { forwardingPreserved: boolean }> = [];
  while (reader.remaining > 0) {
    const afi = reader.u16();
    const safi = reader.u8();
    families.push({ afi, safi, forwardingPreserved: (reader.u8() & 0x80) !== 0 });
  }
  return {
    restarted: (flagsAndTime & 0x8000) !== 0,
    notification: (flagsAndTime & 0x4000) !== 0,
    restartTimeSeconds: flagsAndTime & 0x0fff,
    families,
  };
}

export function announcedLongLivedGracefulRestart(
  capabilities: readonly Capability[],
): LongLivedGracefulRestart | undefined {
  const found = capabilities.findLast(
    ({ code, value }) => code === CAPABILITY.longLivedGracefulRestart && value.length % 7 === 0,
  );
  if (found === undefined) return undefined;
  const reader = new OctetReader(found.value);
  const families: Array<Family & { staleTimeSeconds: number }> = [];
  while (reader.remaining > 0) {
    const afi = reader.u16();
    const safi = reader.u8();
    families.push({ afi, safi, staleTimeSeconds: reader.u32() % 0x100_0000 });
  }
  return { families };
}

export function announces(capabilities: readonly Capability[], code: number): boolean {
  return capabilities.some((capability) => capability.code === code);
}

/** As `capabilities-sent` and `capabilities-received` show it: `multiprotocol:16388/71`, `graceful-restart:120`, `capability-200:00ff`. */
export function formatCapability(capability: Capability): string {
  const { code, value } = capability;
  switch (code) {
    case CAPABILITY.multiprotocol: {
      const [family] = multiprotocolFamilies([capability]);
      return family === undefined ? withHex('multiprotocol', value) : `multiprotocol:${formatFamily(family)}`;
    }
    case CAPABILITY.gracefulRestart: {
      const restart = announcedGracefulRestart([capability]);
      if (restart === undefined) return withHex('graceful-restart', value);
      return [`graceful-restart:${restart.restartTimeSeconds}`, ...restart.families.map(formatFamily)].join(
        ',',
      );
    }
    case CAPABILITY.longLivedGracefulRestart: {
      const restart = announcedLongLivedGracefulRestart([capability]);
      if (restart === undefined) return withHex('long-lived-graceful-restart', value);
      const families = restart.families.map((each) => `${formatFamily(each)}=${each.staleTimeSeconds}`);
      return withDetail('long-lived-graceful-restart', families.join(','));
    }
    case CAPABILITY.fourOctetAs:
      return 'four-octet-as';
    case CAPABILITY.routeRefresh:
      return 'route-refresh';
    case CAPABILITY.extendedMessage:
      return 'extended-message';
    case CAPABILITY.enhancedRouteRefresh:
      return 'enhanced-route-refresh';
    default:
      return withHex(NAMES[code] ?? `capability-${code}`, value);
  }
}

function withHex(name: string, value: Uint8Array): string {
  return withDetail(name, Array.from(value, (octet) => octet.toString(16).padStart(2, '0')).join(''));
}

function withDetail(name: string, detail: string): string {
  return detail === '' ? name : `${name}:${detail}`;
}
