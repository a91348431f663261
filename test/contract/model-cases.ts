import { expect } from 'vitest';
import { FIELD_TYPES } from '../../core/mapping/field-type.ts';
import type { ApiAnswer, ApiClient } from '../support/api-client.ts';
import { type ContractCase, get, post, put, remove } from './contract-case.ts';

const MODELS = '/api/v1/models';

let lastName = 0;

/** A model name that no other case uses. */
export function freshName(prefix = 'model'): string {
  lastName += 1;
  return `${prefix} ${process.pid}-${lastName}`;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies member by member.
type Body = any;

function expectStatus(answer: ApiAnswer, status: number): Body {
  expect(answer.status, answer.text).toBe(status);
  return answer.json;
}

export async function createdModel(api: ApiClient, members: Record<string, unknown> = {}): Promise<Body> {
  return expectStatus(await post(api, MODELS, { name: freshName(), ...members }), 201);
}

export async function addField(
  api: ApiClient,
  modelId: number,
  name: string,
  type = 'counter64',
): Promise<Body> {
  return expectStatus(await post(api, `${MODELS}/${modelId}/fields`, { name, type }), 201);
}

export async function addMapping(
  api: ApiClient,
  modelId: number,
  mapping: Record<string, unknown> = {},
): Promise<Body> {
  const body = { protocol: 'gnmi', netos: '*', field_mappings: { in: '/interface[name=*]/in' }, ...mapping };
  return expectStatus(await post(api, `${MODELS}/${modelId}/mappings`, body), 201);
}

export async function activate(api: ApiClient, modelId: number, active = true): Promise<Body> {
  return expectStatus(await put(api, `${MODELS}/${modelId}`, { active }), 200);
}

/** What a body is refused with: pairs of pointer and code. */
export function refusalsOf(answer: ApiAnswer): string[] {
  expect(answer.status, answer.text).toBe(400);
  expect(answer.json.type).toBe('urn:graticule:problem:invalid-body');
  for (const error of answer.json.errors) expect(error.detail).toMatch(/\S/);
  return answer.json.errors.map(
    (error: { pointer: string; code: string }) => `${error.pointer} ${error.code}`,
  );
}

function document(members: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    format: 'graticule-model/1',
    name: freshName(),
    version: '2.3.4',
    description: 'of a lab',
    fields: [
      { name: 'z', type: 'string' },
      { name: 'a', type: 'uint64' },
    ],
    mappings: [
      { protocol: 'snmp', netos: '*', field_mappings: { a: '1.3.6.1.2.1.31.1.1.1.6', z: 'IF-MIB::ifName' } },
      { protocol: 'gnmi', netos: 'srlinux', field_mappings: { z: '/interface[name=*]/name' } },
    ],
    ...members,
  };
}

const modelBasics: ContractCase[] = [
  {
    sentence:
      'a model is made inactive at 1.0.0, without fields and mappings, and is found where Location says',
    run: async (api) => {
      const name = freshName();
      const answer = await post(api, MODELS, { name, description: 'of interfaces' });
      const model = expectStatus(answer, 201);
      expect(model).toEqual({
        id: expect.any(Number),
        name,
        version: '1.0.0',
        description: 'of interfaces',
        active: false,
        'activated-at': null,
        fields: [],
        mappings: [],
        'created-at': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        'updated-at': model['created-at'],
      });
      expect(answer.headers['location']).toBe(`${MODELS}/${model.id}`);
      const found = await get(api, `${MODELS}/${model.id}`);
      expect(found.json).toEqual(model);
      expect(found.headers['etag']).toBe('"1"');
      const list = await get(api, MODELS);
      expect(list.json).toContainEqual(model);
    },
  },
  {
    sentence: 'the version of a new model may be given: three integers without leading zeros',
    run: async (api) => {
      expect((await createdModel(api, { version: '0.10.200' })).version).toBe('0.10.200');
      for (const version of ['1.0', '1.0.0.0', '01.0.0', 'v1.0.0', '1.0.0-rc', '']) {
        expect(refusalsOf(await post(api, MODELS, { name: freshName(), version }))).toEqual([
          '/version invalid-format',
        ]);
      }
    },
  },
  {
    sentence: 'every failure of a body is told at once, and a misspelt member is named with the nearest',
    run: async (api) => {
      const answer = await post(api, MODELS, { name: ' ', version: 1, descripton: 'x', active: true });
      expect(refusalsOf(answer).toSorted()).toEqual([
        '/active immutable',
        '/descripton unknown-member',
        '/name invalid-format',
        '/version wrong-type',
      ]);
      expect(answer.text).toContain('did you mean description?');
    },
  },
  {
    sentence: 'fields, mappings and activity are not given when a model is made',
    run: async (api) => {
      const body = {
        name: freshName(),
        fields: [{ name: 'a', type: 'string' }],
        mappings: [1],
        active: true,
      };
      expect(refusalsOf(await post(api, MODELS, body)).toSorted()).toEqual([
        '/active immutable',
        '/fields immutable',
        '/mappings immutable',
      ]);
      await createdModel(api, { fields: [], mappings: [], id: 'x', 'created-at': 7, active: false });
    },
  },
  {
    sentence: 'name and version together are unique: 409 with the id in the way',
    run: async (api) => {
      const first = await createdModel(api);
      const again = await post(api, MODELS, { name: first.name });
      expect(expectStatus(again, 409)).toMatchObject({
        type: 'urn:graticule:problem:conflict',
        'conflicting-id': first.id,
      });
      await createdModel(api, { name: first.name, version: '1.0.1' });
      const imported = await post(api, `${MODELS}/import`, document({ name: first.name, version: '1.0.0' }));
      expect(expectStatus(imported, 409)['conflicting-id']).toBe(first.id);
    },
  },
  {
    sentence: 'PUT changes name, description and activity; what is left out stays',
    run: async (api) => {
      const model = await createdModel(api, { description: 'old' });
      const name = freshName();
      const renamed = expectStatus(await put(api, `${MODELS}/${model.id}`, { name }), 200);
      expect(renamed).toMatchObject({ name, description: 'old', active: false, version: '1.0.0' });
      const active = await activate(api, model.id);
      expect(active).toMatchObject({ active: true, 'activated-at': expect.any(String) });
      const described = expectStatus(await put(api, `${MODELS}/${model.id}`, { description: '' }), 200);
      expect(described).toMatchObject({ name, description: '', active: true });
      await createdModel(api, { name: model.name });
    },
  },
  {
    sentence:
      'PUT refuses another version, fields or mappings as immutable and takes the ones that stand there',
    run: async (api) => {
      const model = await createdModel(api);
      await addField(api, model.id, 'in');
      await addMapping(api, model.id);
      const answer = await put(api, `${MODELS}/${model.id}`, {
        version: '1.0.1',
        fields: [],
        mappings: 'none',
      });
      expect(refusalsOf(answer)).toEqual(['/version immutable', '/fields immutable', '/mappings immutable']);
      const seen = await get(api, `${MODELS}/${model.id}`);
      const same = await put(api, `${MODELS}/${model.id}`, seen.json, {
        'if-match': seen.headers['etag'] ?? '',
      });
      expect(expectStatus(same, 200)).toEqual(seen.json);
      expect(same.headers['etag']).toBe(seen.headers['etag']);
    },
  },
  {
    sentence:
      'a PUT with a stale ETag is 412, and so are edits of fields and mappings, which share the revision',
    run: async (api) => {
      const model = await createdModel(api);
      const field = await addField(api, model.id, 'in');
      const stale = { 'if-match': '"1"' };
      const path = `${MODELS}/${model.id}`;
      expectStatus(await put(api, path, { description: 'x' }, stale), 412);
      expectStatus(await put(api, `${path}/fields/${field.id}`, { name: 'b', type: 'string' }, stale), 412);
      expectStatus(await remove(api, `${path}/fields/${field.id}`, stale), 412);
      expectStatus(await remove(api, path, stale), 412);
      expectStatus(await put(api, path, { description: 'x' }, { 'if-match': '"2"' }), 200);
    },
  },
  {
    sentence: 'DELETE is 204 with an empty body; then the model and everything below it are 404',
    run: async (api) => {
      const model = await createdModel(api);
      const gone = await remove(api, `${MODELS}/${model.id}`);
      expect([gone.status, gone.text]).toEqual([204, '']);
      for (const path of ['', '/export', '/fields', '/mappings']) {
        expectStatus(await get(api, `${MODELS}/${model.id}${path}`), 404);
      }
      await createdModel(api, { name: model.name });
      expectStatus(await get(api, `${MODELS}/007`), 404);
    },
  },
];

const fieldCases: ContractCase[] = [
  {
    sentence: 'every field type is taken, anything else refused with the list of them',
    run: async (api) => {
      const model = await createdModel(api);
      for (const type of FIELD_TYPES) await addField(api, model.id, `f ${type}`, type);
      const answer = await post(api, `${MODELS}/${model.id}/fields`, { name: 'x', type: 'counter' });
      expect(refusalsOf(answer)).toEqual(['/type invalid-format']);
      expect(answer.text).toContain('counter64');
    },
  },
  {
    sentence: 'a field name is unique within its model: 409',
    run: async (api) => {
      const model = await createdModel(api);
      const first = await addField(api, model.id, 'in');
      const second = await addField(api, model.id, 'out');
      const again = await post(api, `${MODELS}/${model.id}/fields`, { name: 'in', type: 'string' });
      expect(expectStatus(again, 409)['conflicting-id']).toBe(first.id);
      const renamed = await put(api, `${MODELS}/${model.id}/fields/${second.id}`, {
        name: 'in',
        type: 'string',
      });
      expect(expectStatus(renamed, 409)['conflicting-id']).toBe(first.id);
    },
  },
  {
    sentence: 'renaming a field carries its mappings along, deleting it takes its entries with it',
    run: async (api) => {
      const model = await createdModel(api);
      const field = await addField(api, model.id, 'in');
      await addField(api, model.id, '__proto__');
      const mapping = await addMapping(api, model.id, {
        field_mappings: JSON.parse('{"in":"/a/in","__proto__":"/a/proto"}'),
      });
      await put(api, `${MODELS}/${model.id}/fields/${field.id}`, { name: 'in-octets', type: 'counter64' });
      const renamed = (await get(api, `${MODELS}/${model.id}/mappings`)).text;
      expect(renamed).toContain('"field_mappings":{"in-octets":"/a/in","__proto__":"/a/proto"}');
      expectStatus(await remove(api, `${MODELS}/${model.id}/fields/${field.id}`), 204);
      const rest = await get(api, `${MODELS}/${model.id}`);
      expect(rest.text).toContain('"field_mappings":{"__proto__":"/a/proto"}');
      expect(rest.json.mappings[0].id).toBe(mapping.id);
    },
  },
  {
    sentence: 'the order of fields is set by naming each once, and shows wherever fields are listed',
    run: async (api) => {
      const model = await createdModel(api);
      const [a, b, c] = [
        await addField(api, model.id, 'a'),
        await addField(api, model.id, 'b'),
        await addField(api, model.id, 'c'),
      ];
      const path = `${MODELS}/${model.id}/fields/order`;
      const ordered = await put(api, path, { 'field-ids': [c.id, a.id, b.id] });
      expect(expectStatus(ordered, 200)).toEqual([c, a, b]);
      expect((await get(api, `${MODELS}/${model.id}/export`)).json.fields.map((f: Body) => f.name)).toEqual([
        'c',
        'a',
        'b',
      ]);
      for (const ids of [
        [a.id, b.id],
        [a.id, b.id, c.id, c.id],
        [a.id, b.id, 999_999_999],
      ]) {
        expect(refusalsOf(await put(api, path, { 'field-ids': ids }))).toEqual([
          '/field-ids unknown-reference',
        ]);
      }
      expect(refusalsOf(await put(api, path, { 'field-ids': 'abc' }))).toEqual(['/field-ids wrong-type']);
    },
  },
];

const mappingCases: ContractCase[] = [
  {
    sentence: 'a mapping is answered with its warnings, which block nothing',
    run: async (api) => {
      const model = await createdModel(api);
      await addField(api, model.id, 'in');
      const mapping = await addMapping(api, model.id, {
        netos: 'srlinux',
        field_mappings: {
          in: '/interface/statistics/in-octets | interface/in | /a[b=]/c | /a[b=c/d',
          gone: 'vendor:/a/b',
        },
      });
      expect(mapping.warnings.map((w: Body) => `${w.field} ${w.path} ${w.code}`)).toEqual([
        'in /interface/statistics/in-octets list-without-key',
        'in interface/in no-leading-slash',
        'in /a[b=]/c empty-key',
        'in /a[b=c/d unbalanced-brackets',
        'gone vendor:/a/b unknown-field',
        'gone vendor:/a/b unknown-origin',
      ]);
      const snmp = await addMapping(api, model.id, {
        protocol: 'snmp',
        field_mappings: { in: 'IF-MIB::ifInOctets | ifInOctets | SNMPv2-MIB::sysUpTime | 1.3..6' },
      });
      expect(snmp.warnings.map((w: Body) => w.code)).toEqual([
        'counter32-has-counter64',
        'non-numeric-oid',
        'scalar-without-instance',
        'unparsable',
      ]);
    },
  },
  {
    sentence: 'protocol and netos are unique within a model: 409, and both are checked',
    run: async (api) => {
      const model = await createdModel(api);
      const path = `${MODELS}/${model.id}/mappings`;
      const first = await addMapping(api, model.id);
      const again = await post(api, path, { protocol: 'gnmi', netos: '*', field_mappings: {} });
      expect(expectStatus(again, 409)['conflicting-id']).toBe(first.id);
      await addMapping(api, model.id, { netos: 'eos' });
      expect(
        refusalsOf(
          await post(api, path, { protocol: 'netconf', netos: 'IOS XR', field_mappings: { a: 1 } }),
        ).toSorted(),
      ).toEqual(['/field_mappings/a wrong-type', '/netos invalid-format', '/protocol invalid-format']);
      expect(refusalsOf(await post(api, path, { protocol: 'gnmi', netos: '*' }))).toEqual([
        '/field_mappings required',
      ]);
    },
  },
  {
    sentence: 'a mapping is replaced whole, and given back unchanged it costs no revision',
    run: async (api) => {
      const model = await createdModel(api);
      const mapping = await addMapping(api, model.id);
      const path = `${MODELS}/${model.id}/mappings/${mapping.id}`;
      const before = (await get(api, `${MODELS}/${model.id}`)).headers['etag'] ?? '';
      const same = await put(api, path, mapping, { 'if-match': before });
      expect(expectStatus(same, 200)).toEqual(mapping);
      expect(same.headers['etag']).toBe(before);
      const changed = await put(api, path, {
        protocol: 'snmp',
        netos: 'eos',
        field_mappings: { x: '1.3.6.1' },
      });
      expect(expectStatus(changed, 200)).toMatchObject({ id: mapping.id, protocol: 'snmp', netos: 'eos' });
      expectStatus(await remove(api, path), 204);
      expectStatus(await remove(api, path), 404);
    },
  },
];

const transferCases: ContractCase[] = [
  {
    sentence:
      'an export is imported as a new, inactive model, and exported again it is the same byte for byte',
    run: async (api) => {
      const first = expectStatus(await post(api, `${MODELS}/import`, document()), 201);
      expect(first).toMatchObject({ active: false, version: '2.3.4' });
      const exported = await get(api, `${MODELS}/${first.id}/export`);
      expectStatus(await remove(api, `${MODELS}/${first.id}`), 204);
      const second = await api.send({
        method: 'POST',
        path: `${MODELS}/import`,
        rawBody: exported.text,
        headers: { 'content-type': 'application/json' },
      });
      expect(expectStatus(second, 201).id).not.toBe(first.id);
      expect((await get(api, `${MODELS}/${second.json.id}/export`)).text).toBe(exported.text);
      expect(Object.keys(exported.json)).toEqual([
        'format',
        'name',
        'version',
        'description',
        'fields',
        'mappings',
      ]);
    },
  },
  {
    sentence: 'a document that is not one is refused with everything that is wrong with it',
    run: async (api) => {
      const answer = await post(api, `${MODELS}/import`, {
        format: 'graticule-model/2',
        name: freshName(),
        version: '1',
        id: 7,
        fields: [
          { name: 'a', type: 'string' },
          { name: 'a', type: 'text' },
        ],
        mappings: [{ protocol: 'gnmi', netos: 'x y', field_mapping: {} }],
      });
      expect(refusalsOf(answer).toSorted()).toEqual([
        '/fields/1/type invalid-format',
        '/format invalid-format',
        '/id unknown-member',
        '/mappings/0/field_mapping unknown-member',
        '/mappings/0/field_mappings required',
        '/mappings/0/netos invalid-format',
        '/version invalid-format',
      ]);
      const doubled = document({
        fields: [
          { name: 'a', type: 'string' },
          { name: 'a', type: 'string' },
        ],
      });
      expect(refusalsOf(await post(api, `${MODELS}/import`, doubled))).toEqual(['/fields/1/name duplicate']);
    },
  },
  {
    sentence: 'new-version clones fields and mappings under the next minor version of the name',
    run: async (api) => {
      const first = expectStatus(await post(api, `${MODELS}/import`, document({ version: '1.9.3' })), 201);
      const answer = await post(api, `${MODELS}/${first.id}/new-version`, undefined);
      const second = expectStatus(answer, 201);
      expect(answer.headers['location']).toBe(`${MODELS}/${second.id}`);
      expect(second).toMatchObject({
        name: first.name,
        version: '1.10.0',
        active: false,
        'activated-at': null,
      });
      const content = async (id: number) => {
        const { fields, mappings } = (await get(api, `${MODELS}/${id}/export`)).json;
        return { fields, mappings };
      };
      expect(await content(second.id)).toEqual(await content(first.id));
      expect(second.fields[0].id).not.toBe(first.fields[0].id);
      const third = await post(api, `${MODELS}/${first.id}/new-version`, { version: '3.0.1' });
      expect(expectStatus(third, 201).version).toBe('3.0.1');
      const fourth = await post(api, `${MODELS}/${first.id}/new-version`, {});
      expect(expectStatus(fourth, 201).version).toBe('3.1.0');
      const taken = await post(api, `${MODELS}/${first.id}/new-version`, { version: '3.0.1' });
      expect(expectStatus(taken, 409)['conflicting-id']).toBe(third.json.id);
    },
  },
];

const raceCases: ContractCase[] = [
  {
    sentence: 'of racing creates of one name and version exactly one succeeds',
    run: async (api) => {
      const name = freshName();
      const answers = await Promise.all(Array.from({ length: 8 }, () => post(api, MODELS, { name })));
      const statuses = answers.map(({ status }) => status).toSorted();
      expect(statuses).toEqual([201, ...Array(7).fill(409)]);
    },
  },
  {
    sentence: 'racing new-versions all succeed, each with a version of its own',
    run: async (api) => {
      const model = await createdModel(api);
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => post(api, `${MODELS}/${model.id}/new-version`, undefined)),
      );
      const versions = answers.map((answer) => expectStatus(answer, 201).version);
      expect(versions.toSorted()).toEqual(['1.1.0', '1.2.0', '1.3.0', '1.4.0', '1.5.0', '1.6.0']);
    },
  },
  {
    sentence: 'a rename racing an import of the same name and version leaves one holder of them',
    run: async (api) => {
      const name = freshName();
      const model = await createdModel(api, { version: '2.3.4' });
      const [renamed, imported] = await Promise.all([
        put(api, `${MODELS}/${model.id}`, { name }),
        post(api, `${MODELS}/import`, document({ name })),
      ]);
      expect([`${renamed.status} ${imported.status}`]).toContainEqual(
        expect.stringMatching(/^(200 409|409 201)$/),
      );
      const holders = (await get(api, MODELS)).json.filter((held: Body) => held.name === name);
      expect(holders).toHaveLength(1);
    },
  },
  {
    sentence: 'racing edits of one model all take effect',
    run: async (api) => {
      const model = await createdModel(api);
      const names = ['a', 'b', 'c', 'd', 'e'];
      await Promise.all(names.map((name) => addField(api, model.id, name)));
      const { fields } = (await get(api, `${MODELS}/${model.id}`)).json;
      expect(fields.map((field: Body) => field.name).toSorted()).toEqual(names);
    },
  },
];

export const modelCases: readonly ContractCase[] = [
  ...modelBasics,
  ...fieldCases,
  ...mappingCases,
  ...transferCases,
  ...raceCases,
];
