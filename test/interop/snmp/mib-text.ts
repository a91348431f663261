/**
 * The curated names held against MIB texts of others: pysnmp-mibs (PyPI 0.1.6, compiled from the IETF's own texts) and,
 * for its own MIB, the text that Net-SNMP installs. LLDP-MIB is in neither: `npm test` holds it against a vector of its
 * IEEE text.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MibModule, Syntax } from '../../../protocols/snmp/mib.ts';
import { pythonEnvironment } from '../../support/install.ts';

/** What a source says of an object: `oid`, and the base syntax when its convention is followed to the end. */
interface SourceObject {
  readonly oid: string;
  readonly syntax: string;
}

/** The base types of conventions that RFC 2579 and RFC 3411 define; the package has no text of these. */
const SMI_CONVENTIONS: Readonly<Record<string, Syntax>> = {
  DisplayString: 'OctetString',
  PhysAddress: 'OctetString',
  MacAddress: 'OctetString',
  DateAndTime: 'OctetString',
  TAddress: 'OctetString',
  SnmpAdminString: 'OctetString',
  SnmpEngineID: 'OctetString',
  TruthValue: 'Integer32',
  TestAndIncr: 'Integer32',
  TimeInterval: 'Integer32',
  RowStatus: 'Integer32',
  StorageType: 'Integer32',
  Integer: 'Integer32',
  TimeStamp: 'TimeTicks',
  AutonomousType: 'ObjectIdentifier',
  RowPointer: 'ObjectIdentifier',
  TDomain: 'ObjectIdentifier',
};

export function modulesDirectory(): string {
  const environment = join(pythonEnvironment(['pysnmp-mibs==0.1.6']), '..', 'lib');
  const python = readdirSync(environment).find((name) => name.startsWith('python'));
  return join(environment, python ?? '', 'site-packages', 'pysnmp_mibs');
}

/** Differences between a curated module and its source, and how many objects were compared. */
export function compareModule(
  module: MibModule,
  directory: string,
): { compared: number; differences: string[] } {
  const path = join(directory, `${module.name}.py`);
  if (!existsSync(path)) return { compared: 0, differences: [`${module.name}: no source`] };
  const text = readFileSync(path, 'utf8');
  const conventions = conventionsOf(module.name, directory, new Set());
  const objects = new Map<string, SourceObject>();
  for (const [, name, oid, syntax] of text.matchAll(
    /^(\w+) = Mib(?:Scalar|TableColumn)\(\(([\d, ]+)\), (\w+)\(/gm,
  )) {
    objects.set(name as string, { oid: dotted(oid), syntax: baseOf(syntax as string, conventions) });
  }
  const differences: string[] = [];
  let compared = 0;
  const compare = (name: string, oid: string, syntax: string) => {
    const source = objects.get(name);
    compared += 1;
    if (source?.oid !== oid || source.syntax !== syntax) {
      differences.push(
        `${module.name}::${name}: ${oid} ${syntax}, the source has ${source?.oid} ${source?.syntax}`,
      );
    }
  };
  for (const [name, oid, syntax] of module.scalars) compare(name, oid, syntax);
  for (const table of module.tables) {
    for (const [arc, name, syntax] of table.columns) compare(name, `${table.oid}.${arc}`, syntax);
    const index = indexOf(table.entry, text);
    if (table.augments === undefined && index !== table.index.join(' ')) {
      differences.push(`${table.entry}: index ${table.index.join(' ')}, the source has ${index}`);
    }
  }
  return { compared, differences };
}

function indexOf(entry: string, text: string): string {
  const row =
    new RegExp(`^${entry} = MibTableRow\\(.*?\\)\\.setIndexNames\\((.*)\\)$`, 'm').exec(text)?.[1] ?? '';
  return [...row.matchAll(/\((\d), "[^"]+", "(\w+)"\)/g)]
    .map(([, implied, name]) => (implied === '1' ? `IMPLIED ${name}` : name))
    .join(' ');
}

/** Conventions of a module and of those that it imports from: name to what it is made of. */
function conventionsOf(name: string, directory: string, seen: Set<string>): Map<string, string> {
  const path = join(directory, `${name}.py`);
  const found = new Map<string, string>();
  if (seen.has(name) || !existsSync(path)) return found;
  seen.add(name);
  const text = readFileSync(path, 'utf8');
  for (const [, imported] of text.matchAll(/importSymbols\("([^"]+)"/g)) {
    for (const [key, base] of conventionsOf(imported as string, directory, seen)) found.set(key, base);
  }
  for (const [, key, base] of text.matchAll(/^class (\w+)\((\w+)/gm))
    found.set(key as string, base as string);
  return found;
}

function baseOf(syntax: string, conventions: ReadonlyMap<string, string>): string {
  for (let base: string | undefined = syntax, steps = 0; base !== undefined && steps < 8; steps += 1) {
    const known = SMI_CONVENTIONS[base];
    if (known !== undefined) return known;
    const next = conventions.get(base);
    if (next === undefined) return base;
    base = next;
  }
  return syntax;
}

function dotted(tuple: string | undefined): string {
  return (tuple ?? '')
    .split(',')
    .map((arc) => arc.trim())
    .filter((arc) => arc !== '')
    .join('.');
}
