import { enumerationOf } from '../../protocols/snmp/enumeration.ts';
import {
  indexKey,
  indexOf,
  type MibObject,
  type ObjectPath,
  parseObjectPath,
} from '../../protocols/snmp/mib.ts';
import { formatOid, type Oid } from '../../protocols/snmp/oid.ts';
import type { WalkGroup } from '../../protocols/snmp/walk-plan.ts';
import type { SkippedPath } from './compile.ts';
import { layOut, type MappedField, type RowLayout } from './layout.ts';
import { splitAlternatives } from './path.ts';

/** One alternative of one field: a slot of every row. */
export interface SnmpSlot {
  readonly field: number;
  readonly alternative: number;
  /** As the mapping has it, for explanations. */
  readonly text: string;
  readonly object: MibObject | undefined;
  /** UTF-8 of the names of the numbers, where the field wants text and the object is an enumeration. */
  readonly names: ReadonlyMap<number, Uint8Array> | undefined;
}

/** Columns that share an index, or all single instances: what one walk's group brings and where it goes. */
export interface SnmpGroup {
  readonly walk: WalkGroup;
  /** Slots of each column or instance of `walk`. */
  readonly slots: ReadonlyArray<readonly number[]>;
  /** The entry that rows are named by; of scalars what their names have in common. */
  readonly entry: Oid;
  /** A column's object whose index the rows have; undefined when these tables do not know it. */
  readonly indexed: MibObject | undefined;
  /** How many arcs of the index stand for one integer each, from its beginning. */
  readonly integerArcs: number;
  /** Groups whose index begins this one's, the nearest first. */
  readonly ancestors: ReadonlyArray<{ readonly id: number; readonly keyCount: number }>;
}

/** A model version and one of its SNMP mappings, parsed once. Group 0 is that of the scalars. */
export interface SnmpMapping {
  readonly layout: RowLayout;
  readonly slots: readonly SnmpSlot[];
  readonly groups: readonly SnmpGroup[];
  readonly skipped: readonly SkippedPath[];
}

interface DraftGroup {
  readonly oids: Oid[];
  readonly slots: number[][];
  readonly entry: Oid;
  readonly indexed: MibObject | undefined;
}

/** Compiles a model's fields and an SNMP mapping's paths by field name. What cannot be read is skipped by name. */
export function compileSnmpMapping(
  fields: readonly MappedField[],
  fieldMappings: ReadonlyMap<string, string>,
): SnmpMapping {
  const slots: SnmpSlot[] = [];
  const skipped: SkippedPath[] = [];
  const scalars: DraftGroup = { oids: [], slots: [], entry: [], indexed: undefined };
  const tables = new Map<string, DraftGroup>();
  const counts = fields.map(({ name, type }, field) => {
    const before = slots.length;
    const text = fieldMappings.get(name);
    for (const [alternative, part] of (text === undefined ? [] : splitAlternatives(text)).entries()) {
      const path = parseObjectPath(part);
      const isTable = path?.object?.kind === 'entry' && path.instance.length === 0;
      if (path === undefined || isTable) {
        const detail = path === undefined ? 'it is no OID and no known name' : 'it names a whole table';
        skipped.push({ field: name, path: part, fault: { code: 'unparsable', detail } });
        continue;
      }
      const names = type === 'string' && path.object !== undefined ? numberNames(path.object) : undefined;
      const slot = slots.push({ field, alternative, text: part, object: path.object, names }) - 1;
      // An index object that cannot be read is in every row's index: the rows fill it from there.
      if (path.object?.kind === 'column' && !path.object.accessible) continue;
      addTo(groupFor(path, scalars, tables), path.oid, slot);
    }
    return slots.length - before;
  });
  const drafts = [scalars, ...tables.values()];
  return {
    layout: layOut(fields, counts, true),
    slots,
    groups: drafts.map((draft, id) => finish(draft, id, drafts)),
    skipped,
  };
}

function numberNames(object: MibObject): Map<number, Uint8Array> | undefined {
  const enumeration = enumerationOf(object);
  return enumeration && new Map([...enumeration].map(([number, name]) => [number, Buffer.from(name)]));
}

function groupFor(path: ObjectPath, scalars: DraftGroup, tables: Map<string, DraftGroup>): DraftGroup {
  const { object, oid, instance } = path;
  // Below an entry, one arc is a column that these tables have no name for.
  const columnArcs = object?.kind === 'entry' ? 1 : 0;
  const isScalar =
    object === undefined ? oid.at(-1) === 0 : object.kind === 'scalar' || instance.length > columnArcs;
  if (isScalar) return scalars;
  const entry = object === undefined ? oid.slice(0, -1) : baseEntry(object);
  const known = object === undefined ? '' : indexKey(object);
  const key = known === '' ? formatOid(entry) : known;
  const group = tables.get(key) ?? { oids: [], slots: [], entry, indexed: known === '' ? undefined : object };
  tables.set(key, group);
  return group;
}

function addTo(group: DraftGroup, oid: Oid, slot: number): void {
  const text = formatOid(oid);
  const column = group.oids.findIndex((other) => formatOid(other) === text);
  if (column >= 0) {
    (group.slots[column] as number[]).push(slot);
  } else {
    group.oids.push(oid);
    group.slots.push([slot]);
  }
}

/** The entry that defines a table's index: ifEntry for ifXTable, which augments it. */
function baseEntry(object: MibObject): Oid {
  const owner = indexOf(object).at(-1)?.object;
  const isBase = owner?.table !== undefined && indexKey(owner) === indexKey(object);
  const table = (isBase ? owner : object).table;
  return (table?.oid ?? '').split('.').map(Number);
}

function finish(draft: DraftGroup, id: number, drafts: readonly DraftGroup[]): SnmpGroup {
  if (id === 0) {
    return {
      walk: { kind: 'scalars', instances: draft.oids },
      slots: draft.slots,
      entry: commonPrefix(draft.oids),
      indexed: undefined,
      integerArcs: 0,
      ancestors: [],
    };
  }
  const own = namesOf(draft);
  const ancestors = drafts
    .map((other, otherId) => ({ id: otherId, names: namesOf(other), isInteger: isIntegerIndex(other) }))
    .filter(({ id: otherId, names, isInteger }) => otherId === 0 || (isInteger && begins(own, names)))
    .map(({ id: otherId, names }) => ({ id: otherId, keyCount: names.length }))
    .toSorted((a, b) => b.keyCount - a.keyCount);
  return {
    walk: { kind: 'table', columns: draft.oids },
    slots: draft.slots,
    entry: draft.entry,
    indexed: draft.indexed,
    integerArcs: leadingIntegers(draft),
    ancestors,
  };
}

function namesOf({ indexed }: DraftGroup): readonly string[] {
  return indexed === undefined
    ? []
    : indexOf(indexed).map(({ object }) => `${object.module}::${object.name}`);
}

function begins(own: readonly string[], other: readonly string[]): boolean {
  return other.length > 0 && other.length < own.length && other.every((name, at) => name === own[at]);
}

const INTEGERS = new Set(['Integer32', 'Unsigned32', 'Gauge32', 'TimeTicks']);

function leadingIntegers({ indexed }: DraftGroup): number {
  const index = indexed === undefined ? [] : indexOf(indexed);
  const firstOther = index.findIndex(({ object }) => !INTEGERS.has(object.syntax ?? ''));
  return firstOther < 0 ? index.length : firstOther;
}

function isIntegerIndex(draft: DraftGroup): boolean {
  return draft.indexed !== undefined && leadingIntegers(draft) === indexOf(draft.indexed).length;
}

function commonPrefix(oids: readonly Oid[]): Oid {
  const [first = [], ...others] = oids.map((oid) => oid.slice(0, -2));
  const differs = first.findIndex((arc, at) => others.some((other) => other[at] !== arc));
  return differs < 0 ? first : first.slice(0, differs);
}
