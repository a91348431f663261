import { EXPORT_FORMAT } from '../core/model.ts';
import { isSameJson, type Json, type JsonObject } from './json-text.ts';
import type { Change } from './plan-steps.ts';

/** One request on the way from a model as it is to one as it is wanted. */
export interface ModelStep {
  readonly action: 'create' | 'update';
  readonly method: 'POST' | 'PUT' | 'DELETE';
  /** Below the collection of models; `{id}` is the model's own. */
  readonly path: string;
  readonly body: JsonObject | undefined;
  readonly changes: readonly Change[];
  readonly part: 'import' | 'field' | 'order' | 'mapping' | 'model';
}

/**
 * The requests that make a model be as wanted: an import and its activation for a new one; for one that is there its
 * mappings and fields in an order that each step allows, and its state last, so that nobody collects half a model.
 */
export function planModelChanges(current: JsonObject | undefined, wanted: JsonObject): ModelStep[] {
  const { active, ...content } = wanted;
  if (current === undefined) {
    const body = { format: EXPORT_FORMAT, ...content };
    const changes = Object.entries(content).map(([member, to]) => ({ member, from: undefined, to }));
    const created: ModelStep = {
      action: 'create',
      method: 'POST',
      path: '/import',
      body,
      changes,
      part: 'import',
    };
    return active === true ? [created, stateChange({ active: false }, wanted)] : [created];
  }
  const steps = [...partChanges(current, wanted)];
  const isSame = (['name', 'description', 'active'] as const).every(
    (member) => current[member] === wanted[member],
  );
  return isSame ? steps : [...steps, stateChange(current, wanted)];
}

function stateChange(current: JsonObject, wanted: JsonObject): ModelStep {
  const changes = (['name', 'description', 'active'] as const)
    .filter((member) => current[member] !== undefined && current[member] !== wanted[member])
    .map((member) => ({ member, from: current[member], to: wanted[member] }));
  const body = Object.fromEntries(changes.map(({ member, to }) => [member, to as Json]));
  return { action: 'update', method: 'PUT', path: '/{id}', body, changes, part: 'model' };
}

function* partChanges(current: JsonObject, wanted: JsonObject): Generator<ModelStep> {
  const step = (
    method: ModelStep['method'],
    part: ModelStep['part'],
    path: string,
    body: JsonObject | undefined,
    change: Change,
  ): ModelStep => ({ action: 'update', method, path: `/{id}${path}`, body, changes: [change], part });

  const wantedMappings = list(wanted['mappings']);
  const wantedFields = list(wanted['fields']);
  const platform = (mapping: JsonObject) => `${mapping['protocol']} ${mapping['netos']}`;
  const isWantedPlatform = new Set(wantedMappings.map(platform));
  for (const mapping of list(current['mappings'])) {
    if (isWantedPlatform.has(platform(mapping))) continue;
    const change = { member: `mapping ${platform(mapping)}`, from: mapping['field_mappings'], to: undefined };
    yield step('DELETE', 'mapping', `/mappings/${mapping['id']}`, undefined, change);
  }

  const isWantedField = new Set(wantedFields.map(({ name }) => name));
  const kept = list(current['fields']).filter(({ name }) => isWantedField.has(name));
  for (const { id, name, type } of list(current['fields'])) {
    if (isWantedField.has(name)) continue;
    const change = { member: `field ${name}`, from: type, to: undefined };
    yield step('DELETE', 'field', `/fields/${id}`, undefined, change);
  }
  const present = new Map(kept.map((field) => [field['name'], field]));
  for (const { name, type } of wantedFields) {
    const field = present.get(name);
    const change = { member: `field ${name}`, from: field?.['type'], to: type };
    const body = { name: name as Json, type: type as Json };
    if (field === undefined) yield step('POST', 'field', '/fields', body, change);
    else if (field['type'] !== type) yield step('PUT', 'field', `/fields/${field['id']}`, body, change);
  }
  const added = wantedFields.filter(({ name }) => !present.has(name));
  const order = [...kept, ...added].map(({ name }) => name as Json);
  const wantedOrder = wantedFields.map(({ name }) => name as Json);
  if (!isSameJson(order, wantedOrder)) {
    const change = { member: 'order of fields', from: order, to: wantedOrder };
    yield step('PUT', 'order', '/fields/order', { 'field-ids': wantedOrder }, change);
  }

  const mappings = new Map(list(current['mappings']).map((mapping) => [platform(mapping), mapping]));
  for (const mapping of wantedMappings) {
    const there = mappings.get(platform(mapping));
    // What a field that went had in it is gone with the field.
    const paths =
      there === undefined ? undefined : withoutFields(there['field_mappings'] as JsonObject, isGone);
    const change = { member: `mapping ${platform(mapping)}`, from: paths, to: mapping['field_mappings'] };
    if (paths === undefined) yield step('POST', 'mapping', '/mappings', mapping, change);
    else if (!isSameJson(paths, mapping['field_mappings'] as Json))
      yield step('PUT', 'mapping', `/mappings/${there?.['id']}`, mapping, change);
  }

  function isGone(name: string): boolean {
    return list(current['fields']).some((field) => field['name'] === name) && !isWantedField.has(name);
  }
}

function withoutFields(paths: JsonObject, isGone: (name: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(paths).filter(([name]) => !isGone(name)));
}

function list(value: Json | undefined): readonly JsonObject[] {
  return (value ?? []) as readonly JsonObject[];
}
