/**
 * Names for the objects that people poll: curated tables as data (`mibs/`), read from the MIBs' own texts.
 * The numeric OID stays the canonical form; a name is another way to write it, and tells what an index is made of.
 */
import { BGP4_MIB } from './mibs/bgp4-mib.ts';
import { ENTITY_MIB } from './mibs/entity-mib.ts';
import { ENTITY_SENSOR_MIB } from './mibs/entity-sensor-mib.ts';
import { HOST_RESOURCES_MIB } from './mibs/host-resources-mib.ts';
import { IF_MIB } from './mibs/if-mib.ts';
import { IP_MIB } from './mibs/ip-mib.ts';
import { LLDP_MIB } from './mibs/lldp-mib.ts';
import { OSPF_MIB } from './mibs/ospf-mib.ts';
import { SNMPV2_MIB } from './mibs/snmpv2-mib.ts';
import { UCD_SNMP_MIB } from './mibs/ucd-snmp-mib.ts';
import { formatOid, type Oid, parseArcs, parseOid } from './oid.ts';

/** The base types of the SMI (RFC 2578 §7.1). INTEGER is Integer32, OCTET STRING OctetString, BITS Bits. */
export type Syntax =
  | 'Integer32'
  | 'Unsigned32'
  | 'Gauge32'
  | 'Counter32'
  | 'Counter64'
  | 'TimeTicks'
  | 'IpAddress'
  | 'OctetString'
  | 'ObjectIdentifier'
  | 'Bits'
  | 'Opaque';

/** Name, OID without the instance, syntax, textual convention. */
export type ScalarRow = readonly [string, string, Syntax, string?];

/** Last arc, name, syntax, textual convention. */
export type ColumnRow = readonly [number, string, Syntax, string?];

export interface TableRow {
  readonly entry: string;
  readonly oid: string;
  /** The entry whose rows this one's extend (RFC 2578 §7.8). */
  readonly augments?: string;
  /** Index objects in order, the last one possibly `IMPLIED name`; empty when the augmented entry has them. */
  readonly index: readonly string[];
  /** Columns that exist only within the index and are never sent. */
  readonly notAccessible?: readonly string[];
  readonly columns: readonly ColumnRow[];
}

export interface MibModule {
  readonly name: string;
  readonly source: string;
  readonly scalars: readonly ScalarRow[];
  readonly tables: readonly TableRow[];
}

export interface MibObject {
  /** `IF-MIB` of `IF-MIB::ifName`. */
  readonly module: string;
  readonly name: string;
  readonly kind: 'scalar' | 'column' | 'entry';
  readonly oid: Oid;
  /** Absent for an entry. */
  readonly syntax?: Syntax;
  readonly convention?: string;
  /** False for what exists only within the index. */
  readonly accessible: boolean;
  /** The entry that a column belongs to, itself for an entry; undefined for a scalar. */
  readonly table?: TableRow;
}

/** One object of an index. `implied`: it fills the rest, without a length before it (RFC 2578 §7.7). */
export interface IndexObject {
  readonly object: MibObject;
  readonly implied: boolean;
}

export const MIB_MODULES: readonly MibModule[] = [
  SNMPV2_MIB,
  IF_MIB,
  IP_MIB,
  ENTITY_MIB,
  ENTITY_SENSOR_MIB,
  BGP4_MIB,
  OSPF_MIB,
  HOST_RESOURCES_MIB,
  LLDP_MIB,
  UCD_SNMP_MIB,
];

interface MibIndex {
  readonly byName: ReadonlyMap<string, MibObject>;
  readonly byOid: ReadonlyMap<string, MibObject>;
  readonly byShortName: ReadonlyMap<string, MibObject>;
  /** By the name of the 32-bit counter. */
  readonly counter64: ReadonlyMap<string, MibObject>;
}

let built: MibIndex | undefined;

/** Made when a name or an OID is first asked for: most processes that import this never do (5 ms of a cold start). */
function mibIndex(): MibIndex {
  built ??= buildIndex();
  return built;
}

function buildIndex(): MibIndex {
  const objects = MIB_MODULES.flatMap(objectsIn);
  const byName = new Map(objects.map((object) => [`${object.module}::${object.name}`, object]));
  return {
    byName,
    byOid: new Map(objects.map((object) => [formatOid(object.oid), object])),
    byShortName: new Map(objects.map((object) => [object.name, object])),
    // A high-capacity counter has the name of the 32-bit one with `HC` in it (RFC 2863 §3.1.6, RFC 4293 §3.2.4).
    counter64: new Map(
      [...byName.values()]
        .filter(({ name, syntax }) => syntax === 'Counter64' && name.includes('HC'))
        .map((object) => [`${object.module}::${object.name.replace('HC', '')}`, object]),
    ),
  };
}

function objectsIn({ name: module, scalars, tables }: MibModule): MibObject[] {
  const objects: MibObject[] = scalars.map(([name, oid, syntax, convention]) => ({
    module,
    name,
    kind: 'scalar',
    oid: oidOf(oid),
    accessible: true,
    syntax,
    ...(convention && { convention }),
  }));
  for (const table of tables) {
    const entry = oidOf(table.oid);
    objects.push({ module, name: table.entry, kind: 'entry', oid: entry, accessible: false, table });
    for (const [arc, name, syntax, convention] of table.columns) {
      const accessible = !(table.notAccessible ?? []).includes(name);
      const oid = [...entry, arc];
      objects.push({
        module,
        name,
        kind: 'column',
        oid,
        accessible,
        syntax,
        table,
        ...(convention && { convention }),
      });
    }
  }
  return objects;
}

/** The object that `IF-MIB::ifHCInOctets` names; undefined when these tables do not have it. */
export function resolveObject(name: string): MibObject | undefined {
  return mibIndex().byName.get(name);
}

/** The object that an OID names or is an instance of, and the arcs beyond it. */
export function objectAt(oid: Oid): { readonly object: MibObject; readonly instance: Oid } | undefined {
  const { byOid } = mibIndex();
  for (let length = oid.length; length > 0; length -= 1) {
    const object = byOid.get(formatOid(oid.slice(0, length)));
    if (object !== undefined) return { object, instance: oid.slice(length) };
  }
  return undefined;
}

export interface ObjectPath {
  readonly oid: Oid;
  /** Undefined for a numeric OID of an object that has no name here. */
  readonly object?: MibObject;
  /** Arcs beyond the object: `0` of a scalar, an index; empty when the whole column or object is meant. */
  readonly instance: Oid;
}

/** Reads `1.3.6.1.2.1.2.2.1.10`, `IF-MIB::ifName` or `SNMPv2-MIB::sysUpTime.0`; undefined when it is neither. */
export function parseObjectPath(text: string): ObjectPath | undefined {
  const named = /^([A-Za-z][A-Za-z0-9-]*::[A-Za-z][A-Za-z0-9-]*)(?:\.(.+))?$/.exec(text);
  if (named === null) {
    const oid = parseOid(text);
    if (oid === undefined) return undefined;
    const found = objectAt(oid);
    return found === undefined ? { oid, instance: [] } : { oid, ...found };
  }
  const object = resolveObject(named[1] as string);
  const instance = parseArcs(named[2] ?? '');
  return object === undefined || instance === undefined
    ? undefined
    : { oid: [...object.oid, ...instance], object, instance };
}

/** What the index of a column's rows is made of; empty for a scalar. */
export function indexOf(object: MibObject): readonly IndexObject[] {
  if (object.table === undefined) return [];
  const { byShortName } = mibIndex();
  const augmented = object.table.augments;
  const base = augmented === undefined ? object.table : (byShortName.get(augmented)?.table ?? object.table);
  return base.index.flatMap((name) => {
    const implied = name.startsWith('IMPLIED ');
    const indexed = byShortName.get(implied ? name.slice('IMPLIED '.length) : name);
    return indexed === undefined ? [] : [{ object: indexed, implied }];
  });
}

/** Columns with the same key have the same index, so that they make one row: ifTable and ifXTable, for one. */
export function indexKey(object: MibObject): string {
  return indexOf(object)
    .map(({ object: { module, name } }) => `${module}::${name}`)
    .join(' ');
}

/** The 64-bit counter that counts the same as this 32-bit one: ifHCInOctets for ifInOctets. */
export function counter64Of(object: MibObject): MibObject | undefined {
  return object.syntax === 'Counter32'
    ? mibIndex().counter64.get(`${object.module}::${object.name}`)
    : undefined;
}

function oidOf(text: string): Oid {
  const oid = parseOid(text);
  if (oid === undefined) throw new Error(`${text} in a curated MIB is no object identifier`);
  return oid;
}
