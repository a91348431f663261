import { Tag } from '../../protocols/snmp/ber.ts';
import type { MibObject } from '../../protocols/snmp/mib.ts';
import { decodeIndex } from '../../protocols/snmp/mib-index.ts';
import { decodeArcs, decodeOid, formatOid } from '../../protocols/snmp/oid.ts';
import type { WalkRow } from '../../protocols/snmp/row-join.ts';
import { CellKind } from '../../protocols/snmp/varbind-table.ts';
import { type RecordBatch, type RecordSource, RecordWriter, rowName } from '../record.ts';
import { canonicalIpAddress, formatMacAddress } from './address-text.ts';
import type { RowsStatus } from './gnmi-rows.ts';
import { RowTable } from './row-table.ts';
import type { SnmpGroup, SnmpMapping } from './snmp-mapping.ts';
import { VALUE } from './value.ts';

export interface SnmpRowsOptions {
  readonly source: RecordSource;
  readonly mapping: SnmpMapping;
  readonly maxRows: number;
  /** Takes the records of each cycle that has any; they are valid during the call. */
  readonly deliver: (records: RecordBatch) => void;
}

/** Rows of a group by the bytes of their index, guessed to come in the order of the last cycle. */
class IndexedRows {
  private readonly ids = new Map<string, number>();
  private readonly indexes: Uint8Array[] = [];
  private readonly rows: number[] = [];
  private next = 0;

  find(bytes: Uint8Array, start: number, end: number): number {
    if (isSame(this.indexes[this.next], bytes, start, end)) return this.rows[this.next++] as number;
    const place = this.ids.get(keyOf(bytes, start, end));
    if (place === undefined) return -1;
    this.next = place + 1;
    return this.rows[place] as number;
  }

  add(bytes: Uint8Array, start: number, end: number, row: number): void {
    this.ids.set(keyOf(bytes, start, end), this.rows.length);
    this.indexes.push(bytes.slice(start, end));
    this.rows.push(row);
    this.next = this.rows.length;
  }

  rewind(): void {
    this.next = 0;
  }
}

/** Rows that polls no longer bring are forgotten when there are this many more than needed. */
const SPARE_ROWS = 1_024;

/** The SNMP end of the mapping engine: rows of one device's walk in, records out at its end. One walk is one cycle. */
export class SnmpRows {
  private readonly options: SnmpRowsOptions;
  private readonly table: RowTable;
  private readonly writer: RecordWriter;
  private known: IndexedRows[];
  /** By slot: whether octets are an address that its field wants as text. */
  private readonly isAddress: readonly boolean[];
  /** By group and column, the one slot that takes the value; −1 where there are several. */
  private readonly slotOfColumn: readonly Int32Array[];
  private readonly counts = { updates: 0, records: 0, cycles: 0, cycleIncomplete: 0 };
  /** The number of the last cycle that was whole; 0 before the first. */
  private wholeCycle = 0;

  constructor(options: SnmpRowsOptions) {
    const { mapping, source, maxRows } = options;
    this.options = options;
    this.table = new RowTable(mapping.layout, {
      keepsRows: false,
      maxRows,
      formatKey: (values) => values.join('.'),
    });
    this.writer = new RecordWriter(source, mapping.layout);
    this.known = mapping.groups.map(() => new IndexedRows());
    this.isAddress = mapping.slots.map(
      ({ field, object }) =>
        mapping.layout.fields[field]?.type === 'string' && isAddressConvention(object?.convention ?? ''),
    );
    this.slotOfColumn = mapping.groups.map(({ slots }) =>
      Int32Array.from(slots, (some) => (some.length === 1 ? (some[0] as number) : -1)),
    );
  }

  /** One row of a walk's group, numbered as in the mapping; `arrivedAt` is when its answer came, epoch in ms. */
  row(groupId: number, row: WalkRow, arrivedAt: number): void {
    const group = this.options.mapping.groups[groupId] as SnmpGroup;
    const { indexBytes, indexStart, indexEnd } = row;
    const known = this.known[groupId] as IndexedRows;
    let id = known.find(indexBytes, indexStart, indexEnd);
    if (id < 0) {
      id = this.make(groupId, group, indexBytes.subarray(indexStart, indexEnd));
      if (id < 0) {
        this.table.drops += 1;
        return;
      }
      known.add(indexBytes, indexStart, indexEnd, id);
    }
    const slotOfColumn = this.slotOfColumn[groupId] as Int32Array;
    for (let column = 0; column < slotOfColumn.length; column += 1) {
      const at = row.base + column;
      const tag = row.kinds[at] as number;
      if (tag === CellKind.absent) continue;
      this.counts.updates += 1;
      const only = slotOfColumn[column] as number;
      if (only >= 0) {
        this.put(id, only, arrivedAt, tag, row.hi[at] as number, row.lo[at] as number, row.bytes);
        continue;
      }
      for (const slot of group.slots[column] as readonly number[]) {
        this.put(id, slot, arrivedAt, tag, row.hi[at] as number, row.lo[at] as number, row.bytes);
      }
    }
  }

  /** The walk is complete: its rows go out. */
  close(): void {
    for (const rows of this.known) rows.rewind();
    const touched = this.table.touchedCount;
    this.wholeCycle = this.table.cycleNumber;
    if (touched === 0) {
      this.table.discardCycle();
      return;
    }
    const records = this.table.closeCycle(this.writer);
    if (records > 0) {
      this.counts.cycles += 1;
      this.counts.records += records;
      this.options.deliver(this.writer.take());
    }
    if (this.table.rowCount > touched * 2 + SPARE_ROWS) {
      this.table.compact();
      this.known = this.options.mapping.groups.map(() => new IndexedRows());
    }
  }

  /** The walk was cut short: nothing of it goes out. */
  abandon(): void {
    for (const rows of this.known) rows.rewind();
    this.table.discardCycle();
    this.counts.cycleIncomplete += 1;
  }

  /**
   * The rows of the last whole cycle, with what a later one has brought so far; they are valid until the next call of
   * any method.
   */
  latest(): RecordBatch {
    this.table.writeLatest(this.writer, this.wholeCycle > 0 ? this.wholeCycle : Number.POSITIVE_INFINITY, 0);
    return this.writer.take();
  }

  status(): RowsStatus {
    return { ...this.counts, clockSkew: 0, rows: this.table.rowCount, drops: this.table.drops };
  }

  /** Paths of the mapping from which nothing has come yet; index objects come with every row. */
  unmatchedPaths(): string[] {
    return this.options.mapping.slots.flatMap(({ text, object }, slot) =>
      isInIndex(object) || this.updatesOf(slot) > 0 ? [] : [text],
    );
  }

  updatesOf(slot: number): number {
    return this.table.updatesOfSlot[slot] as number;
  }

  coercionErrors(): ReadonlyMap<string, number> {
    return this.table.coercionErrors;
  }

  private make(groupId: number, group: SnmpGroup, indexBytes: Uint8Array): number {
    const arcs = decodeArcs(indexBytes) ?? [];
    const leading = arcs.slice(0, group.integerArcs);
    const rest = arcs.slice(group.integerArcs);
    const index = arcs.join('.');
    const entry = formatOid(group.entry);
    return this.table.rowFor({
      group: { id: groupId, ancestors: group.ancestors },
      keyValues: [...leading.map(String), ...(rest.length > 0 ? [rest.join('.')] : [])],
      key: index,
      name: rowName(index === '' ? entry : `${entry}.${index}`, index),
      rank: 0,
      fills: this.fills(group, arcs),
    });
  }

  /** Fields that are mapped to an object of the row's index. */
  private fills(group: SnmpGroup, arcs: readonly number[]): Array<{ field: number; value: string }> {
    if (group.indexed === undefined) return [];
    const decoded = decodeIndex(group.indexed, arcs);
    if (!decoded.ok) return [];
    return this.options.mapping.slots.flatMap(({ field, object }) => {
      const found = decoded.values.find((value) => isObject(value.object, object));
      return found === undefined ? [] : [{ field, value: found.text }];
    });
  }

  private put(
    row: number,
    slot: number,
    time: number,
    tag: number,
    hi: number,
    lo: number,
    bytes: Uint8Array,
  ): void {
    const { table } = this;
    switch (tag) {
      case Tag.integer: {
        const name = this.options.mapping.slots[slot]?.names?.get(lo | 0);
        if (name === undefined) table.set(row, slot, time, VALUE.int, hi, lo, bytes, 0, 0);
        else table.set(row, slot, time, VALUE.string, 0, 0, name, 0, name.length);
        break;
      }
      case Tag.counter32:
      case Tag.gauge32:
      case Tag.timeTicks:
      case Tag.counter64:
        table.set(row, slot, time, VALUE.uint, hi, lo, bytes, 0, 0);
        break;
      case Tag.octetString:
        this.putOctets(row, slot, time, bytes, hi, hi + lo);
        break;
      case Tag.ipAddress:
        this.putText(row, slot, time, bytes.subarray(hi, hi + lo).join('.'));
        break;
      case Tag.objectIdentifier:
        this.putText(row, slot, time, formatOid(decodeOid(bytes, hi, hi + lo) ?? []));
        break;
      case Tag.opaque:
        this.putOpaque(row, slot, time, bytes, hi, hi + lo);
        break;
      case CellKind.unreadable:
        table.set(row, slot, time, VALUE.unsupported, 0, 0, bytes, 0, 0);
        break;
      // Exceptions in place of a value are no update: the path shows as unmatched.
    }
  }

  /** Addresses become text where the field wants text: their octets are none. */
  private putOctets(
    row: number,
    slot: number,
    time: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): void {
    const convention = this.options.mapping.slots[slot]?.object?.convention ?? '';
    const text = this.isAddress[slot] ? addressText(convention, bytes.subarray(start, end)) : undefined;
    if (text === undefined) this.table.set(row, slot, time, VALUE.bytes, 0, 0, bytes, start, end);
    else this.putText(row, slot, time, text);
  }

  private putText(row: number, slot: number, time: number, text: string): void {
    const bytes = Buffer.from(text);
    this.table.set(row, slot, time, VALUE.string, 0, 0, bytes, 0, bytes.length);
  }

  /** Net-SNMP's Float and Double inside an Opaque: tags 0x9f78 and 0x9f79 and their length before the IEEE 754 value. */
  private putOpaque(
    row: number,
    slot: number,
    time: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset + start, end - start);
    const isWrapped = view.byteLength > 3 && view.getUint8(0) === 0x9f;
    if (isWrapped && view.getUint8(1) === 0x78 && view.byteLength === 7) {
      this.table.set(row, slot, time, VALUE.float, 0, view.getInt32(3), bytes, 0, 0);
    } else if (isWrapped && view.getUint8(1) === 0x79 && view.byteLength === 11) {
      this.table.set(row, slot, time, VALUE.double, view.getInt32(3), view.getInt32(7), bytes, 0, 0);
    } else {
      this.table.set(row, slot, time, VALUE.bytes, 0, 0, bytes, start, end);
    }
  }
}

function isAddressConvention(convention: string): boolean {
  return convention === 'MacAddress' || convention === 'PhysAddress' || convention.startsWith('InetAddress');
}

function addressText(convention: string, octets: Uint8Array): string | undefined {
  const { length } = octets;
  if (length > 0 && (convention === 'MacAddress' || convention === 'PhysAddress'))
    return formatMacAddress(octets);
  const isInetAddress = convention.startsWith('InetAddress') && (length === 4 || length === 16);
  return isInetAddress ? canonicalIpAddress(octets) : undefined;
}

/** Whether rows have an object's value by their index alone: it cannot be read. */
function isInIndex(object: MibObject | undefined): boolean {
  return object?.kind === 'column' && !object.accessible;
}

function isObject(a: MibObject, b: MibObject | undefined): boolean {
  return a.module === b?.module && a.name === b.name;
}

function isSame(known: Uint8Array | undefined, bytes: Uint8Array, start: number, end: number): boolean {
  if (known === undefined || known.length !== end - start) return false;
  for (let at = 0; at < known.length; at += 1) {
    if (known[at] !== bytes[start + at]) return false;
  }
  return true;
}

function keyOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
}
