/** The newest rows of a model on all devices that are collected for it, as people ask for them: JSON or CSV. */
import { canonicalJson, type ExactJson, ExactNumber, parseExactJson } from './exact-json.ts';

export const SNAPSHOT_FORMATS = ['json', 'csv'] as const;

/** RFC 4180, RFC 7111. */
export const CSV_TYPE = 'text/csv; charset=utf-8';

/** What one worker has of one device; no rows: why. */
export interface DeviceRows {
  readonly deviceId: number;
  readonly device: string;
  /** JSON texts `{"path","key","timestamp","data"}`, as the mapping engine wrote them. */
  readonly rows: readonly string[];
  /** `''`, or why there is no row: a fault's code or one of `MISSING_REASONS`. */
  readonly reason: string;
}

/** Why a device is missing from a snapshot, beside the fault codes of its streams and the reasons of subscriptions. */
export const MISSING_REASONS = {
  noOwner: 'no-owner',
  noWorker: 'no-worker',
  noAnswer: 'no-answer',
  noRows: 'no-rows',
  tooLarge: 'too-large',
} as const;

export interface SnapshotHead {
  readonly modelId: number;
  readonly modelName: string;
  readonly version: string;
  readonly takenAt: string;
  /** In the model's order. */
  readonly fields: readonly string[];
}

export interface MissingDevice {
  readonly deviceId: number;
  readonly reason: string;
}

/** One object; rows go in as they were written, so that no number is read again. */
export function formatSnapshotJson(
  head: SnapshotHead,
  devices: readonly DeviceRows[],
  missing: readonly MissingDevice[],
): string {
  const opening = JSON.stringify({
    'model-id': head.modelId,
    'model-name': head.modelName,
    version: head.version,
    'taken-at': head.takenAt,
    fields: head.fields,
  });
  const rows = devices.flatMap(({ device, deviceId, rows: texts }) => {
    const source = `{"device":${JSON.stringify(device)},"device-id":${deviceId},`;
    return texts.map((text) => source + text.slice(1));
  });
  const left = missing.map(({ deviceId, reason }) => ({ 'device-id': deviceId, reason }));
  return `${opening.slice(0, -1)},"rows":[${rows.join(',')}],"missing-devices":${JSON.stringify(left)}}`;
}

/** RFC 4180: a header line, then one line a row; a field that the row lacks is empty. Missing devices have no line. */
export function formatSnapshotCsv(
  head: Pick<SnapshotHead, 'fields'>,
  devices: readonly DeviceRows[],
): string {
  const lines = [['device', 'device-id', 'path', 'key', 'timestamp', ...head.fields].map(csvField).join(',')];
  for (const { device, deviceId, rows } of devices) {
    for (const text of rows) {
      const row = parseExactJson(text, ROW_LEVELS);
      if (!(row instanceof Map)) continue;
      const data = row.get('data');
      const values = head.fields.map((field) => (data instanceof Map ? data.get(field) : undefined));
      const cells = [row.get('path'), row.get('key'), row.get('timestamp'), ...values];
      lines.push([device, String(deviceId), ...cells.map(cellText)].map(csvField).join(','));
    }
  }
  return `${lines.join('\r\n')}\r\n`;
}

/** Levels of JSON around a row's values: the row and its `data`. */
const ROW_LEVELS = 2;

/** A value as a cell shows it: text and digits as they are, JSON as JSON. */
function cellText(value: ExactJson | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (value instanceof ExactNumber) return value.source;
  return canonicalJson(value) ?? '';
}

function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Between the texts of a part (RFC 7464): JSON has no place for it, neither in strings nor between values. */
const SEPARATOR = '\u001e';

/** One worker's part of a snapshot as one text. */
export function formatSnapshotPart(devices: readonly DeviceRows[]): string {
  const heads = devices.map(({ deviceId, device, rows, reason }) => ({
    deviceId,
    device,
    count: rows.length,
    reason,
  }));
  return [JSON.stringify(heads), ...devices.flatMap(({ rows }) => rows)].join(SEPARATOR);
}

/** What `formatSnapshotPart` was given. */
export function parseSnapshotPart(text: string): DeviceRows[] {
  const [head = '[]', ...rows] = text.split(SEPARATOR);
  const heads = JSON.parse(head) as Array<Omit<DeviceRows, 'rows'> & { count: number }>;
  let at = 0;
  return heads.map(({ deviceId, device, count, reason }) => {
    at += count;
    return { deviceId, device, reason, rows: rows.slice(at - count, at) };
  });
}
