import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { enumerationOf } from '../../../protocols/snmp/enumeration.ts';
import { resolveObject } from '../../../protocols/snmp/mib.ts';

const mibs = join(dirname(createRequire(import.meta.url).resolve('net-snmp')), 'lib/mibs');

describe('names of enumerated integers', () => {
  it('of ifType are those of the IANAifType-MIB', () => {
    const text = readFileSync(join(mibs, 'IANAifType-MIB.mib'), 'utf8').replace(/--.*/g, '');
    const list =
      /IANAifType ::= TEXTUAL-CONVENTION[\s\S]*?SYNTAX\s+INTEGER\s*\{([\s\S]*?)\}/.exec(text)?.[1] ?? '';
    const wanted = [...list.matchAll(/([a-z][\w-]*)\s*\((\d+)\)/gi)].map(([, name, number]) => [
      Number(number),
      name,
    ]);
    expect(wanted.length).toBeGreaterThan(250);
    const object = resolveObject('IF-MIB::ifType');
    const names = object === undefined ? undefined : enumerationOf(object);
    expect(wanted.filter(([number, name]) => names?.get(number as number) !== name)).toEqual([]);
  });
});
