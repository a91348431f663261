/** Objects of the kind that people poll, for simulated agents. */
import type { Oid } from '../../../protocols/snmp/oid.ts';
import { ObjectStore, type ObjectValue } from './object-store.ts';

const SYSTEM: Oid = [1, 3, 6, 1, 2, 1, 1];
const IF_ENTRY: Oid = [1, 3, 6, 1, 2, 1, 2, 2, 1];
const IF_X_ENTRY: Oid = [1, 3, 6, 1, 2, 1, 31, 1, 1, 1];

/** ifXTable's ifName and its eight 64-bit counters: a row of an interface poll. */
export const IF_X_COLUMNS: readonly Oid[] = [1, 6, 7, 8, 9, 10, 11, 12, 13].map((column) => [
  ...IF_X_ENTRY,
  column,
]);

const text = (value: string): ObjectValue => ({
  kind: 'octet-string',
  value: new TextEncoder().encode(value),
});

/** A device of so many interfaces: system, and the parts of IF-MIB that polls read. */
export function interfaceObjects(name: string, interfaces: number): ObjectStore {
  const store = new ObjectStore();
  store.set([...SYSTEM, 1, 0], text(`${name}, simulated`));
  store.set([...SYSTEM, 2, 0], { kind: 'object-identifier', value: [1, 3, 6, 1, 4, 1, 8072, 3, 2, 10] });
  store.set([...SYSTEM, 5, 0], text(name));
  const rows = Array.from({ length: interfaces }, (_, row) => row + 1);
  store.setColumn(
    [...IF_ENTRY, 1],
    rows.map((row) => ({ kind: 'integer', value: row })),
  );
  store.setColumn(
    [...IF_ENTRY, 2],
    rows.map((row) => text(`ethernet-1/${row}`)),
  );
  store.setColumn(
    [...IF_ENTRY, 8],
    rows.map((row) => ({ kind: 'integer', value: row % 7 === 0 ? 2 : 1 })),
  );
  store.setColumn(
    [...IF_ENTRY, 10],
    rows.map((row) => ({ kind: 'counter32', value: row * 1_000 })),
  );
  store.setColumn(
    [...IF_X_ENTRY, 1],
    rows.map((row) => text(`eth${row}`)),
  );
  for (const column of [6, 7, 8, 9, 10, 11, 12, 13]) {
    const base = (row: number) => (BigInt(row) << 40n) + BigInt(column) * 9_007_199_254_740_993n;
    store.setColumn(
      [...IF_X_ENTRY, column],
      rows.map((row) => ({ kind: 'counter64', value: base(row) })),
    );
  }
  return store;
}
