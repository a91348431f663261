import { hash } from 'node:crypto';

/** Record envelopes as the mapping writes them, numbered in `key`, so that a receiver can tell them apart. */
export function makeRecords(from: number, count: number): { bytes: Uint8Array; ends: number[] } {
  const ends: number[] = [];
  const parts: Buffer[] = [];
  let length = 0;
  for (let id = from; id < from + count; id += 1) {
    const data = JSON.stringify({
      'in-octets': id * 7_919,
      'out-octets': id * 104_729,
      'in-errors': 0,
      'oper-status': 'UP',
    });
    const record = Buffer.from(
      `{"device":"leaf1","device-id":3,"model-name":"interfaces","path":"/interfaces/interface[name=et-${id}]",` +
        `"key":"${id}","timestamp":"2026-11-21T03:00:00.000Z","data-hash":"sha256:${hash('sha256', data)}","data":${data}}`,
    );
    parts.push(record);
    length += record.length;
    ends.push(length);
  }
  return { bytes: Buffer.concat(parts), ends };
}

/** The numbers of the records in a body, whether one record or a batch. */
export function recordIds(body: Buffer): number[] {
  const value = JSON.parse(body.toString('utf8')) as { key: string } | { key: string }[];
  return [value].flat().map((record) => Number(record.key));
}
