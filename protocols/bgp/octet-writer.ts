/** Big-endian octets of the given integers: `octetsOf([16388, 2], [71, 1])` is an AFI and a SAFI. */
export function octetsOf(...fields: ReadonlyArray<readonly [value: number, width: 1 | 2 | 4]>): Uint8Array {
  const octets = new Uint8Array(fields.reduce((length, [, width]) => length + width, 0));
  let offset = 0;
  for (const [value, width] of fields) {
    let rest = value;
    for (let index = width - 1; index >= 0; index -= 1) {
      octets[offset + index] = rest % 256;
      rest = Math.floor(rest / 256);
    }
    offset += width;
  }
  return octets;
}

export function concatenate(...parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** Lower-case hexadecimal without separators; `""` for no octets. */
export function formatHex(octets: Uint8Array): string {
  let text = '';
  for (const octet of octets) text += octet.toString(16).padStart(2, '0');
  return text;
}
