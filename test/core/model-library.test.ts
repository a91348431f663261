import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { compileGnmiMapping } from '../../core/mapping/compile.ts';
import { FIELD_TYPES, type FieldType } from '../../core/mapping/field-type.ts';
import { GnmiRows } from '../../core/mapping/gnmi-rows.ts';
import { PathIndex } from '../../core/mapping/path-index.ts';
import { PathNumbers } from '../../core/mapping/path-numbers.ts';
import { compileSnmpMapping } from '../../core/mapping/snmp-mapping.ts';
import { SnmpRows } from '../../core/mapping/snmp-rows.ts';
import { rowTexts } from '../../core/record.ts';
import { PathArena } from '../../protocols/gnmi/path-arena.ts';
import { SubscribeResponseSchema } from '../../protocols/gnmi/schema.ts';
import { SubscribeResponseDecoder, viewOf } from '../../protocols/gnmi/subscribe-response.ts';
import { parseObjectPath, resolveObject } from '../../protocols/snmp/mib.ts';
import { ArenaPaths, RowsSink } from '../../worker/gnmi/rows-sink.ts';
import { readCaptures } from '../support/gnmi-captures.ts';
import { TestStream } from '../support/mapping/stream.ts';
import { SimulatedAgent } from '../support/snmp-agent/agent.ts';
import { ObjectStore } from '../support/snmp-agent/object-store.ts';
import { communitySession, runWalk } from '../support/snmp-agent/run-walk.ts';

interface Document {
  readonly format: string;
  readonly name: string;
  readonly version: string;
  readonly fields: ReadonlyArray<{ readonly name: string; readonly type: FieldType }>;
  readonly mappings: ReadonlyArray<{
    readonly protocol: 'gnmi' | 'snmp';
    readonly netos: string;
    readonly field_mappings: Readonly<Record<string, string>>;
  }>;
}

const folder = resolve(import.meta.dirname, '../../core/model-library');
const read = (name: string): unknown => JSON.parse(readFileSync(join(folder, name), 'utf8'));
const sources = read('sources.json') as Record<string, string>;
const documents = readdirSync(folder)
  .filter((name) => name.endsWith('.json') && name !== 'sources.json')
  .map((name) => read(name) as Document);

describe('the ready-made models', () => {
  it('are there for interfaces, system, CPU, memory, BGP neighbours, optics and LLDP', () => {
    expect(documents.map(({ name }) => name).sort()).toEqual([
      'bgp-neighbors',
      'cpu',
      'interfaces',
      'lldp-neighbors',
      'memory',
      'optics',
      'system',
    ]);
  });

  describe.each(documents.map((document) => [document.name, document] as const))('%s', (_, document) => {
    it('is an export document whose mappings name its fields in their order', () => {
      expect(Object.keys(document)).toEqual([
        'format',
        'name',
        'version',
        'description',
        'fields',
        'mappings',
      ]);
      expect(document.format).toBe('graticule-model/1');
      const names = document.fields.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      for (const { type } of document.fields) expect(FIELD_TYPES).toContain(type);
      for (const { field_mappings: paths } of document.mappings) {
        expect(Object.keys(paths)).toEqual(names.filter((name) => name in paths));
      }
    });

    it('has a path for every field in some mapping, and a source for every mapping', () => {
      const mapped = new Set(document.mappings.flatMap((mapping) => Object.keys(mapping.field_mappings)));
      expect(document.fields.map(({ name }) => name).filter((name) => !mapped.has(name))).toEqual([]);
      for (const { protocol, netos } of document.mappings) {
        expect(sources).toHaveProperty([`${document.name} ${protocol} ${netos}`]);
      }
    });

    it('has gNMI paths that compile and SNMP names that the MIBs have', () => {
      for (const { protocol, field_mappings: paths } of document.mappings) {
        if (protocol === 'gnmi') {
          const { skipped } = compileGnmiMapping(document.fields, new Map(Object.entries(paths)));
          expect(skipped).toEqual([]);
          continue;
        }
        for (const name of Object.values(paths)) {
          expect(parseObjectPath(name), name).toBeDefined();
          const object = resolveObject(name.replace(/\.0$/, ''));
          expect(object?.kind, name).toBe(name.endsWith('.0') ? 'scalar' : 'column');
        }
      }
    });
  });

  const captures = readCaptures();
  if (captures === undefined) console.log('skipped: GRATICULE_VECTORS is not set, no router answers to map');

  it.skipIf(captures === undefined).each([
    ['issue_14946', 'memory', [{ used: 3479629824 }, { used: 3479527424 }]],
    ['issue_11011', 'bgp-neighbors', [{ 'session-state': 'ESTABLISHED' }]],
  ] as const)("make records of the router's answers in %s by %s", (captureName, modelName, expected) => {
    const capture = captures?.find(({ name }) => name === captureName);
    const document = documents.find(({ name }) => name === modelName);
    const mapping = document?.mappings.find(({ protocol, netos }) => protocol === 'gnmi' && netos === '*');
    const arena = new PathArena();
    const data: object[] = [];
    const rows = new GnmiRows({
      source: { device: 'r', deviceId: 1, modelName },
      numbers: new PathNumbers(
        new PathIndex(
          compileGnmiMapping(document?.fields ?? [], new Map(Object.entries(mapping?.field_mappings ?? {}))),
        ),
        new ArenaPaths(arena),
      ),
      rule: { kind: 'asked' },
      keepsRows: false,
      maxRows: 100,
      deliver: ({ bytes, ends }) => {
        let start = 0;
        for (const end of ends) {
          data.push(
            (JSON.parse(Buffer.from(bytes.subarray(start, end)).toString()) as { data: object }).data,
          );
          start = end;
        }
      },
    });
    const sink = new RowsSink({ rows, arena, wallClock: () => 0, now: () => 0 });
    const decoder = new SubscribeResponseDecoder(arena, sink);
    for (const message of capture?.responses ?? []) {
      const bytes = toBinary(SubscribeResponseSchema, message);
      expect(decoder.decode(bytes, viewOf(bytes), 0, bytes.length)).toBe(true);
      rows.close();
    }
    expect(data).toMatchObject(expected);
  });

  it('make a row of each lane of a transceiver, and one of a transceiver without', () => {
    const document = documents.find(({ name }) => name === 'optics') as Document;
    const at = '/state/port[port-id=1/1/1]/transceiver/digital-diagnostic-monitoring';
    const rowsOf = (paths: readonly string[]) => {
      const mapping = document.mappings.find(({ netos }) => netos === 'sros')?.field_mappings ?? {};
      const { fields } = document;
      const stream = new TestStream({ fields, mapping, rule: { kind: 'asked' }, keepsRows: false }, true);
      for (const path of paths) stream.update(path, { json: '"-2.31"' });
      stream.rows.close();
      return stream.cycles.flat().map((text) => {
        const { key, data } = JSON.parse(text) as { key: string; data: object };
        return [key, data];
      });
    };
    expect(
      rowsOf([1, 2].map((lane) => `${at}/lane[lane-id=${lane}]/received-optical-power/current`)),
    ).toEqual([
      ['1/1/1,1', { channel: 1, 'input-power': -2.31 }],
      ['1/1/1,2', { channel: 2, 'input-power': -2.31 }],
    ]);
    expect(rowsOf([`${at}/received-optical-power/current`, `${at}/transmit-output-power/current`])).toEqual([
      ['1/1/1', { 'input-power': -2.31, 'output-power': -2.31 }],
    ]);
  });

  it('make a row of each sensor that an EOS switch has in a transceiver, with its name', () => {
    const vector = JSON.parse(
      readFileSync(resolve(import.meta.dirname, '../vectors/snmp/entity-sensors-eos.json'), 'utf8'),
    ) as { entities: Array<{ index: number; description: string; sensor?: number[] }> };
    const objects = new ObjectStore();
    for (const { index, description, sensor } of vector.entities) {
      objects.set([1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, 2, index], {
        kind: 'octet-string',
        value: Buffer.from(description),
      });
      for (const [column, value] of (sensor ?? []).entries()) {
        objects.set([1, 3, 6, 1, 2, 1, 99, 1, 1, 1, column + 1, index], { kind: 'integer', value });
      }
    }
    const document = documents.find(({ name }) => name === 'optics') as Document;
    const paths = document.mappings.find(({ protocol }) => protocol === 'snmp')?.field_mappings ?? {};
    const mapping = compileSnmpMapping(document.fields, new Map(Object.entries(paths)));
    const data: unknown[] = [];
    const rows = new SnmpRows({
      source: { device: 'leaf1', deviceId: 1, modelName: 'optics' },
      mapping,
      maxRows: 100,
      deliver: (batch) => {
        for (const text of rowTexts(batch)) {
          const { key, data: values } = JSON.parse(text) as { key: string; data: object };
          data.push([key, values]);
        }
      },
    });
    const groupId = mapping.groups.findIndex(({ walk }) => walk.kind === 'table' && walk.columns.length > 0);
    runWalk({
      agent: new SimulatedAgent({ objects, startedAt: 0 }),
      session: communitySession('v2c'),
      groups: mapping.groups.slice(groupId, groupId + 1).map(({ walk }) => walk),
      onRow: (_group, row) => rows.row(groupId, row, 0),
    });
    rows.close();
    const measured = (sensor: string, type: string, scale: string, precision: number, value: number) => ({
      sensor,
      'sensor-type': type,
      'sensor-scale': scale,
      'sensor-precision': precision,
      'sensor-value': value,
      'sensor-status': 'ok',
    });
    expect(data).toEqual([
      ['100301100', { sensor: 'Xcvr for Ethernet1' }],
      ['100301201', measured('DOM Temperature Sensor for Ethernet1', 'celsius', 'units', 1, 258)],
      ['100301202', measured('DOM Voltage Sensor for Ethernet1', 'voltsDC', 'units', 2, 331)],
      ['100301210', { sensor: 'Lane 0 for Xcvr for Ethernet1' }],
      ['100301211', measured('DOM TX Bias Sensor for Ethernet1', 'amperes', 'milli', 2, 3345)],
      ['100301212', measured('DOM TX Power Sensor for Ethernet1', 'watts', 'milli', 4, 6322)],
      ['100301213', measured('DOM RX Power Sensor for Ethernet1', 'watts', 'milli', 4, 1)],
    ]);
  });

  it('have their sources in the docs, vendor by vendor', () => {
    const page = readFileSync(resolve(import.meta.dirname, '../../docs/ready-made-models.md'), 'utf8');
    for (const [name, source] of Object.entries(sources)) {
      const [model, protocol, netos] = name.split(' ');
      expect(page).toContain(`| ${model} | ${protocol} | \`${netos}\` | ${source} |`);
    }
  });
});
