/** An IPv4 or IPv6 address as its 4 or 16 bytes. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly bytes: Uint8Array;
}

/**
 * Reads an address literal: dotted quad without leading zeros, or any RFC 4291 §2.2 form. No zone, no port, no
 * brackets, no white space. Anything else is undefined.
 */
export function parseIpAddress(text: string): IpAddress | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text);
}

/** The canonical text: dotted quad, or RFC 5952 (lower case, longest zero run shortened). */
export function formatIpAddress(address: IpAddress): string {
  return address.family === 4 ? [...address.bytes].join('.') : formatIpv6(address.bytes);
}

/**
 * The IPv4 address that an IPv6 one stands for on the wire: IPv4-mapped (::ffff:0:0/96), NAT64 (64:ff9b::/96 and
 * 64:ff9b:1::/48 by its last 32 bits), 6to4 (2002::/16) and IPv4-compatible (::/96). Undefined when there is none.
 */
export function embeddedIpv4(address: IpAddress): IpAddress | undefined {
  if (address.family === 4) return undefined;
  const { bytes } = address;
  const starts = (...prefix: number[]) => prefix.every((byte, index) => bytes[index] === byte);
  const zeroUntil = (end: number) => bytes.subarray(0, end).every((byte) => byte === 0);
  const ipv4At = (offset: number): IpAddress => ({ family: 4, bytes: bytes.slice(offset, offset + 4) });
  if (zeroUntil(10) && bytes[10] === 0xff && bytes[11] === 0xff) return ipv4At(12);
  if (starts(0x00, 0x64, 0xff, 0x9b)) return ipv4At(12);
  if (starts(0x20, 0x02)) return ipv4At(2);
  const isUnspecifiedOrLoopback = zeroUntil(15) && (bytes[15] as number) <= 1;
  if (zeroUntil(12) && !isUnspecifiedOrLoopback) return ipv4At(12);
  return undefined;
}

/** `::ffff:a.b.c.d` is `a.b.c.d`; every other address is itself. */
export function withoutIpv4Mapping(address: IpAddress): IpAddress {
  const mapped = address.family === 6 && address.bytes.subarray(0, 10).every((byte) => byte === 0);
  return mapped && address.bytes[10] === 0xff && address.bytes[11] === 0xff
    ? { family: 4, bytes: address.bytes.slice(12) }
    : address;
}

function parseIpv4(text: string): IpAddress | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)) {
    return undefined;
  }
  return { family: 4, bytes: Uint8Array.from(parts, Number) };
}

function parseIpv6(text: string): IpAddress | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const groups = [...(head as string[]), ...(tail ?? [])];
  const last = groups.at(-1);
  const ipv4 = last?.includes('.') ? parseIpv4(last) : undefined;
  if (last?.includes('.') && (ipv4 === undefined || text.endsWith(':'))) return undefined;
  const hexGroups = ipv4 === undefined ? groups : groups.slice(0, -1);
  if (!hexGroups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  const given = hexGroups.length * 2 + (ipv4 === undefined ? 0 : 4);
  const shortened = halves.length === 2;
  if (shortened ? given > 14 : given !== 16) return undefined;

  const bytes = new Uint8Array(16);
  const headLength = (head as string[]).length;
  hexGroups.forEach((group, index) => {
    const fromEnd = index >= headLength && shortened;
    const offset = fromEnd ? 16 - given + index * 2 : index * 2;
    const value = Number.parseInt(group, 16);
    bytes[offset] = value >> 8;
    bytes[offset + 1] = value & 0xff;
  });
  if (ipv4 !== undefined) bytes.set(ipv4.bytes, 12);
  return { family: 6, bytes };
}

function formatIpv6(bytes: Uint8Array): string {
  const groups = Array.from(
    { length: 8 },
    (_, i) => ((bytes[i * 2] as number) << 8) | (bytes[i * 2 + 1] as number),
  );
  let best = { start: 0, length: 0 };
  for (let start = 0; start < 8; start += 1) {
    let length = 0;
    while (start + length < 8 && groups[start + length] === 0) length += 1;
    if (length > best.length) best = { start, length };
  }
  const hex = (from: number, to: number) =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(':');
  // RFC 5952 §5: a mapped address shows its IPv4 part as a dotted quad.
  if (best.start === 0 && best.length === 5 && groups[5] === 0xffff)
    return `::ffff:${bytes.slice(12).join('.')}`;
  return best.length < 2 ? hex(0, 8) : `${hex(0, best.start)}::${hex(best.start + best.length, 8)}`;
}
