/** Reading header blocks: HPACK (RFC 7541). */
import { decodeHuffman } from './huffman.ts';
import { type HeaderField, STATIC_TABLE } from './static-table.ts';

/** What a field takes of a table or list beside its octets (RFC 7541 §4.1, RFC 9113 §6.5.2). */
export const FIELD_OVERHEAD_BYTES = 32;

/** A header block's fields in their order; `isTooLarge` when the list is larger than allowed, and not all of it is here. */
export interface HeaderList {
  readonly fields: readonly HeaderField[];
  readonly isTooLarge: boolean;
}

/** Fields that came lately, the newest last (RFC 7541 §2.3.2). */
class DynamicTable {
  readonly fields: HeaderField[] = [];
  #bytes = 0;
  #maximumBytes: number;

  constructor(maximumBytes: number) {
    this.#maximumBytes = maximumBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  resize(maximumBytes: number): void {
    this.#maximumBytes = maximumBytes;
    this.#evict(0);
  }

  /** A field larger than the whole table empties it and is not kept (RFC 7541 §4.4). */
  add(field: HeaderField): void {
    const bytes = fieldBytes(field);
    this.#evict(bytes);
    if (bytes > this.#maximumBytes) return;
    this.fields.push(field);
    this.#bytes += bytes;
  }

  #evict(needed: number): void {
    let gone = 0;
    while (gone < this.fields.length && this.#bytes + needed > this.#maximumBytes) {
      this.#bytes -= fieldBytes(this.fields[gone] as HeaderField);
      gone += 1;
    }
    if (gone > 0) this.fields.splice(0, gone);
  }
}

/** Decodes the header blocks of one direction of a connection: each of them, and in the order of their coming. */
export class HpackDecoder {
  readonly #table: DynamicTable;
  readonly #tableBytes: number;
  readonly #listBytes: number;
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;
  #end = 0;

  /**
   * @param tableBytes SETTINGS_HEADER_TABLE_SIZE as the peer was told.
   * @param listBytes the largest list of fields that is kept (SETTINGS_MAX_HEADER_LIST_SIZE).
   */
  constructor(tableBytes: number, listBytes: number) {
    this.#table = new DynamicTable(tableBytes);
    this.#tableBytes = tableBytes;
    this.#listBytes = listBytes;
  }

  /** The dynamic table, the newest last. */
  get table(): readonly HeaderField[] {
    return this.#table.fields;
  }

  get tableBytes(): number {
    return this.#table.bytes;
  }

  /** A whole block; undefined is COMPRESSION_ERROR, after which nothing can be decoded any more. */
  decode(bytes: Uint8Array, start: number, end: number): HeaderList | undefined {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    const fields: HeaderField[] = [];
    let listBytes = 0;
    let isTooLarge = false;
    while (this.#at < end) {
      const first = bytes[this.#at] as number;
      if ((first & 0xe0) === 0x20) {
        // Only before the first field (RFC 7541 §4.2), and no larger than was allowed (§6.3).
        const size = this.#integer(5);
        if (listBytes > 0 || size === undefined || size > this.#tableBytes) return undefined;
        this.#table.resize(size);
        continue;
      }
      const field = this.#field(first);
      if (field === undefined) return undefined;
      listBytes += fieldBytes(field);
      if (listBytes > this.#listBytes) isTooLarge = true;
      else fields.push(field);
    }
    return { fields, isTooLarge };
  }

  #field(first: number): HeaderField | undefined {
    if (first >= 0x80) {
      const index = this.#integer(7);
      return index === undefined ? undefined : this.#indexed(index);
    }
    const isKept = first >= 0x40;
    const index = this.#integer(isKept ? 6 : 4);
    if (index === undefined) return undefined;
    const name = index === 0 ? this.#string() : this.#indexed(index)?.[0];
    if (name === undefined) return undefined;
    const value = this.#string();
    if (value === undefined) return undefined;
    const field: HeaderField = [name, value];
    if (isKept) this.#table.add(field);
    return field;
  }

  #indexed(index: number): HeaderField | undefined {
    if (index <= STATIC_TABLE.length) return STATIC_TABLE[index - 1];
    const { fields } = this.#table;
    return fields[fields.length - (index - STATIC_TABLE.length)];
  }

  /** RFC 7541 §5.1. Nothing that is legal here needs more than 28 bits. */
  #integer(prefixBits: number): number | undefined {
    const most = 2 ** prefixBits - 1;
    let value = (this.#bytes[this.#at] as number) & most;
    this.#at += 1;
    if (value < most) return value;
    for (let shift = 0; shift <= 21; shift += 7) {
      if (this.#at >= this.#end) return undefined;
      const octet = this.#bytes[this.#at] as number;
      this.#at += 1;
      value += (octet & 0x7f) << shift;
      if (octet < 0x80) return value;
    }
    return undefined;
  }

  /** RFC 7541 §5.2. */
  #string(): string | undefined {
    if (this.#at >= this.#end) return undefined;
    const isCoded = (this.#bytes[this.#at] as number) >= 0x80;
    const length = this.#integer(7);
    if (length === undefined || length > this.#end - this.#at) return undefined;
    const from = this.#at;
    this.#at += length;
    if (isCoded) return decodeHuffman(this.#bytes, from, this.#at);
    let text = '';
    for (let at = from; at < this.#at; at += 1) text += String.fromCharCode(this.#bytes[at] as number);
    return text;
  }
}

function fieldBytes([name, value]: HeaderField): number {
  return name.length + value.length + FIELD_OVERHEAD_BYTES;
}
