/** Writing header blocks: HPACK (RFC 7541) without a dynamic table and without Huffman codes. */
import { type HeaderField, STATIC_NAMES, STATIC_TABLE } from './static-table.ts';

/** A name or value cannot be sent as it is. */
export interface UnsendableHeader {
  readonly unsendable: string;
}

/** What RFC 9110 §5.5 leaves out of a field's value: controls but TAB. Characters beyond one octet cannot be sent either. */
const UNSENDABLE_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** The octet of a block that sets the peer's table to nothing (RFC 7541 §6.3). */
const EMPTY_TABLE = 0x20;

/**
 * A block with these fields. Names are lower-case already; what is `secret` is told never to be indexed on its way
 * (RFC 7541 §7.1.3).
 * @param emptiesTable the peer has made its table smaller, and this is the first block since (RFC 7541 §4.2).
 */
export function encodeHeaders(
  fields: readonly HeaderField[],
  secret: ReadonlySet<string>,
  emptiesTable: boolean,
): Uint8Array | UnsendableHeader {
  const out: number[] = emptiesTable ? [EMPTY_TABLE] : [];
  for (const [name, value] of fields) {
    if (UNSENDABLE_VALUE.test(value)) return { unsendable: name };
    const whole = STATIC_TABLE.findIndex(([n, v]) => n === name && v === value) + 1;
    if (whole > 0 && !secret.has(name)) {
      writeInteger(out, 0x80, 7, whole);
      continue;
    }
    const index = STATIC_NAMES.get(name) ?? 0;
    writeInteger(out, secret.has(name) ? 0x10 : 0, 4, index);
    if (index === 0) writeString(out, name);
    writeString(out, value);
  }
  return Uint8Array.from(out);
}

function writeString(out: number[], text: string): void {
  writeInteger(out, 0, 7, text.length);
  for (let at = 0; at < text.length; at += 1) out.push(text.charCodeAt(at));
}

/** RFC 7541 §5.1. */
function writeInteger(out: number[], firstBits: number, prefixBits: number, value: number): void {
  const most = 2 ** prefixBits - 1;
  if (value < most) {
    out.push(firstBits | value);
    return;
  }
  out.push(firstBits | most);
  let rest = value - most;
  while (rest >= 0x80) {
    out.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  out.push(rest);
}
