/** Huffman-coded strings of HPACK (RFC 7541 §5.2). */

/**
 * The bits of each octet's code, a base-36 digit an octet (RFC 7541 Appendix B). Codes of one length follow each other in
 * the order of their octets, shorter ones first, so that the lengths say everything.
 */
const CODE_BITS =
  'dnsssssssoussuss' +
  'ssssssusssssssss' +
  '6aacd68baa8b8666' +
  '555666666678f6ca' +
  'd677777777777777' +
  '77777777878djde6' +
  'f565656665776665' +
  '67655677777fbeds' +
  'kmkkmmmnmnnnnnon' +
  'oomnonnnnlmnmnno' +
  'mlkmmnnlnmmolmnn' +
  'llmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqop' +
  'jlqrrqrollqqsrrr' +
  'koklmllnmmppooqn' +
  'qrqqrrrrrsrrrrrq';
const LONGEST_BITS = 30;
/** The code of the end of a string, which must not be in one: it is only padding's pattern. */
const END_OF_STRING = 256;
const PADDING_MOST_BITS = 7;

/** By length: the first code, how many there are, and where their octets begin in {@link OCTETS}. */
const FIRST_CODE = new Uint32Array(LONGEST_BITS + 1);
const CODES = new Uint32Array(LONGEST_BITS + 1);
const OCTETS_FROM = new Uint32Array(LONGEST_BITS + 1);
const OCTETS = new Uint16Array(END_OF_STRING + 1);

let code = 0;
let filled = 0;
for (let bits = 1; bits <= LONGEST_BITS; bits += 1) {
  FIRST_CODE[bits] = code;
  OCTETS_FROM[bits] = filled;
  for (let octet = 0; octet <= END_OF_STRING; octet += 1) {
    const length = octet === END_OF_STRING ? LONGEST_BITS : Number.parseInt(CODE_BITS[octet] as string, 36);
    if (length !== bits) continue;
    OCTETS[filled] = octet;
    filled += 1;
  }
  CODES[bits] = filled - (OCTETS_FROM[bits] as number);
  code = (code + (CODES[bits] as number)) * 2;
}

/** The octets of a coded string, each as the character of its number; undefined when it is not coded as the RFC says. */
export function decodeHuffman(bytes: Uint8Array, start: number, end: number): string | undefined {
  let text = '';
  let value = 0;
  let bits = 0;
  for (let at = start; at < end; at += 1) {
    for (let shift = 7; shift >= 0; shift -= 1) {
      value = (value << 1) | (((bytes[at] as number) >> shift) & 1);
      bits += 1;
      if (bits > LONGEST_BITS) return undefined;
      const place = value - (FIRST_CODE[bits] as number);
      if (place >= (CODES[bits] as number)) continue;
      const octet = OCTETS[(OCTETS_FROM[bits] as number) + place] as number;
      if (octet === END_OF_STRING) return undefined;
      text += String.fromCharCode(octet);
      value = 0;
      bits = 0;
    }
  }
  // What is left is the beginning of the end's code: ones, and less than an octet.
  return bits <= PADDING_MOST_BITS && value === 2 ** bits - 1 ? text : undefined;
}
