import { type Command, cell, findByWord, objects, show, takeWords, text, usageFailure } from '../command.ts';
import { EXIT, Failure } from '../exit-code.ts';
import { isObject, type Json, type JsonObject } from '../json-text.ts';
import { findModel } from './models.ts';

export const testCommand: Command = {
  name: 'test',
  summary: 'try a mapping against a real device, once',
  usage: ['test MODEL DEVICE [--protocol gnmi|snmp] [--mapping ID]'],
  flags: {
    protocol: { type: 'string', value: 'PROTOCOL', text: 'gnmi or snmp; else what the device speaks' },
    mapping: { type: 'string', value: 'ID', text: 'one of the model’s mappings, by its id' },
  },
  help: 'The mapping is the one that a subscription would take: gNMI before SNMP, the device’s own netos before *. Ends with 0 only when the device gave something.',
  async run(context) {
    const [modelWord, deviceWord] = takeWords(context, 2);
    const model = findModel(objects(await context.client.list('/api/v1/models')), modelWord);
    const device = findByWord(objects(await context.client.list('/api/v1/devices')), deviceWord, 'device');
    const body = {
      'device-id': device['id'] as Json,
      'mapping-id': mappingOf(model, device, text(context, 'protocol'), text(context, 'mapping')),
    };
    const { json } = await context.client.send('POST', `/api/v1/models/${model['id']}/test`, { body });
    const results = isObject(json) ? objects((json['parsed-results'] ?? []) as readonly Json[]) : [];
    const fields = objects(model['fields'] as readonly Json[]).map(({ name }) => String(name));
    show(
      context,
      json ?? null,
      results,
      [
        { title: 'KEY', value: (row: JsonObject) => cell(row, 'key') || '-' },
        ...fields.map((field) => ({ title: field, value: (row: JsonObject) => cell(row, 'data', field) })),
      ],
      'The device gave no rows.',
    );
    const outcome = cell(json, 'outcome');
    if (outcome === 'ok') return EXIT.ok;
    const unmatched = objects(memberList(json, 'explanation', 'unmatched-paths')).length;
    throw new Failure(
      outcome === 'failed'
        ? `${cell(device, 'name')}: ${cell(json, 'error', 'detail')} (${cell(json, 'error', 'code')})`
        : `${cell(device, 'name')} answered, but nothing matched${unmatched === 0 ? '' : `: ${unmatched} paths found nothing`}; --output json explains`,
      EXIT.refused,
    );
  },
};

function memberList(item: Json | undefined, outer: string, inner: string): readonly Json[] {
  const value = isObject(item) && isObject(item[outer]) ? item[outer][inner] : undefined;
  return Array.isArray(value) ? value : [];
}

/** As core's chooseMapping does for subscriptions. */
function mappingOf(
  model: JsonObject,
  device: JsonObject,
  asked: string | undefined,
  id: string | undefined,
): number {
  const mappings = objects(model['mappings'] as readonly Json[]);
  if (asked !== undefined && asked !== 'gnmi' && asked !== 'snmp')
    throw usageFailure(`--protocol ${asked}: it is gnmi or snmp`);
  if (id !== undefined) {
    const named = mappings.find((mapping) => String(mapping['id']) === id);
    if (named === undefined)
      throw new Failure(`model ${cell(model, 'name')} has no mapping ${id}`, EXIT.refused);
    return Number(named['id']);
  }
  const netos = cell(device, 'netos');
  for (const protocol of asked === undefined ? ['gnmi', 'snmp'] : [asked]) {
    if (device[protocol] === null) continue;
    const fitting = mappings.filter((mapping) => mapping['protocol'] === protocol);
    const mapping =
      fitting.find((candidate) => candidate['netos'] === netos) ??
      fitting.find((candidate) => candidate['netos'] === '*');
    if (mapping !== undefined) return Number(mapping['id']);
  }
  throw new Failure(
    `model ${cell(model, 'name')} has no mapping for ${netos} or * that ${cell(device, 'name')} speaks`,
    EXIT.refused,
  );
}
