/** A BGP Identifier (RFC 6286 §2.1: four octets, an unsigned integer) as people write it, `10.0.0.1`. */
export function formatIdentifier(identifier: number): string {
  return [24, 16, 8, 0].map((shift) => (identifier >>> shift) & 0xff).join('.');
}

/** The reverse of `formatIdentifier`; undefined for what is not a dotted quad. */
export function parseIdentifier(text: string): number | undefined {
  const octets = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1).map(Number);
  if (octets === undefined || octets.some((octet) => octet > 255)) return undefined;
  return octets.reduce((identifier, octet) => identifier * 256 + octet, 0);
}
