/** The objects of a simulated agent, in the order that GetNext walks them. */
import { compareOids, type Oid } from '../../../protocols/snmp/oid.ts';
import type { Varbind } from '../../../protocols/snmp/pdu.ts';
import type { SnmpValue } from '../../../protocols/snmp/value.ts';

/** A value, or what makes it at each reading; `now` in milliseconds. */
export type ObjectValue = SnmpValue | ((now: number) => SnmpValue);

interface Entry {
  readonly oid: Oid;
  value: ObjectValue;
}

export class ObjectStore {
  private readonly entries: Entry[] = [];
  private sorted = true;

  set(oid: Oid, value: ObjectValue): void {
    const last = this.entries.at(-1);
    this.sorted &&= last === undefined || compareOids(last.oid, oid) < 0;
    this.entries.push({ oid, value });
  }

  /** Sets one column of a table: the values at the indexes 1, 2, 3 … or at those given. */
  setColumn(column: Oid, values: readonly ObjectValue[], indexes?: readonly Oid[]): void {
    values.forEach((value, row) => {
      this.set([...column, ...(indexes?.[row] ?? [row + 1])], value);
    });
  }

  get(oid: Oid, now: number): SnmpValue | undefined {
    const entry = this.entries[this.after(oid, false)];
    return entry !== undefined && compareOids(entry.oid, oid) === 0 ? valueAt(entry, now) : undefined;
  }

  /** The first object behind this one in lexicographic order. */
  next(oid: Oid, now: number): Varbind | undefined {
    const entry = this.entries[this.after(oid, true)];
    return entry === undefined ? undefined : { oid: entry.oid, value: valueAt(entry, now) };
  }

  private after(oid: Oid, strictly: boolean): number {
    if (!this.sorted) {
      this.entries.sort((left, right) => compareOids(left.oid, right.oid));
      this.sorted = true;
    }
    let low = 0;
    let high = this.entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = compareOids((this.entries[middle] as Entry).oid, oid);
      if (order < 0 || (strictly && order === 0)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function valueAt(entry: Entry, now: number): SnmpValue {
  return typeof entry.value === 'function' ? entry.value(now) : entry.value;
}
