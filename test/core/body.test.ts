import { describe, expect, it } from 'vitest';
import { type BodySchema, validateBody } from '../../core/body.ts';
import { deviceConfiguration } from '../../core/device-request.ts';
import { fieldOrder, modelCreation, modelImport } from '../../core/model-request.ts';
import { peerConfiguration } from '../../core/peer-request.ts';
import { type MemberError, Problem } from '../../core/problem.ts';
import { subscriptionConfiguration } from '../../core/subscription-request.ts';
import { webhookRequest } from '../../core/webhook-request.ts';

function errorsOf(schema: BodySchema, body: unknown): readonly MemberError[] {
  try {
    validateBody(schema, [], body);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.extras.errors ?? [];
  }
  return [];
}

/** What a body is refused with: pairs of pointer and code. */
const refusals = (schema: BodySchema, body: unknown): string[] =>
  errorsOf(schema, body)
    .map(({ pointer, code }) => `${pointer} ${code}`)
    .sort();

const PEER = { name: 'rr', 'peer-address': '192.0.2.1', 'user-peer-as': '65001' };

describe('a refused body is told of everything at once: a rule among members', () => {
  it('is looked at beside a wrong type and an unknown member', () => {
    const body = {
      ...PEER,
      name: 7,
      'hold-time': 30,
      'keepalive-time': 30,
      'local-address': '::1',
      'hold-tme': 3,
    };
    expect(refusals(peerConfiguration, body)).toEqual([
      '/hold-tme unknown-member',
      '/keepalive-time out-of-range',
      '/local-address invalid-format',
      '/name wrong-type',
    ]);
  });

  it('is not looked at where one of its own members is wrong, which would tell one fault twice', () => {
    expect(refusals(peerConfiguration, { ...PEER, 'hold-time': '9', 'keepalive-time': 9 })).toEqual([
      '/hold-time wrong-type',
    ]);
    const subscription = { name: 's', 'model-name': 'm', 'model-version': 'latest', mode: 'sample' };
    expect(refusals(subscriptionConfiguration, { ...subscription, 'interval-ms': '1000' })).toEqual([
      '/interval-ms wrong-type',
    ]);
    expect(refusals(peerConfiguration, [])).toEqual([' wrong-type']);
    expect(refusals(webhookRequest, { enabled: true, config: null })).toEqual(['/config wrong-type']);
  });

  it('is looked at in what is nested, too', () => {
    const snmp = { version: 'v3', 'auth-protocol': 'md5', retries: 'two', communty: 'public' };
    expect(refusals(deviceConfiguration, { name: '', address: '192.0.2.1', netos: 'eos', snmp })).toEqual([
      '/name out-of-range',
      '/snmp/auth-password required',
      '/snmp/communty unknown-member',
      '/snmp/retries wrong-type',
      '/snmp/user required',
    ]);
    expect(refusals(deviceConfiguration, { name: 7, address: '192.0.2.1', netos: 'eos' })).toEqual([
      '/gnmi required',
      '/name wrong-type',
    ]);
    const headers = { host: 'x', 'x-a': 7, 'two words': 'x' };
    const config = { url: '', 'timeout-ms': '9', headers, colour: 'red' };
    expect(refusals(webhookRequest, { enabled: true, config })).toEqual([
      '/config/colour unknown-member',
      '/config/headers/host invalid-format',
      '/config/headers/two words invalid-format',
      '/config/headers/x-a wrong-type',
      '/config/timeout-ms wrong-type',
      '/config/url required',
    ]);
  });

  it('is looked at in each list of a model beside faults of the other', () => {
    const field = { name: 'a', type: 'string' };
    const mapping = { protocol: 'gnmi', netos: 'eos', field_mappings: {} };
    const model = { format: 'graticule-model/1', name: 'm', version: '1.0.0' };
    const mappings = [mapping, { ...mapping, protocol: 'netconf' }];
    expect(refusals(modelImport, { ...model, fields: [field, field], mappings })).toEqual([
      '/fields/1/name duplicate',
      '/mappings/1/protocol invalid-format',
    ]);
    expect(refusals(modelCreation, { name: 7, fields: [field], active: true })).toEqual([
      '/active immutable',
      '/fields immutable',
      '/name wrong-type',
    ]);
  });
});

describe('what is wrong with a member of a list', () => {
  it('is told with the list and the place in it', () => {
    expect(errorsOf(fieldOrder, { 'field-ids': [1, '2'] })).toEqual([
      {
        pointer: '/field-ids/1',
        code: 'wrong-type',
        detail: "field-ids[1] is a field's id, not a string",
      },
    ]);
  });
});
