import type { FieldType } from './mapping/field-type.ts';
import { type MappingWarning, mappingWarnings } from './mapping/warnings.ts';
import { invalidBody, type MemberError } from './problem.ts';
import { type StringEntries, toObject } from './string-map.ts';

/** Bounds that keep a model within one stored item, whatever is written into it. */
export const MODEL_LIMITS = { fields: 1_000, mappings: 100, documentBytes: 300_000, pathCharacters: 16_384 };

export interface Field {
  readonly id: number;
  readonly name: string;
  readonly type: FieldType;
}

export const PROTOCOLS = ['gnmi', 'snmp'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

export interface Mapping {
  readonly id: number;
  readonly protocol: Protocol;
  readonly netos: string;
  /** Path by field name, in no particular order. */
  readonly fieldMappings: StringEntries;
}

/** A model version as stored. */
export interface Model {
  readonly id: number;
  /** Goes up by one with each change; the ETag. */
  readonly revision: number;
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly active: boolean;
  /** ISO time of the last activation, null before the first. */
  readonly activatedAt: string | null;
  /** Orders activations: the highest among a name's active versions is its latest. 0 before the first. */
  readonly activation: number;
  readonly fields: readonly Field[];
  readonly mappings: readonly Mapping[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A network operating system's name as devices have it. */
export const netosName = /^[a-z0-9._-]{1,64}$/;

/** The document that carries a model from one installation to another. */
export const EXPORT_FORMAT = 'graticule-model/1';

export interface MappingView {
  readonly id: number;
  readonly protocol: Protocol;
  readonly netos: string;
  readonly field_mappings: Record<string, string>;
  readonly warnings: readonly MappingWarning[];
}

/** A mapping as the API shows it. Warnings are worked out anew: they follow the model's fields. */
export function viewMapping(mapping: Mapping, fields: readonly Field[]): MappingView {
  const ordered = inFieldOrder(mapping.fieldMappings, fields);
  return {
    id: mapping.id,
    protocol: mapping.protocol,
    netos: mapping.netos,
    field_mappings: toObject(ordered),
    warnings: mappingWarnings(
      mapping.protocol,
      mapping.netos,
      ordered,
      fields.map((field) => field.name),
    ),
  };
}

/** A field as the API shows it, its members in one order. */
export function viewField({ id, name: fieldName, type }: Field): Field {
  return { id, name: fieldName, type };
}

/** A model as the API shows it. */
export function viewModel(model: Model) {
  return {
    id: model.id,
    name: model.name,
    version: model.version,
    description: model.description,
    active: model.active,
    'activated-at': model.activatedAt,
    fields: model.fields.map(viewField),
    mappings: model.mappings.map((mapping) => viewMapping(mapping, model.fields)),
    'created-at': model.createdAt,
    'updated-at': model.updatedAt,
  };
}

/** The export document: no ids, no state, one order for one content. */
export function exportModel(model: Model) {
  return {
    format: EXPORT_FORMAT,
    name: model.name,
    version: model.version,
    description: model.description,
    fields: model.fields.map(({ name: fieldName, type }) => ({ name: fieldName, type })),
    mappings: model.mappings.map(({ protocol, netos, fieldMappings }) => ({
      protocol,
      netos,
      field_mappings: toObject(inFieldOrder(fieldMappings, model.fields)),
    })),
  };
}

/** Refuses what a PUT of a model may not change, naming each member: 400 `immutable`. */
export function refuseImmutable(
  model: Model,
  asked: { readonly version?: unknown; readonly fields?: unknown; readonly mappings?: unknown },
): void {
  const shown = exportModel(model);
  const errors: MemberError[] = [];
  const check = (
    member: 'version' | 'fields' | 'mappings',
    same: (given: unknown) => boolean,
    how: string,
  ) => {
    const given = asked[member];
    if (given === undefined || same(given)) return;
    errors.push({
      pointer: `/${member}`,
      code: 'immutable',
      detail: `${member} cannot be changed here: ${how}`,
    });
  };
  check('version', (given) => given === model.version, 'make a new version');
  check('fields', (given) => listsAgree(given, shown.fields), 'use the paths below /fields');
  check('mappings', (given) => listsAgree(given, shown.mappings), 'use the paths below /mappings');
  if (errors.length > 0) throw invalidBody(errors);
}

/** The latest version of a name: of its active ones that which was activated last. */
export function latestVersion(models: readonly Model[], modelName: string): Model | undefined {
  return models
    .filter((model) => model.name === modelName && model.active)
    .toSorted((a, b) => a.activation - b.activation)
    .at(-1);
}

/** A model with another name for a field, carried into its mappings. */
export function renameField(mappings: readonly Mapping[], from: string, to: string): Mapping[] {
  return mappings.map((mapping) => {
    const others = mapping.fieldMappings.filter(([field]) => field !== to || to === from);
    const fieldMappings = mapping.fieldMappings.some(([field]) => field === from)
      ? others.map(([field, path]) => [field === from ? to : field, path] as const)
      : mapping.fieldMappings;
    return { ...mapping, fieldMappings };
  });
}

/** Mappings without their entries for a field. */
export function withoutField(mappings: readonly Mapping[], gone: string): Mapping[] {
  return mappings.map((mapping) => ({
    ...mapping,
    fieldMappings: mapping.fieldMappings.filter(([field]) => field !== gone),
  }));
}

/** Refuses a model that would not fit into a stored item. */
export function refuseOversized(model: Pick<Model, 'fields' | 'mappings' | 'description'>): void {
  const bytes = new TextEncoder().encode(
    JSON.stringify([model.fields, model.mappings, model.description]),
  ).length;
  const tooMany =
    model.fields.length > MODEL_LIMITS.fields
      ? `a model has at most ${MODEL_LIMITS.fields} fields`
      : model.mappings.length > MODEL_LIMITS.mappings
        ? `a model has at most ${MODEL_LIMITS.mappings} mappings`
        : bytes > MODEL_LIMITS.documentBytes
          ? `a model's fields and mappings have at most ${MODEL_LIMITS.documentBytes} bytes together`
          : undefined;
  if (tooMany !== undefined) throw invalidBody([{ pointer: '', code: 'out-of-range', detail: tooMany }]);
}

function inFieldOrder(entries: StringEntries, fields: readonly Field[]): StringEntries {
  const position = new Map(fields.map((field, index) => [field.name, index]));
  const rank = ([field]: readonly [string, string]) => position.get(field) ?? fields.length;
  return entries.toSorted((a, b) => rank(a) - rank(b) || (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
}

/** Whether a given list says what the shown one does, read-only members aside. */
function listsAgree(given: unknown, shown: ReadonlyArray<Record<string, unknown>>): boolean {
  if (!Array.isArray(given) || given.length !== shown.length) return false;
  return shown.every((wanted, index) => {
    const item: unknown = given[index];
    if (typeof item !== 'object' || item === null) return false;
    const { id: _id, warnings: _warnings, ...rest } = item as Record<string, unknown>;
    return stable(rest) === stable(wanted);
  });
}

function stable(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1))
      : member,
  );
}
