import { describe, expect, it } from 'vitest';
import { type ExactJson, parseExactJson } from '../../../core/exact-json.ts';
import type { CycleRule } from '../../../core/mapping/clock.ts';
import { dataHash } from '../../../core/record.ts';
import {
  elementsOf,
  halves,
  readVectors,
  type StreamOptions,
  TestStream,
  type WrittenValue,
} from '../../support/mapping/stream.ts';

interface Step {
  /** The collector's monotonic clock, ms. */
  readonly at: number;
  /** The notification's timestamp, ns since the epoch. */
  readonly time?: string;
  readonly deletes?: readonly string[];
  readonly updates?: ReadonlyArray<readonly [path: string, value: WrittenValue]>;
  readonly sync?: true;
  readonly tick?: true;
  readonly close?: true;
}

interface Vector {
  readonly sentence: string;
  readonly fields: StreamOptions['fields'];
  readonly mapping: StreamOptions['mapping'];
  readonly rule: 'sample' | 'on-change' | 'asked';
  readonly intervalMilliseconds?: number;
  readonly keepsRows?: boolean;
  readonly steps: readonly Step[];
  /** Each cycle's records; `data` is JSON text, so that digits and order count. */
  readonly cycles: ReadonlyArray<
    ReadonlyArray<Partial<Record<'path' | 'key' | 'timestamp' | 'data', string>>>
  >;
  readonly status?: Record<string, number>;
}

/** The collector's clock in every vector: 2023-11-14T22:13:20Z. */
const WALL_CLOCK = 1_700_000_000_000;

function play(vector: Vector, byNumber: boolean): TestStream {
  const rule: CycleRule =
    vector.rule === 'sample'
      ? { kind: 'sample', intervalMilliseconds: vector.intervalMilliseconds ?? 10_000 }
      : { kind: vector.rule };
  const stream = new TestStream(
    { ...vector, rule, keepsRows: vector.keepsRows ?? vector.rule === 'on-change' },
    byNumber,
  );
  for (const step of vector.steps) {
    if (step.time !== undefined) {
      const { hi, lo } = halves(BigInt(step.time));
      stream.rows.notification(hi, lo, WALL_CLOCK, step.at);
    }
    for (const path of step.deletes ?? []) stream.rows.delete(elementsOf(path));
    for (const [path, value] of step.updates ?? []) stream.update(path, value);
    if (step.sync) stream.rows.sync();
    if (step.tick) stream.rows.tick(step.at);
    if (step.close) stream.rows.close();
  }
  return stream;
}

function shown(record: string, wanted: Record<string, unknown>): Record<string, string> {
  const members = parseExactJson(record) as Map<string, ExactJson>;
  const all: Record<string, string> = {};
  for (const name of ['path', 'key', 'timestamp']) all[name] = members.get(name) as string;
  all['data'] = record.slice(record.indexOf('"data":{') + 7, -1);
  return Object.fromEntries(Object.keys(wanted).map((name) => [name, all[name] as string]));
}

for (const file of ['rows', 'cycles', 'records']) {
  describe(`the mapping engine: ${file}`, () => {
    for (const vector of readVectors<Vector>(file)) {
      for (const byNumber of [true, false]) {
        it(`${vector.sentence} (${byNumber ? 'by interned numbers' : 'by whole paths'})`, () => {
          const stream = play(vector, byNumber);
          const cycles = stream.cycles.map((records, cycle) =>
            records.map((record, at) =>
              shown(record, vector.cycles[cycle]?.[at] ?? { path: '', key: '', data: '' }),
            ),
          );
          expect(cycles).toEqual(vector.cycles);
          expect(stream.rows.status()).toMatchObject(vector.status ?? {});
          for (const record of stream.cycles.flat()) {
            const members = parseExactJson(record) as Map<string, ExactJson>;
            expect([...members.keys()]).toEqual([
              'device',
              'device-id',
              'model-name',
              'path',
              'key',
              'timestamp',
              'data-hash',
              'data',
            ]);
            expect(members.get('data-hash')).toBe(dataHash(members.get('data') as ExactJson));
          }
        });
      }
    }
  });
}

describe('the mapping engine before a device that repeats itself', () => {
  const fields = [
    { name: 'in', type: 'counter64' },
    { name: 'status', type: 'string' },
  ] as const;
  const mapping = { in: '/i/in', status: '/i/status' };

  it('takes a leaf that arrives again too early for the same cycle, with its newer value, and counts the older one', () => {
    const rule = { kind: 'sample', intervalMilliseconds: 10_000, shortestMilliseconds: 1_000 } as const;
    const stream = new TestStream({ fields, mapping, rule, keepsRows: false }, true);
    const tell = (at: number, value: string) => {
      const { hi, lo } = halves(BigInt(WALL_CLOCK + at) * 1_000_000n);
      stream.rows.notification(hi, lo, WALL_CLOCK + at, at);
      stream.update('/i[n=a]/in', { uint: value });
    };
    for (let at = 0; at < 2_000; at += 100) tell(at, String(at));
    stream.rows.close();
    const data = stream.cycles.map(([record]) => record?.slice(record.indexOf('"data":') + 7, -1));
    expect(data).toEqual(['{"in":900}', '{"in":1900}']);
    expect(stream.rows.status()).toMatchObject({ updates: 20, records: 2, drops: 18 });
  });

  it('forgets after a new beginning what it is not told again, in the slots that were told, and says so', () => {
    const stream = new TestStream({ fields, mapping, rule: { kind: 'on-change' }, keepsRows: true }, true);
    const { hi, lo } = halves(BigInt(WALL_CLOCK) * 1_000_000n);
    const tell = (row: string, leaf: string, value: WrittenValue) => {
      stream.rows.notification(hi, lo, WALL_CLOCK, 0);
      stream.update(`/i[n=${row}]/${leaf}`, value);
    };
    stream.rows.restart();
    for (const row of ['a', 'b']) {
      tell(row, 'in', { uint: '1' });
      tell(row, 'status', { string: 'UP' });
    }
    stream.rows.sync();
    const mark = stream.rows.restart();
    tell('a', 'in', { uint: '2' });
    stream.rows.retold([0], mark);
    stream.rows.sync();
    const data = stream.cycles.map((records) =>
      records.map((record) => record.slice(record.indexOf('"data":') + 7, -1)),
    );
    expect(data).toEqual([
      ['{"in":1,"status":"UP"}', '{"in":1,"status":"UP"}'],
      ['{"in":2,"status":"UP"}', '{"status":"UP"}'],
    ]);
    const again = stream.rows.restart();
    stream.rows.retold([0, 1], again);
    stream.rows.sync();
    expect(stream.cycles[2]?.map((record) => record.slice(record.indexOf('"data":') + 7, -1))).toEqual([
      '{}',
      '{}',
    ]);
  });
});
