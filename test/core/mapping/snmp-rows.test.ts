import { describe, expect, it } from 'vitest';
import type { FieldType } from '../../../core/mapping/field-type.ts';
import { compileSnmpMapping } from '../../../core/mapping/snmp-mapping.ts';
import { SnmpRows } from '../../../core/mapping/snmp-rows.ts';
import { rowTexts } from '../../../core/record.ts';
import { Tag } from '../../../protocols/snmp/ber.ts';
import { encodeArcs, encodeOid, formatOid, parseOid } from '../../../protocols/snmp/oid.ts';
import { WalkRow } from '../../../protocols/snmp/row-join.ts';
import { halves, recordTexts } from '../../support/mapping/stream.ts';

type Value = readonly [tag: number, value: bigint | string | Uint8Array];

const ARRIVED = Date.parse('2026-11-21T03:00:00.000Z');

function row(index: readonly number[], values: ReadonlyArray<Value | undefined>): WalkRow {
  const view = new WalkRow();
  const indexBytes = Buffer.concat([Buffer.from('##'), encodeArcs(index)]);
  const parts: Uint8Array[] = [Buffer.from('##')];
  let used = 2;
  view.indexBytes = indexBytes;
  view.indexStart = 2;
  view.indexEnd = indexBytes.length;
  view.base = 3;
  view.kinds = new Uint8Array(3 + values.length);
  view.hi = new Uint32Array(3 + values.length);
  view.lo = new Uint32Array(3 + values.length);
  for (const [column, value] of values.entries()) {
    if (value === undefined) continue;
    const [tag, content] = value;
    view.kinds[3 + column] = tag;
    if (typeof content === 'bigint') {
      const { hi, lo } = halves(content);
      view.hi[3 + column] = hi;
      view.lo[3 + column] = lo;
    } else {
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      view.hi[3 + column] = used;
      view.lo[3 + column] = bytes.length;
      used += bytes.length;
      parts.push(bytes);
    }
  }
  view.bytes = Buffer.concat(parts);
  return view;
}

function stream(model: ReadonlyArray<readonly [string, FieldType, string]>, maxRows = 1_000) {
  const mapping = compileSnmpMapping(
    model.map(([name, type]) => ({ name, type })),
    new Map(model.map(([name, , path]) => [name, path])),
  );
  const cycles: Array<Array<{ path: string; key: string; data: string; timestamp: string }>> = [];
  const rows = new SnmpRows({
    source: { device: 'core1', deviceId: 4, modelName: 'interfaces' },
    mapping,
    maxRows,
    deliver: (batch) =>
      cycles.push(
        recordTexts(batch).map((text) => {
          const { path, key, timestamp } = JSON.parse(text) as Record<string, string>;
          const data = text.slice(text.indexOf('"data":') + 7, -1);
          return { path: path as string, key: key as string, timestamp: timestamp as string, data };
        }),
      ),
  });
  return { mapping, rows, cycles };
}

describe('SNMP walks as rows', () => {
  it('asks for columns that share an index together, AUGMENTS joined, and for scalars by instance', () => {
    const { mapping } = stream([
      ['name', 'string', 'IF-MIB::ifName'],
      ['in', 'counter64', 'IF-MIB::ifHCInOctets | IF-MIB::ifInOctets'],
      ['uptime', 'uint32', 'SNMPv2-MIB::sysUpTime.0'],
      ['other', 'int32', '1.3.6.1.4.1.99999.1.2.1.7'],
    ]);
    expect(
      mapping.groups.map(({ walk }) => ('columns' in walk ? walk.columns : walk.instances).map(formatOid)),
    ).toEqual([
      ['1.3.6.1.2.1.1.3.0'],
      ['1.3.6.1.2.1.31.1.1.1.1', '1.3.6.1.2.1.31.1.1.1.6', '1.3.6.1.2.1.2.2.1.10'],
      ['1.3.6.1.4.1.99999.1.2.1.7'],
    ]);
  });

  it('makes a record per index, named by the entry that defines it, with scalars copied in', () => {
    const { rows, cycles } = stream([
      ['index', 'uint32', 'IF-MIB::ifIndex'],
      ['name', 'string', 'IF-MIB::ifName'],
      ['in', 'counter64', 'IF-MIB::ifHCInOctets | IF-MIB::ifInOctets'],
      ['host', 'string', 'SNMPv2-MIB::sysName.0'],
    ]);
    rows.row(0, row([], [[Tag.octetString, 'core1']]), ARRIVED - 5);
    rows.row(
      1,
      row(
        [7],
        [undefined, [Tag.octetString, 'xe-0/0/7'], [Tag.counter64, 2n ** 64n - 1n], [Tag.counter32, 5n]],
      ),
      ARRIVED,
    );
    rows.row(
      1,
      row([70_000], [undefined, undefined, [Tag.noSuchInstance, 0n], [Tag.counter32, 9n]]),
      ARRIVED + 1,
    );
    expect(cycles).toEqual([]);
    rows.close();
    expect(cycles).toEqual([
      [
        {
          path: '1.3.6.1.2.1.2.2.1.7',
          key: '7',
          timestamp: '2026-11-21T03:00:00.000Z',
          data: '{"index":7,"name":"xe-0/0/7","in":18446744073709551615,"host":"core1"}',
        },
        {
          path: '1.3.6.1.2.1.2.2.1.70000',
          key: '70000',
          timestamp: '2026-11-21T03:00:00.001Z',
          data: '{"index":70000,"in":9,"host":"core1"}',
        },
      ],
    ]);
  });

  it('sends scalars alone as one row without key', () => {
    const { rows, cycles } = stream([
      ['uptime', 'uint32', 'SNMPv2-MIB::sysUpTime.0'],
      ['name', 'string', 'SNMPv2-MIB::sysName.0'],
    ]);
    rows.row(
      0,
      row(
        [],
        [
          [Tag.timeTicks, 4_294_967_295n],
          [Tag.octetString, 'core1'],
        ],
      ),
      ARRIVED,
    );
    rows.close();
    expect(cycles[0]).toMatchObject([
      { path: '1.3.6.1.2.1.1', key: '', data: '{"uptime":4294967295,"name":"core1"}' },
    ]);
  });

  it('sends nothing of a walk that was cut short and counts it, then goes on with the next', () => {
    const { rows, cycles } = stream([['in', 'counter32', 'IF-MIB::ifInOctets']]);
    rows.row(1, row([1], [[Tag.counter32, 1n]]), ARRIVED);
    rows.abandon();
    rows.row(1, row([2], [[Tag.counter32, 2n]]), ARRIVED);
    rows.close();
    expect(cycles.map((cycle) => cycle.map(({ key }) => key))).toEqual([['2']]);
    expect(rows.status()).toMatchObject({ cycleIncomplete: 1, cycles: 1, records: 1, updates: 2 });
  });

  it('finds rows again in the next walk, in whatever order and with holes', () => {
    const { rows, cycles } = stream([['in', 'counter32', 'IF-MIB::ifInOctets']]);
    for (const order of [
      [1, 2, 3],
      [1, 2, 3],
      [3, 1],
      [2, 4, 1, 3],
    ]) {
      for (const index of order) rows.row(1, row([index], [[Tag.counter32, BigInt(index * 10)]]), ARRIVED);
      rows.close();
    }
    expect(cycles.map((cycle) => cycle.map(({ key, data }) => `${key} ${data}`))).toEqual([
      ['1 {"in":10}', '2 {"in":20}', '3 {"in":30}'],
      ['1 {"in":10}', '2 {"in":20}', '3 {"in":30}'],
      ['3 {"in":30}', '1 {"in":10}'],
      ['2 {"in":20}', '4 {"in":40}', '1 {"in":10}', '3 {"in":30}'],
    ]);
    expect(rows.status().rows).toBe(4);
  });

  it('writes addresses, identifiers, TruthValues and Opaque floats by the type of their field', () => {
    const { rows, cycles } = stream([
      ['mac', 'string', 'IF-MIB::ifPhysAddress'],
      ['mac2', 'mac-address', 'IF-MIB::ifPhysAddress'],
      ['raw', 'bytes', 'IF-MIB::ifPhysAddress'],
      ['up', 'boolean', 'IF-MIB::ifPromiscuousMode'],
      ['oid', 'string', 'IF-MIB::ifSpecific'],
      ['address', 'ip-address', '1.3.6.1.4.1.99999.1.1.1.999'],
      ['load', 'float', 'IF-MIB::ifOutQLen'],
      ['unnamed', 'int8', '1.3.6.1.2.1.2.2.1.99'],
    ]);
    const mac = Uint8Array.of(0, 0x1b, 0xff, 1, 2, 3);
    rows.row(
      1,
      row(
        [1],
        [
          [Tag.octetString, mac],
          [Tag.integer, 2n],
          [Tag.objectIdentifier, encodeOid(parseOid('1.3.6.1.4.1.9') ?? [])],
          [Tag.opaque, Uint8Array.of(0x9f, 0x78, 4, 0x41, 0xa3, 0x33, 0x33)],
          [Tag.integer, 2n ** 64n - 3n],
        ],
      ),
      ARRIVED,
    );
    rows.row(2, row([1], [[Tag.ipAddress, Uint8Array.of(192, 0, 2, 1)]]), ARRIVED);
    rows.close();
    expect(cycles[0]?.map(({ data }) => data)).toEqual([
      '{"mac":"00:1b:ff:01:02:03","mac2":"00:1b:ff:01:02:03","raw":"ABv/AQID","up":false,"oid":"1.3.6.1.4.1.9","load":20.4,"unnamed":-3}',
      '{"address":"192.0.2.1"}',
    ]);
  });

  it('skips by name what cannot be read and tells what nothing came from', () => {
    const { mapping, rows } = stream([
      ['a', 'string', 'ifNoSuch'],
      ['b', 'string', 'IF-MIB::ifEntry | IF-MIB::ifName'],
      ['c', 'counter32', 'IF-MIB::ifInOctets'],
    ]);
    expect(mapping.skipped.map(({ field, path }) => `${field} ${path}`)).toEqual([
      'a ifNoSuch',
      'b IF-MIB::ifEntry',
    ]);
    rows.row(1, row([1], [[Tag.octetString, 'x'], undefined]), ARRIVED);
    rows.close();
    expect(rows.unmatchedPaths()).toEqual(['IF-MIB::ifInOctets']);
  });

  it('gives enumerated integers their names where a field wants text, and keeps unknown numbers', () => {
    const { rows, cycles } = stream([
      ['oper-status', 'string', 'IF-MIB::ifOperStatus'],
      ['admin-status', 'uint8', 'IF-MIB::ifAdminStatus'],
      ['promiscuous', 'string', 'IF-MIB::ifPromiscuousMode'],
    ]);
    for (const [index, status] of [
      [1, 7n],
      [2, 99n],
    ] as const) {
      rows.row(
        1,
        row(
          [index],
          [
            [Tag.integer, status],
            [Tag.integer, 2n],
            [Tag.integer, 1n],
          ],
        ),
        ARRIVED,
      );
    }
    rows.close();
    expect(cycles[0]?.map(({ data }) => data)).toEqual([
      '{"oper-status":"lowerLayerDown","admin-status":2,"promiscuous":"true"}',
      '{"oper-status":"99","admin-status":2,"promiscuous":"true"}',
    ]);
  });

  it('shows its newest rows between cycles, and changes nothing by it', () => {
    const { rows, cycles } = stream([
      ['in', 'counter32', 'IF-MIB::ifInOctets'],
      ['name', 'string', 'SNMPv2-MIB::sysName.0'],
    ]);
    const shown = () => rowTexts(rows.latest()).map((text) => text.slice(text.indexOf('"data"') + 7, -1));
    expect(shown()).toEqual([]);
    rows.row(0, row([], [[Tag.octetString, 'leaf1']]), ARRIVED);
    for (const index of [1, 2]) rows.row(1, row([index], [[Tag.counter32, 10n]]), ARRIVED);
    rows.close();
    const whole = ['{"in":10,"name":"leaf1"}', '{"in":10,"name":"leaf1"}'];
    expect(shown()).toEqual(whole);
    // A poll under way: what it has brought is newer. One that is cut short takes no row away.
    rows.row(1, row([1], [[Tag.counter32, 11n]]), ARRIVED);
    expect(shown()).toEqual(['{"in":11,"name":"leaf1"}', whole[1]]);
    rows.abandon();
    expect(shown()).toHaveLength(2);
    // The second row is gone from the device.
    rows.row(1, row([1], [[Tag.counter32, 12n]]), ARRIVED);
    rows.close();
    expect(shown()).toEqual(['{"in":12}']);
    expect(cycles.length).toBe(2);
    rows.close();
    expect(shown()).toEqual([]);
  });

  it('drops and counts rows beyond its bound', () => {
    const { rows, cycles } = stream([['in', 'counter32', 'IF-MIB::ifInOctets']], 2);
    for (const index of [1, 2, 3]) rows.row(1, row([index], [[Tag.counter32, 1n]]), ARRIVED);
    rows.close();
    expect(cycles[0]?.length).toBe(2);
    expect(rows.status().drops).toBe(1);
  });
});
