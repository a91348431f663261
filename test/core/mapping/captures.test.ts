import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { ExactNumber, parseExactJson } from '../../../core/exact-json.ts';
import { compileGnmiMapping } from '../../../core/mapping/compile.ts';
import type { FieldType } from '../../../core/mapping/field-type.ts';
import { GnmiRows } from '../../../core/mapping/gnmi-rows.ts';
import { parseGnmiPath, withoutModule } from '../../../core/mapping/path.ts';
import { PathIndex } from '../../../core/mapping/path-index.ts';
import { PathNumbers } from '../../../core/mapping/path-numbers.ts';
import { decodeSubscribeResponse, type Update, type Value } from '../../../protocols/gnmi/notification.ts';
import { SubscribeResponseSchema } from '../../../protocols/gnmi/schema.ts';
import { bareName, type Capture, type ExpectedRecord, readCaptures } from '../../support/gnmi-captures.ts';
import {
  feedValue,
  halves,
  recordTexts,
  TestPaths,
  type WrittenValue,
} from '../../support/mapping/stream.ts';

type Model = ReadonlyArray<readonly [name: string, type: FieldType, path: string]>;

const models = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../vectors/mapping/capture-models.json'), 'utf8'),
) as Record<string, Model>;

const captures = readCaptures();
if (captures === undefined) console.log('skipped: GRATICULE_VECTORS is not set, no captures to map');

interface Row {
  readonly timestamp: string;
  readonly keys: readonly string[];
  /** By the last part of the field's path, as Telegraf names it. */
  readonly values: ReadonlyArray<readonly [name: string, value: unknown]>;
}

describe.skipIf(captures === undefined)('the public captures through models', () => {
  it.each((captures ?? []).map((capture) => [capture.name, capture] as const))(
    '%s gives records with the values that it says',
    (name, capture) => {
      const rows = rowsOf(capture, models[name] as Model);
      expect(capture.expected.length).toBeGreaterThan(0);
      const unmatched = capture.expected.filter((record) => !rows.some((row) => says(row, record)));
      expect(unmatched).toEqual([]);
    },
  );
});

function rowsOf(capture: Capture, model: Model): Row[] {
  const fields = model.map(([name, type]) => ({ name, type }));
  const mapping = compileGnmiMapping(fields, new Map(model.map(([name, , path]) => [name, path])));
  expect(mapping.skipped).toEqual([]);
  const rows: Row[] = [];
  const stream = new GnmiRows({
    source: { device: 'dummy', deviceId: 1, modelName: capture.name },
    numbers: new PathNumbers(new PathIndex(mapping), new TestPaths()),
    rule: { kind: 'asked' },
    keepsRows: true,
    maxRows: 10_000,
    deliver: (batch) => rows.push(...recordTexts(batch).map((text) => rowOf(text, model))),
  });
  for (const message of capture.responses) {
    const response = decodeSubscribeResponse(toBinary(SubscribeResponseSchema, message));
    if (response.kind !== 'notification') continue;
    const { timestamp, deletes, updates } = response.notification;
    const { hi, lo } = halves(timestamp);
    stream.notification(hi, lo, Number(timestamp / 1_000_000n), 0);
    for (const path of deletes) stream.delete(elementsOf(path.elem));
    for (const update of updates) feed(stream, update);
    stream.close();
  }
  return rows;
}

function feed(stream: GnmiRows, { path, value }: Update): void {
  if (value === undefined) return;
  const { kind, hi, lo, bytes, start, end } = feedValue(written(value));
  stream.updatePath(elementsOf(path.elem), kind, hi, lo, bytes, start, end);
}

function elementsOf(elem: Update['path']['elem']) {
  return elem.map(({ name, keys }) => ({
    name: withoutModule(name),
    keys: keys.map(([key, value]) => ({ name: withoutModule(key), value })),
  }));
}

function written(value: Value): WrittenValue {
  switch (value.kind) {
    case 'string':
    case 'ascii':
      return { string: value.value };
    case 'json':
    case 'json-ietf':
      return { json: value.value };
    case 'int':
      return { int: String(value.value) };
    case 'uint':
      return { uint: String(value.value) };
    case 'bool':
      return { bool: value.value };
    case 'float':
      return { float: value.value };
    case 'double':
      return { double: value.value };
    case 'decimal':
      return { decimal: [String(value.digits), value.precision] };
    default:
      throw new Error(`no capture has a ${value.kind}`);
  }
}

function rowOf(text: string, model: Model): Row {
  const record = parseExactJson(text) as Map<string, unknown>;
  const path = record.get('path') as string;
  const data = record.get('data') as Map<string, unknown>;
  const parsed = path === '/' ? undefined : parseGnmiPath(path);
  const elements = parsed === undefined || 'code' in parsed ? [] : parsed.elements;
  return {
    timestamp: record.get('timestamp') as string,
    keys: elements.flatMap(({ keys }) => keys.map(({ value }) => value)),
    values: [...data].map(([field, value]) => {
      const fieldPath = (model.find(([name]) => name === field) as Model[number])[2];
      return [bareName(fieldPath), value instanceof ExactNumber ? value.source : value];
    }),
  };
}

/** A record's time, every value, and every key and joined value among its tags. */
function says(row: Row, { timestamp, fields, tags }: ExpectedRecord): boolean {
  if (row.timestamp !== new Date(Number(timestamp / 1_000_000n)).toISOString()) return false;
  const labels = [...tags].filter(([name]) => name !== 'source' && name !== 'path').map(([, value]) => value);
  const isKnown = (label: string) =>
    row.keys.includes(label) || row.values.some(([, value]) => String(value) === label);
  return (
    labels.every(isKnown) &&
    fields.every((field) =>
      row.values.some(([name, value]) => name === field.name && isSame(value, field.value)),
    )
  );
}

/** Telegraf widens what is a float32 or a decimal to a double. */
function isSame(ours: unknown, theirs: string | bigint | number | boolean): boolean {
  if (typeof theirs === 'number') return Number(ours) === theirs || Math.fround(Number(ours)) === theirs;
  return String(ours) === String(theirs);
}
