import { describe, expect, it } from 'vitest';
import {
  type DeviceRows,
  formatSnapshotCsv,
  formatSnapshotJson,
  formatSnapshotPart,
  parseSnapshotPart,
} from '../../core/snapshot.ts';

const HEAD = {
  modelId: 1,
  modelName: 'interfaces',
  version: '1.0.0',
  takenAt: '2026-11-21T03:00:00.000Z',
  fields: ['name', 'in,octets', 'up', 'more'],
};

const row = (key: string, data: string) =>
  `{"path":"1.3.6.${key}","key":${JSON.stringify(key)},"timestamp":"2026-11-21T03:00:00.000Z","data":${data}}`;

const DEVICES: DeviceRows[] = [
  {
    deviceId: 3,
    device: 'leaf "1"',
    reason: '',
    rows: [
      row(
        '1',
        '{"name":"a,b\\r\\n\\"c\\"","in,octets":18446744073709551615,"up":true,"more":{"b":[1,\n2],"a":null}}',
      ),
      row('2', '{"in,octets":9007199254740993}'),
    ],
  },
  { deviceId: 4, device: 'leaf2', reason: 'timeout', rows: [] },
];

describe('a snapshot', () => {
  it('is JSON whose rows are the bytes that the mapping engine wrote', () => {
    const text = formatSnapshotJson(HEAD, DEVICES, [{ deviceId: 4, reason: 'timeout' }]);
    expect(text).toContain('"in,octets":18446744073709551615');
    expect(JSON.parse(text)).toMatchObject({
      'model-id': 1,
      'taken-at': HEAD.takenAt,
      fields: HEAD.fields,
      rows: [
        { device: 'leaf "1"', 'device-id': 3, key: '1', data: { name: 'a,b\r\n"c"', up: true } },
        { device: 'leaf "1"', 'device-id': 3, key: '2' },
      ],
      'missing-devices': [{ 'device-id': 4, reason: 'timeout' }],
    });
  });

  it('is CSV as RFC 4180 has it: quotes doubled, lines ended by CRLF, every digit there', () => {
    expect(formatSnapshotCsv(HEAD, DEVICES)).toBe(
      [
        'device,device-id,path,key,timestamp,name,"in,octets",up,more',
        '"leaf ""1""",3,1.3.6.1,1,2026-11-21T03:00:00.000Z,"a,b\r\n""c""",18446744073709551615,true,"{""a"":null,""b"":[1,2]}"',
        '"leaf ""1""",3,1.3.6.2,2,2026-11-21T03:00:00.000Z,,9007199254740993,,',
        '',
      ].join('\r\n'),
    );
  });

  it('loses no row whose JSON is as deep as a device may send it', () => {
    const deep = `${'['.repeat(64)}${']'.repeat(64)}`;
    const csv = formatSnapshotCsv(HEAD, [
      { ...DEVICES[0], rows: [row('1', `{"more":${deep}}`)] } as DeviceRows,
    ]);
    expect(csv).toContain(deep);
  });

  it('travels in parts that give back what was put in', () => {
    expect(parseSnapshotPart(formatSnapshotPart(DEVICES))).toEqual(DEVICES);
    expect(parseSnapshotPart(formatSnapshotPart([]))).toEqual([]);
  });
});
