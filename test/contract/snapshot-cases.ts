import { expect } from 'vitest';
import { type ContractCase, freshAddress, get, post } from './contract-case.ts';
import { activate, addField, addMapping, createdModel, freshName } from './model-cases.ts';

const pathOf = (modelId: number, query = '') => `/api/v1/models/${modelId}/snapshot${query}`;

export const snapshotCases: readonly ContractCase[] = [
  {
    sentence: 'a model that nothing collects has its fields in order and no rows, as JSON and as CSV',
    async run(api) {
      const model = await createdModel(api);
      await addField(api, model.id, 'z,1');
      await addField(api, model.id, 'a');
      const json = await get(api, pathOf(model.id));
      expect(json.status, json.text).toBe(200);
      expect(json.json).toMatchObject({
        'model-id': model.id,
        'model-name': model.name,
        version: '1.0.0',
        fields: ['z,1', 'a'],
        rows: [],
        'missing-devices': [],
      });
      const csv = await get(api, pathOf(model.id, '?format=csv'));
      expect([csv.status, csv.headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
      expect(csv.text).toBe('device,device-id,path,key,timestamp,"z,1",a\r\n');
    },
  },
  {
    sentence: 'a device that is to be collected and has no rows is missing, with the reason',
    async run(api) {
      const model = await createdModel(api);
      await addField(api, model.id, 'in');
      await addMapping(api, model.id, { protocol: 'snmp', field_mappings: { in: 'IF-MIB::ifHCInOctets' } });
      await activate(api, model.id);
      const deviceOf = async (members: object) => {
        const body = { name: freshName('device'), address: freshAddress(), netos: 'eos', ...members };
        const answer = await post(api, '/api/v1/devices', body);
        expect(answer.status, answer.text).toBe(201);
        return answer.json.id as number;
      };
      const silent = await deviceOf({ enabled: true, snmp: { 'timeout-ms': 100 } });
      const disabled = await deviceOf({ snmp: {} });
      const unfit = await deviceOf({ enabled: true, gnmi: {} });
      const subscription = await post(api, '/api/v1/subscriptions', {
        name: freshName('subscription'),
        enabled: true,
        'model-name': model.name,
        'model-version': 'latest',
        mode: 'poll',
        'interval-ms': 60_000,
        devices: { ids: [silent, disabled, unfit] },
      });
      expect(subscription.status, subscription.text).toBe(201);
      const { status, json, text } = await get(api, pathOf(model.id, '?format=json'));
      expect(status, text).toBe(200);
      expect(json.rows).toEqual([]);
      expect(json['missing-devices']).toEqual([
        { 'device-id': silent, reason: expect.stringMatching(/^(no-[a-z]+|snmp-no-response)$/) },
        { 'device-id': disabled, reason: 'disabled' },
        { 'device-id': unfit, reason: expect.stringContaining('looked for') },
      ]);
    },
  },
  {
    sentence: 'another format, another parameter and an unknown model are refused',
    async run(api) {
      const model = await createdModel(api);
      for (const query of ['?format=xml', '?limit=5']) {
        const { status, json } = await get(api, pathOf(model.id, query));
        expect([status, json.type]).toEqual([400, 'urn:graticule:problem:invalid-query']);
      }
      expect((await get(api, pathOf(999_999_999_999_999))).status).toBe(404);
    },
  },
];
