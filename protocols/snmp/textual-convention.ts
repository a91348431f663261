/** Values that a textual convention gives a form of their own (RFC 2579, RFC 4001). */

/** RFC 4001 §3, InetAddressType: how many bytes each kind of address has. */
export const INET_ADDRESS_BYTES: Readonly<Record<number, number>> = { 1: 4, 2: 16, 3: 8, 4: 20 };

const InetAddressType = { ipv4: 1, ipv6: 2, ipv4z: 3, ipv6z: 4, dns: 16 } as const;

/** An InetAddress as text by its InetAddressType, zones as `%3`; undefined when the length does not fit the type. */
export function formatInetAddress(type: number, bytes: Uint8Array): string | undefined {
  if (type === InetAddressType.dns) return isText(bytes) ? new TextDecoder().decode(bytes) : undefined;
  if (INET_ADDRESS_BYTES[type] !== bytes.length) return undefined;
  switch (type) {
    case InetAddressType.ipv4:
      return bytes.join('.');
    case InetAddressType.ipv6:
      return formatIpv6(bytes);
    case InetAddressType.ipv4z:
      return `${bytes.subarray(0, 4).join('.')}%${zoneOf(bytes, 4)}`;
    default:
      return `${formatIpv6(bytes.subarray(0, 16))}%${zoneOf(bytes, 16)}`;
  }
}

/** Sixteen bytes as RFC 5952 writes them: lower case, the longest run of two or more zero groups as `::`. */
export function formatIpv6(bytes: Uint8Array): string {
  const groups = Array.from({ length: 8 }, (_, at) => ((bytes[at * 2] ?? 0) << 8) | (bytes[at * 2 + 1] ?? 0));
  let best = { start: 0, length: 0 };
  for (let start = 0; start < 8; start += 1) {
    let length = 0;
    while (start + length < 8 && groups[start + length] === 0) length += 1;
    if (length > best.length) best = { start, length };
  }
  const text = (some: number[]) => some.map((group) => group.toString(16)).join(':');
  if (best.length < 2) return text(groups);
  return `${text(groups.slice(0, best.start))}::${text(groups.slice(best.start + best.length))}`;
}

/** PhysAddress and MacAddress (RFC 2579 §2): `aa:bb:cc:dd:ee:ff`. */
export function formatMac(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(':');
}

/**
 * DateAndTime (RFC 2579 §2) as ISO 8601: 8 bytes without a zone are taken as UTC, 11 bytes are converted to it.
 * Undefined when the bytes are no date.
 */
export function formatDateAndTime(bytes: Uint8Array): string | undefined {
  if (bytes.length !== 8 && bytes.length !== 11) return undefined;
  const [high = 0, low = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, deci = 0] = bytes;
  const year = high * 256 + low;
  const legal =
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= 31 &&
    hour < 24 &&
    minute < 60 &&
    second <= 60 &&
    deci < 10;
  if (!legal) return undefined;
  let offsetMinutes = 0;
  if (bytes.length === 11) {
    const [direction = 0, hours = 0, minutes = 0] = bytes.subarray(8);
    if ((direction !== 0x2b && direction !== 0x2d) || hours > 14 || minutes > 59) return undefined;
    offsetMinutes = (hours * 60 + minutes) * (direction === 0x2b ? 1 : -1);
  }
  const local = Date.UTC(year, month - 1, day, hour, minute, second, deci * 100);
  const date = new Date(local - offsetMinutes * 60_000);
  // Date.UTC rolls 31 February over; such a value is no date.
  return new Date(local).getUTCDate() === day || second === 60 ? date.toISOString() : undefined;
}

/** Net-SNMP's Float and Double within Opaque (tags 0x9f78, 0x9f79); undefined for any other content. */
export function decodeOpaqueNumber(bytes: Uint8Array): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length === 7 && view.getUint16(0) === 0x9f78 && bytes[2] === 4) return view.getFloat32(3);
  if (bytes.length === 11 && view.getUint16(0) === 0x9f79 && bytes[2] === 8) return view.getFloat64(3);
  return undefined;
}

/** BITS (RFC 2578 §7.1.4): the numbers of the bits that are set, bit 0 the highest of the first byte. */
export function decodeBits(bytes: Uint8Array): number[] {
  return [...bytes].flatMap((byte, at) =>
    [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => (byte & (0x80 >> bit)) !== 0).map((bit) => at * 8 + bit),
  );
}

/** Whether the bytes are UTF-8 without control characters. */
export function isText(bytes: Uint8Array): boolean {
  if (bytes.length === 0) return false;
  try {
    return !NOT_TEXT.test(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return false;
  }
}

const NOT_TEXT = /[^\t\n\r\x20-\x7e\u00a0-\u{10ffff}]/u;

function zoneOf(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(at);
}
