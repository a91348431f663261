/** A gNMI mapping's live test: one question to one device, mapped as a stream would map it, and what explains the answer. */
import type { LiveTestFindings, RawUpdate } from '../../core/live-test.ts';
import { compileGnmiMapping, explainSkipped, type GnmiMapping } from '../../core/mapping/compile.ts';
import { GnmiRows } from '../../core/mapping/gnmi-rows.ts';
import type { PathElement } from '../../core/mapping/path.ts';
import { PathIndex } from '../../core/mapping/path-index.ts';
import { PathNumbers } from '../../core/mapping/path-numbers.ts';
import { VALUE } from '../../core/mapping/value.ts';
import { rowTexts } from '../../core/record.ts';
import type { GnmiFault } from '../../protocols/gnmi/grpc-status.ts';
import type { Notification, Value } from '../../protocols/gnmi/notification.ts';
import { type Path, withoutModule } from '../../protocols/gnmi/path.ts';
import type { LiveTester } from '../collection/jobs.ts';
import { type ReadDeviceSecret, readEndpoint } from './device-endpoint.ts';
import type { DialGuard, GnmiEndpoint } from './endpoint.ts';
import { formatUpdatePath, type GnmiTestExplanation, testGnmi } from './live-test.ts';
import { jsonOfLeafList, jsonOfValue } from './value-json.ts';
import { requestPath, unmatchedPaths } from './wanted-paths.ts';

export interface MappingTestOptions {
  readonly guard: DialGuard;
  readonly readSecret: ReadDeviceSecret;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
}

/** Rows that a test shows; people read them. */
const MAX_ROWS = 1_000;
const NANOSECONDS_PER_MILLISECOND = 1_000_000n;

export async function testMapping(
  { device, model, mapping }: Parameters<LiveTester>[0],
  budgetMilliseconds: number,
  options: MappingTestOptions,
): Promise<LiveTestFindings> {
  const compiled = compileGnmiMapping(model.fields, new Map(mapping.fieldMappings));
  const batches: string[] = [];
  const rows = new GnmiRows({
    source: { device: device.configuration.name, deviceId: device.id, modelName: model.name },
    // Paths are given whole.
    numbers: new PathNumbers(new PathIndex(compiled), { prefix: () => [], leaf: () => [] }),
    rule: { kind: 'asked' },
    keepsRows: false,
    maxRows: MAX_ROWS,
    deliver: (batch) => batches.push(...rowTexts(batch)),
  });
  if (compiled.slots.length === 0) {
    const detail = 'the mapping has no path that can be read for a field of the model';
    return findings(compiled, rows, batches, [], NOTHING_ASKED, { code: 'invalid-path', detail });
  }
  let endpoint: GnmiEndpoint;
  try {
    endpoint = await readEndpoint(device, options.readSecret);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const detail = `the device's stored secrets could not be read: ${why}`;
    return findings(compiled, rows, batches, [], NOTHING_ASKED, { code: 'authentication', detail });
  }
  const { notifications, explanation, fault } = await testGnmi(
    { endpoint, netos: device.configuration.netos },
    compiled.slots.map(requestPath),
    { guard: options.guard, deadlineMilliseconds: budgetMilliseconds },
  );
  for (const notification of notifications) feed(rows, notification, options.wallClock());
  rows.close();
  return findings(compiled, rows, batches, notifications, explanation, fault);
}

const NOTHING_ASKED: GnmiTestExplanation = {
  rpc: null,
  encoding: null,
  advertisedEncodings: [],
  sync: false,
  updates: 0,
  milliseconds: 0,
  truncated: false,
  updatesByPath: [],
  attempts: [],
};

function findings(
  mapping: GnmiMapping,
  rows: GnmiRows,
  parsedResults: readonly string[],
  notifications: readonly Notification[],
  explanation: GnmiTestExplanation,
  fault: GnmiFault | undefined,
): LiveTestFindings {
  const { fields } = mapping.layout;
  return {
    error: fault ?? null,
    parsedResults,
    rawUpdates: notifications.flatMap(rawUpdatesOf),
    explanation: {
      protocol: 'gnmi',
      rpc: explanation.rpc ?? '',
      encoding: explanation.encoding ?? '',
      sync: explanation.sync,
      updates: explanation.updates,
      ms: explanation.milliseconds,
      truncated: explanation.truncated || rows.status().drops > 0,
      fields: mapping.slots.map(({ field, text, alternative }, slot) => ({
        field: fields[field]?.name ?? '',
        path: text,
        alternative: alternative + 1,
        updates: rows.updatesOf(slot),
        'coercion-errors': coercionErrorsOf(rows, slot),
      })),
      'unmatched-paths': unmatchedPaths(mapping, rows),
      ...explainSkipped(mapping.skipped),
      'advertised-encodings': explanation.advertisedEncodings,
      attempts: explanation.attempts,
    },
  };
}

function coercionErrorsOf(rows: GnmiRows, slot: number) {
  return [...rows.coercionErrors()].flatMap(([name, count]) => {
    const [slotText, code = ''] = name.split(':');
    return Number(slotText) === slot ? [{ code, count }] : [];
  });
}

function rawUpdatesOf({ timestamp, deletes, updates }: Notification): RawUpdate[] {
  const at = timeText(timestamp);
  return [
    ...deletes.map((path) => ({ timestamp: at, path: formatUpdatePath(path), type: 'delete', value: '' })),
    ...updates.map(({ path, value }) => ({
      timestamp: at,
      path: formatUpdatePath(path),
      type: value === undefined ? 'none' : value.kind.replaceAll('-', '_'),
      value: value === undefined ? '' : textOf(value),
    })),
  ];
}

/** A device's clock may say anything; what is no date is shown as its nanoseconds. */
function timeText(nanoseconds: bigint): string {
  const date = new Date(Number(nanoseconds / NANOSECONDS_PER_MILLISECOND));
  return Number.isNaN(date.getTime()) ? String(nanoseconds) : date.toISOString();
}

function textOf(value: Value): string {
  switch (value.kind) {
    case 'string':
    case 'ascii':
    case 'json':
    case 'json-ietf':
      return value.value;
    case 'bytes':
    case 'any':
    case 'proto-bytes':
      return Buffer.from(value.value).toString('base64');
    case 'float':
    case 'double':
      return String(value.value);
    default:
      return jsonOfValue(value);
  }
}

function feed(rows: GnmiRows, notification: Notification, wallClock: number): void {
  const { hi, lo } = halves(notification.timestamp);
  rows.notification(hi, lo, wallClock, 0);
  for (const { path, value } of notification.updates) {
    if (value !== undefined) feedValue(rows, elementsOf(path), value);
  }
}

function feedValue(rows: GnmiRows, elements: readonly PathElement[], value: Value): void {
  const bits = (kind: number, hi: number, lo: number, start = 0) =>
    rows.updatePath(elements, kind, hi, lo, EMPTY, start, start);
  const octets = (kind: number, bytes: Uint8Array) =>
    rows.updatePath(elements, kind, 0, 0, bytes, 0, bytes.length);
  switch (value.kind) {
    case 'string':
    case 'ascii':
      octets(VALUE.string, Buffer.from(value.value));
      break;
    case 'json':
    case 'json-ietf':
      octets(VALUE.json, Buffer.from(value.value));
      break;
    case 'leaf-list':
      octets(VALUE.json, Buffer.from(jsonOfLeafList(value.values)));
      break;
    case 'bytes':
      octets(VALUE.bytes, value.value);
      break;
    case 'int':
    case 'uint': {
      const { hi, lo } = halves(value.value);
      bits(VALUE[value.kind], hi, lo);
      break;
    }
    case 'decimal': {
      const { hi, lo } = halves(value.digits);
      bits(VALUE.decimal, hi, lo, value.precision);
      break;
    }
    case 'bool':
      bits(VALUE.bool, 0, value.value ? 1 : 0);
      break;
    case 'float':
      view.setFloat32(0, value.value);
      bits(VALUE.float, 0, view.getInt32(0));
      break;
    case 'double':
      view.setFloat64(0, value.value);
      bits(VALUE.double, view.getInt32(0), view.getInt32(4));
      break;
    default:
      octets(VALUE.unsupported, value.value);
  }
}

const EMPTY = new Uint8Array(0);
const view = new DataView(new ArrayBuffer(8));

function halves(value: bigint): { readonly hi: number; readonly lo: number } {
  const bits = BigInt.asUintN(64, value);
  return { hi: Number(bits >> 32n), lo: Number(bits & 0xffffffffn) };
}

function elementsOf({ elem }: Path): PathElement[] {
  return elem.map(({ name, keys }) => ({
    name: withoutModule(name),
    keys: keys.map(([key, value]) => ({ name: withoutModule(key), value })),
  }));
}
