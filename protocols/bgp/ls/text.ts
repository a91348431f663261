/**
 * The text forms of what TLVs carry: addresses, router identifiers, areas, route distinguishers, hex.
 * `read…` take from a reader, `parse…` give the bytes back for encoding and throw on text that is not of that form.
 */
import type { TlvReader } from './reader.ts';

const HEX = Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, '0'));

/**
 * The text of each 16 bits, made when first wanted: a system identifier takes 85 ns to put together of them where it
 * took 181 of octets.
 */
class Halves {
  /** One place until the first text: half a megabyte is not filled by who imports this and decodes nothing. */
  private texts: string[] = new Array(1).fill('');
  private readonly format: (half: number) => string;

  constructor(format: (half: number) => string) {
    this.format = format;
  }

  of(half: number): string {
    return (this.texts[half] as string) || this.made(half);
  }

  private made(half: number): string {
    const text = this.format(half);
    if (this.texts.length === 1) this.texts = new Array(0x10000).fill('');
    this.texts[half] = text;
    return text;
  }
}

const DECIMAL: readonly string[] = Array.from({ length: 256 }, (_, value) => `${value}`);
const HEX_DOT = new Halves((half) => `${HEX[half >>> 8]}${HEX[half & 255]}.`);
const HEX_LAST = new Halves((half) => `${HEX[half >>> 8]}${HEX[half & 255]}`);

/** Dotted decimal of four octets. */
export function readIpv4(reader: TlvReader): string {
  return formatIpv4(reader.u32());
}

export function formatIpv4(value: number): string {
  const high = value >>> 8;
  const place = high & (RECENT_NETWORKS - 1);
  const text = networks[place] === high ? (networkTexts[place] as string) : networkText(high, place);
  return text + (DECIMAL[value & 255] as string);
}

/**
 * The texts of the first three octets of addresses lately formatted: both ends of a link have the same, and loopbacks
 * stand close together.
 */
const RECENT_NETWORKS = 1024;
const networks = new Int32Array(RECENT_NETWORKS).fill(-1);
const networkTexts: string[] = new Array(RECENT_NETWORKS).fill('');

function networkText(high: number, place: number): string {
  const text = `${high >>> 16}.${(high >>> 8) & 255}.${high & 255}.`;
  networks[place] = high;
  networkTexts[place] = text;
  return text;
}

export function parseIpv4(text: string): Uint8Array {
  const octets = text.split('.');
  if (
    octets.length !== 4 ||
    octets.some((octet) => !/^(0|[1-9]\d{0,2})$/.test(octet) || Number(octet) > 255)
  ) {
    throw new RangeError(`not an IPv4 address: ${text}`);
  }
  return Uint8Array.from(octets, Number);
}

/** RFC 5952 text of 16 octets. */
export function readIpv6(reader: TlvReader): string {
  return formatIpv6(reader.u32(), reader.u32(), reader.u32(), reader.u32());
}

/** The same of the 16 octets at `at`. */
export function ipv6At(view: DataView, at: number): string {
  return formatIpv6(
    view.getUint32(at),
    view.getUint32(at + 4),
    view.getUint32(at + 8),
    view.getUint32(at + 12),
  );
}

/** RFC 5952 §4: lower case, no leading zeros, the longest run of two or more zero groups as `::`, the first of equals. */
export function formatIpv6(first: number, second: number, third: number, fourth: number): string {
  const zeros =
    (zeroGroups(first) << 6) | (zeroGroups(second) << 4) | (zeroGroups(third) << 2) | zeroGroups(fourth);
  let run = longestRuns[zeros] as number;
  if (run === NOT_YET) run = keepLongestRun(zeros);
  const start = run >> 4;
  const end = start + (run & 15);
  if (start < 4) {
    const head = groups(first, second, third, fourth, 0, start);
    return `${head}${start === 0 ? '::' : ':'}${groups(first, second, third, fourth, end, 8)}`;
  }
  // Two short halves are cheaper to join than one text that grows: SRv6 SIDs and links' addresses take 45 ns where they took 75.
  const lower = groups(first, second, third, fourth, 4, start);
  const tail = end > start ? `${lower}:${groups(first, second, third, fourth, end, 8)}` : lower;
  const upper = blockText(first) + GROUP_COLON.of(second >>> 16);
  return upper + (GROUP_COLON.of(second & 0xffff) + tail);
}

/** The higher bit when the upper 16 bits are zero, the lower one when the others are. */
function zeroGroups(word: number): number {
  return (word >>> 16 ? 0 : 2) | (word & 0xffff ? 0 : 1);
}

/** The groups from one up to another, a colon behind each but the eighth. */
function groups(
  first: number,
  second: number,
  third: number,
  fourth: number,
  from: number,
  to: number,
): string {
  let text = '';
  for (let index = from; index < to; index += 1) {
    const word = index < 4 ? (index < 2 ? first : second) : index < 6 ? third : fourth;
    const group = index & 1 ? word & 0xffff : word >>> 16;
    text += index === 7 ? GROUP.of(group) : GROUP_COLON.of(group);
  }
  return text;
}

/** The texts of the first two groups of addresses lately formatted: a network has few. */
const RECENT_BLOCKS = 64;
const blocks = new Int32Array(RECENT_BLOCKS);
const blockTexts: string[] = new Array(RECENT_BLOCKS).fill('0:0:');

function blockText(first: number): string {
  const place = Math.imul(first, 0x9e3779b1) >>> 26;
  return blocks[place] === (first | 0) ? (blockTexts[place] as string) : newBlockText(first, place);
}

function newBlockText(first: number, place: number): string {
  const text = GROUP_COLON.of(first >>> 16) + GROUP_COLON.of(first & 0xffff);
  blocks[place] = first;
  blockTexts[place] = text;
  return text;
}

const GROUP_COLON = new Halves((half) => `${half.toString(16)}:`);
const GROUP = new Halves((half) => half.toString(16));

/** No run begins at the sixteenth group. */
const NOT_YET = 255;

/**
 * By which of the eight groups are zero, the first the highest bit: where `::` stands, times 16, and for how many; behind
 * the last when nowhere. Found when first wanted: all 256 took a fresh process a millisecond, and a network has few of them.
 */
const longestRuns = new Uint8Array(256).fill(NOT_YET);

function keepLongestRun(zeros: number): number {
  let longest = { start: 0, length: 1 };
  for (let start = 0; start < 8; start += 1) {
    let length = 0;
    while (start + length < 8 && zeros & (0x80 >> (start + length))) length += 1;
    if (length > longest.length) longest = { start, length };
  }
  const run = longest.length > 1 ? longest.start * 16 + longest.length : 8 * 16;
  longestRuns[zeros] = run;
  return run;
}

export function parseIpv6(text: string): Uint8Array {
  const halves = text.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':'));
  const head = groups(halves[0] ?? '');
  const tail = groups(halves[1] ?? '');
  const missing = 8 - head.length - tail.length;
  const all =
    halves.length === 2 ? [...head, ...new Array<string>(Math.max(missing, 0)).fill('0'), ...tail] : head;
  if (halves.length > 2 || all.length !== 8 || all.some((group) => !/^[0-9a-fA-F]{1,4}$/.test(group))) {
    throw new RangeError(`not an IPv6 address: ${text}`);
  }
  const bytes = new Uint8Array(16);
  all.forEach((group, index) => {
    const value = Number.parseInt(group, 16);
    bytes[index * 2] = value >>> 8;
    bytes[index * 2 + 1] = value;
  });
  return bytes;
}

/** An address of either family by its length, 4 or 16 octets; hex of any other length. */
export function readAddress(reader: TlvReader, octets: number): string {
  if (octets === 4) return readIpv4(reader);
  if (octets === 16) return readIpv6(reader);
  return readHex(reader, octets);
}

export function parseAddress(text: string): Uint8Array {
  if (text.includes(':')) return parseIpv6(text);
  return text.includes('.') ? parseIpv4(text) : parseHex(text);
}

/** Lower-case hex of the next octets. */
export function readHex(reader: TlvReader, octets: number): string {
  const at = reader.position;
  reader.skip(octets);
  if (reader.position !== at + octets) return '';
  reader.steps += octets;
  return formatHex(reader.bytes, at, at + octets);
}

/** Two digits of one octet. */
export function hexOctet(octet: number): string {
  return HEX[octet] as string;
}

export function formatHex(bytes: Uint8Array, start = 0, end = bytes.length): string {
  let text = '';
  for (let index = start; index < end; index += 1) text += HEX[bytes[index] as number];
  return text;
}

/** Eight hex digits of 32 bits. */
export function formatBits(bits: number): string {
  return bits.toString(16).padStart(8, '0');
}

export function parseHex(text: string): Uint8Array {
  if (!/^([0-9a-fA-F]{2})*$/.test(text)) throw new RangeError(`not hex: ${text}`);
  const bytes = new Uint8Array(text.length / 2);
  for (let index = 0; index < bytes.length; index += 1) {
    bytes[index] = Number.parseInt(text.slice(index * 2, index * 2 + 2), 16);
  }
  return bytes;
}

const utf8 = new TextDecoder('utf-8');
const toUtf8 = new TextEncoder();

/**
 * A name that a peer chose: RFC 9552 says 7-bit ASCII, routers send UTF-8 too, and a peer may send anything.
 * What is not UTF-8 becomes U+FFFD; control characters stay: whoever shows the text escapes it.
 */
export function readText(reader: TlvReader, octets: number): string {
  const at = reader.position;
  reader.skip(octets);
  const end = at + octets;
  if (reader.position !== end) return '';
  reader.steps += octets;
  return asciiAt(reader.bytes, at, end) ?? utf8.decode(reader.bytes.subarray(at, end));
}

/** undefined when an octet is not 7-bit ASCII. */
export function asciiAt(bytes: Uint8Array, start: number, end: number): string | undefined {
  let text = '';
  for (let index = start; index < end; index += 1) {
    const byte = bytes[index] as number;
    if (byte > 127) return undefined;
    text += ASCII[byte];
  }
  return text;
}

const ASCII = Array.from({ length: 128 }, (_, value) => String.fromCharCode(value));

export function encodeText(text: string): Uint8Array {
  return toUtf8.encode(text);
}

/**
 * IGP Router-ID, RFC 9552 §5.2.1.4, by its length: 4 an OSPF router, 6 an IS-IS system, 7 an IS-IS pseudonode,
 * 8 an OSPF pseudonode (router, then interface address or interface ID), 16 an IPv6 address, which a node of the
 * protocols direct and static may be named by; other lengths hex.
 */
export function readIgpRouterId(reader: TlvReader, octets: number): string {
  if (octets === 6) return readSystemId(reader);
  if (octets === 4) return readIpv4(reader);
  if (octets === 7) return `${readSystemId(reader)}.${HEX[reader.u8()]}`;
  if (octets === 8) return `${readIpv4(reader)}:${readIpv4(reader)}`;
  if (octets === 16) return readIpv6(reader);
  return readHex(reader, octets);
}

export function parseIgpRouterId(text: string): Uint8Array {
  if (/^[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}(\.[0-9a-f]{2})?$/i.test(text))
    return parseHex(text.replaceAll('.', ''));
  if (text.includes(':') && !text.includes('.')) return parseIpv6(text);
  const [router, network] = text.split(':');
  if (network !== undefined) return Uint8Array.of(...parseIpv4(router as string), ...parseIpv4(network));
  return text.includes('.') ? parseIpv4(text) : parseHex(text);
}

/** An IS-IS system identifier, six octets: `0000.0000.0009`. */
export function readSystemId(reader: TlvReader): string {
  return HEX_DOT.of(reader.u16()) + HEX_DOT.of(reader.u16()) + HEX_LAST.of(reader.u16());
}

/** An IS-IS area address, 1 to 13 octets: the first alone, then pairs: `49.0001`. ISO 10589 §7.1.1. */
export function readIsisArea(reader: TlvReader, octets: number): string {
  const at = reader.position;
  reader.skip(octets);
  if (reader.position !== at + octets) return '';
  reader.steps += octets;
  return isisAreaAt(reader.bytes, at, at + octets);
}

export function isisAreaAt(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  for (let index = start; index < end; index += 1) {
    // A dot before each pair: behind the first octet, and then behind every second.
    if ((index - start) % 2 === 1) text += '.';
    text += HEX[bytes[index] as number];
  }
  return text;
}

export function parseIsisArea(text: string): Uint8Array {
  return parseHex(text.replaceAll('.', ''));
}

/** A route distinguisher, RFC 4364 §4.2: `65000:1`, `192.0.2.1:1`; other types as `type:hex`. */
export function readRouteDistinguisher(reader: TlvReader): string {
  const type = reader.u16();
  if (type === 0) return `${reader.u16()}:${reader.u32()}`;
  if (type === 1) return `${readIpv4(reader)}:${reader.u16()}`;
  if (type === 2) return `${formatAsDot(reader.u32())}:${reader.u16()}`;
  return `${type}:${readHex(reader, 6)}`;
}

/** Type 2 in asdot+, so that its text never equals a type 0's. */
function formatAsDot(as: number): string {
  return `${as >>> 16}.${as & 0xffff}`;
}

export function parseRouteDistinguisher(text: string): Uint8Array {
  const [administrator, assigned] = text.split(':') as [string, string];
  if (assigned === undefined) throw new RangeError(`not a route distinguisher: ${text}`);
  const octets = (value: number, count: number) =>
    Array.from({ length: count }, (_, index) => Math.floor(value / 256 ** (count - 1 - index)) & 255);
  const parts = administrator.split('.').map(Number);
  if (parts.length === 4)
    return Uint8Array.of(0, 1, ...parseIpv4(administrator), ...octets(Number(assigned), 2));
  if (parts.length === 2) {
    const [high, low] = parts as [number, number];
    return Uint8Array.of(0, 2, ...octets(high, 2), ...octets(low, 2), ...octets(Number(assigned), 2));
  }
  const hexType = assigned.length === 12 && Number(administrator) > 2;
  if (hexType) return Uint8Array.of(...octets(Number(administrator), 2), ...parseHex(assigned));
  return Uint8Array.of(0, 0, ...octets(Number(administrator), 2), ...octets(Number(assigned), 4));
}
