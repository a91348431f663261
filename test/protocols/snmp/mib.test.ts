import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  counter64Of,
  indexKey,
  indexOf,
  MIB_MODULES,
  type MibObject,
  objectAt,
  parseObjectPath,
  resolveObject,
} from '../../../protocols/snmp/mib.ts';
import { decodeIndex } from '../../../protocols/snmp/mib-index.ts';
import { formatOid, parseArcs } from '../../../protocols/snmp/oid.ts';
import {
  decodeBits,
  decodeOpaqueNumber,
  formatDateAndTime,
  formatInetAddress,
  formatIpv6,
  formatMac,
} from '../../../protocols/snmp/textual-convention.ts';

const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));

function named(name: string): MibObject {
  const object = resolveObject(name);
  if (object === undefined) throw new Error(`${name} is not in the curated tables`);
  return object;
}

function decoded(name: string, index: string): string {
  const result = decodeIndex(named(name), parseArcs(index) ?? []);
  return result.ok
    ? result.values.map(({ object, text }) => `${object.name}=${text}`).join(' ')
    : result.reason;
}

interface ModuleVector {
  readonly conventions: Readonly<Record<string, string>>;
  readonly scalars: Readonly<Record<string, readonly [name: string, syntax: string]>>;
  readonly tables: Readonly<
    Record<
      string,
      {
        readonly entry: string;
        readonly index: readonly string[];
        readonly notAccessible: readonly string[];
        readonly columns: ReadonlyArray<readonly [name: string, syntax: string]>;
      }
    >
  >;
}

describe('LLDP-MIB, which no package has', () => {
  it('has the OIDs, syntaxes and indexes of the text of IEEE 802.1AB', () => {
    const vector = JSON.parse(
      readFileSync(join(import.meta.dirname, '../../vectors/snmp/lldp-mib.json'), 'utf8'),
    ) as ModuleVector;
    const root = '1.0.8802.1.1.2.1';
    const base = (syntax: string) => vector.conventions[syntax];
    const module = MIB_MODULES.find(({ name }) => name === 'LLDP-MIB');
    expect(module?.scalars.map(([name, oid, syntax]) => [name, oid, syntax])).toEqual(
      Object.entries(vector.scalars).map(([arcs, [name, syntax]]) => [name, `${root}.${arcs}`, base(syntax)]),
    );
    expect(
      module?.tables.map(({ entry, oid, index, notAccessible, columns }) => ({
        entry,
        oid,
        index,
        notAccessible,
        columns: columns.map(([arc, name, syntax]) => [arc, name, syntax]),
      })),
    ).toEqual(
      Object.entries(vector.tables).map(([arcs, { columns, ...table }]) => ({
        ...table,
        oid: `${root}.${arcs}`,
        columns: columns.map(([name, syntax], at) => [at + 1, name, base(syntax)]),
      })),
    );
  });
});

describe('the curated names', () => {
  it('stand for the OIDs of their RFCs', () => {
    const oids: Record<string, string> = {
      'SNMPv2-MIB::sysUpTime': '1.3.6.1.2.1.1.3',
      'IF-MIB::ifHCInOctets': '1.3.6.1.2.1.31.1.1.1.6',
      'IP-MIB::ipAddressIfIndex': '1.3.6.1.2.1.4.34.1.3',
      'ENTITY-MIB::entPhysicalName': '1.3.6.1.2.1.47.1.1.1.1.7',
      'ENTITY-SENSOR-MIB::entPhySensorValue': '1.3.6.1.2.1.99.1.1.1.4',
      'BGP4-MIB::bgpPeerState': '1.3.6.1.2.1.15.3.1.2',
      'OSPF-MIB::ospfNbrState': '1.3.6.1.2.1.14.10.1.6',
      'HOST-RESOURCES-MIB::hrProcessorLoad': '1.3.6.1.2.1.25.3.3.1.2',
      'LLDP-MIB::lldpRemSysName': '1.0.8802.1.1.2.1.4.1.1.9',
      'UCD-SNMP-MIB::laLoad': '1.3.6.1.4.1.2021.10.1.3',
    };
    for (const [name, oid] of Object.entries(oids)) expect(formatOid(named(name).oid), name).toBe(oid);
    expect(resolveObject('IF-MIB::ifNonsense')).toBeUndefined();
  });

  it('are unique, as are their OIDs', () => {
    const oids = MIB_MODULES.flatMap(({ scalars, tables }) => [
      ...scalars.map(([, oid]) => oid),
      ...tables.flatMap(({ oid, columns }) => columns.map(([arc]) => `${oid}.${arc}`)),
    ]);
    expect(new Set(oids).size).toBe(oids.length);
    expect(oids.length).toBeGreaterThan(600);
  });

  it('of IF-MIB agree with the text that npm net-snmp carries, name by name', () => {
    const directory = dirname(createRequire(import.meta.url).resolve('net-snmp'));
    const text = readFileSync(join(directory, 'lib/mibs/IF-MIB.mib'), 'utf8').replace(/--.*$/gm, '');
    const places = new Map<string, string>();
    for (const [, name, parent, arc] of text.matchAll(
      /^(\w+)\s+OBJECT-TYPE[\s\S]*?::=\s*\{\s*(\w+)\s+(\d+)\s*\}/gm,
    )) {
      places.set(name as string, `${parent} ${arc}`);
    }
    const module = MIB_MODULES.find(({ name }) => name === 'IF-MIB');
    const columns = (module?.tables ?? []).flatMap((table) =>
      table.columns.map(([arc, name]) => [name, `${table.entry} ${arc}`] as const),
    );
    expect(columns.length).toBeGreaterThan(40);
    for (const [name, place] of columns) expect(places.get(name), name).toBe(place);
  });

  it('are found for a numeric OID, with what lies beyond as the instance', () => {
    expect(objectAt([1, 3, 6, 1, 2, 1, 2, 2, 1, 10, 3])).toMatchObject({
      object: { name: 'ifInOctets', kind: 'column' },
      instance: [3],
    });
    expect(objectAt([1, 3, 6, 1, 4, 1, 9])).toBeUndefined();
  });

  it('are read in paths, numeric paths too', () => {
    expect(parseObjectPath('SNMPv2-MIB::sysUpTime.0')).toMatchObject({
      oid: [1, 3, 6, 1, 2, 1, 1, 3, 0],
      object: { kind: 'scalar' },
      instance: [0],
    });
    expect(parseObjectPath('.1.3.6.1.2.1.31.1.1.1.6')).toMatchObject({
      object: { name: 'ifHCInOctets' },
      instance: [],
    });
    expect(parseObjectPath('1.3.6.1.4.1.9.9')).toEqual({ oid: [1, 3, 6, 1, 4, 1, 9, 9], instance: [] });
    for (const path of [
      '',
      'ifName',
      'IF-MIB::',
      'IF-MIB::nothing',
      'IF-MIB::ifName.x',
      '/interfaces',
      '1.3.x',
    ]) {
      expect(parseObjectPath(path), path).toBeUndefined();
    }
  });

  it('know the index of each column, AUGMENTS and shared indexes included', () => {
    const names = (name: string) => indexOf(named(name)).map(({ object }) => object.name);
    expect(names('IF-MIB::ifHCInOctets')).toEqual(['ifIndex']);
    expect(indexKey(named('IF-MIB::ifHCInOctets'))).toBe(indexKey(named('IF-MIB::ifDescr')));
    expect(indexKey(named('ENTITY-SENSOR-MIB::entPhySensorValue'))).toBe(
      indexKey(named('ENTITY-MIB::entPhysicalName')),
    );
    expect(names('HOST-RESOURCES-MIB::hrSWRunPerfCPU')).toEqual(['hrSWRunIndex']);
    expect(names('IP-MIB::ipNetToPhysicalPhysAddress')).toHaveLength(3);
    expect(names('SNMPv2-MIB::sysName')).toEqual([]);
    for (const { tables } of MIB_MODULES) {
      for (const table of tables) {
        const entry = objectAt(parseArcs(table.oid) ?? [])?.object;
        expect(entry && indexOf(entry).length, table.entry).toBe(table.augments ? 1 : table.index.length);
      }
    }
  });

  it('know which 64-bit counter stands beside a 32-bit one', () => {
    expect(counter64Of(named('IF-MIB::ifInOctets'))?.name).toBe('ifHCInOctets');
    expect(counter64Of(named('IF-MIB::ifOutBroadcastPkts'))?.name).toBe('ifHCOutBroadcastPkts');
    expect(counter64Of(named('IP-MIB::ipSystemStatsInReceives'))?.name).toBe('ipSystemStatsHCInReceives');
    expect(counter64Of(named('IF-MIB::ifInErrors'))).toBeUndefined();
  });
});

describe('an index', () => {
  it('is decoded by what its objects are', () => {
    expect(decoded('IF-MIB::ifName', '3')).toBe('ifIndex=3');
    expect(decoded('BGP4-MIB::bgpPeerState', '192.0.2.1')).toBe('bgpPeerRemoteAddr=192.0.2.1');
    expect(decoded('IF-MIB::ifRcvAddressStatus', '2.6.0.17.34.51.68.85')).toBe(
      'ifIndex=2 ifRcvAddressAddress=00:11:22:33:44:55',
    );
    expect(decoded('IP-MIB::ipAddressIfIndex', '1.4.10.0.0.1')).toBe(
      'ipAddressAddrType=1 ipAddressAddr=10.0.0.1',
    );
    expect(decoded('IP-MIB::ipAddressIfIndex', '2.16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.1')).toBe(
      'ipAddressAddrType=2 ipAddressAddr=2001:db8::1',
    );
    expect(decoded('IP-MIB::ipNetToPhysicalPhysAddress', '7.1.4.10.0.0.9')).toContain(
      'ipNetToPhysicalNetAddress=10.0.0.9',
    );
    expect(decoded('OSPF-MIB::ospfNbrState', '10.0.0.2.0')).toBe(
      'ospfNbrIpAddr=10.0.0.2 ospfNbrAddressLessIndex=0',
    );
    expect(decoded('LLDP-MIB::lldpRemSysName', '0.5.1')).toBe(
      'lldpRemTimeMark=0 lldpRemLocalPortNum=5 lldpRemIndex=1',
    );
    expect(decoded('UCD-SNMP-MIB::mrModuleName', '1.3.6.1')).toBe('mrIndex=1.3.6.1');
  });

  it('of an address whose length an agent left out is decoded by its type', () => {
    expect(decoded('IP-MIB::ipAddressIfIndex', '1.10.0.0.1')).toBe(
      'ipAddressAddrType=1 ipAddressAddr=10.0.0.1',
    );
  });

  it('that is too short, too long or out of range is a reason', () => {
    expect(decoded('IF-MIB::ifName', '')).toContain('ends within ifIndex');
    expect(decoded('IF-MIB::ifName', '3.4')).toContain('left behind');
    expect(decoded('BGP4-MIB::bgpPeerState', '192.0.2.300')).toContain('ends within');
    expect(decoded('SNMPv2-MIB::sysName', '0')).toContain('no index');
  });
});

describe('textual conventions', () => {
  it('write addresses as RFC 5952 and RFC 4001 do', () => {
    expect(formatIpv6(bytes('20010db8000000000001000000000001'))).toBe('2001:db8::1:0:0:1');
    expect(formatIpv6(bytes('00000000000000000000000000000000'))).toBe('::');
    expect(formatIpv6(bytes('20010db8000100010001000100010000'))).toBe('2001:db8:1:1:1:1:1:0');
    expect(formatInetAddress(3, bytes('0a00000100000007'))).toBe('10.0.0.1%7');
    expect(formatInetAddress(1, bytes('0a0000'))).toBeUndefined();
    expect(formatMac(bytes('00AAbb'))).toBe('00:aa:bb');
  });

  it('read DateAndTime with and without a zone, and refuse what is no date', () => {
    expect(formatDateAndTime(bytes('07ea0b150c1e0f05'))).toBe('2026-11-21T12:30:15.500Z');
    expect(formatDateAndTime(bytes('07ea0b150c1e0f052b0200'))).toBe('2026-11-21T10:30:15.500Z');
    expect(formatDateAndTime(bytes('07ea0b150c1e0f052d051e'))).toBe('2026-11-21T18:00:15.500Z');
    for (const text of ['', '07ea0b15', '07ea0d150c1e0f05', '07ea021f0c1e0f05', '07ea0b150c1e0f05200200']) {
      expect(formatDateAndTime(bytes(text)), text).toBeUndefined();
    }
  });

  it('read numbers in Opaque, and bits', () => {
    expect(decodeOpaqueNumber(bytes('9f78043ede0000'))).toBeCloseTo(0.4335, 3);
    expect(decodeOpaqueNumber(bytes('9f79083fe0000000000000'))).toBe(0.5);
    expect(decodeOpaqueNumber(bytes('9f7804'))).toBeUndefined();
    expect(decodeBits(bytes('a001'))).toEqual([0, 2, 15]);
  });
});
