import {
  type Field,
  latestVersion,
  type Mapping,
  type Model,
  renameField,
  withoutField,
} from '../core/model.ts';
import { nextMinorVersion } from '../core/model-version.ts';
import { invalidBody, Problem } from '../core/problem.ts';
import { LATEST, type Subscription } from '../core/subscription.ts';
import { nextIds } from '../store/id-store.ts';
import { listModels } from '../store/model-store.ts';

/** Racing new-versions each take the next free version; this many losses in a row mean something else is wrong. */
const MAX_CLONE_TRIES = 50;

export function addField(model: Model, field: Field): Model {
  refuseTakenName(model, field);
  return { ...model, fields: [...model.fields, field] };
}

/** Another name is carried into the mappings, so that the field keeps its paths. */
export function changeField(model: Model, field: Field): Model {
  const previous = model.fields.find(({ id }) => id === field.id);
  if (previous === undefined) throw noSuch(model, 'field', field.id);
  if (previous.name === field.name && previous.type === field.type) return model;
  refuseTakenName(model, field);
  const fields = model.fields.map((candidate) => (candidate.id === field.id ? field : candidate));
  return { ...model, fields, mappings: renameField(model.mappings, previous.name, field.name) };
}

/** The field's paths go with it. */
export function dropField(model: Model, id: number): Model {
  const gone = model.fields.find((field) => field.id === id);
  if (gone === undefined) throw noSuch(model, 'field', id);
  const fields = model.fields.filter((field) => field !== gone);
  return { ...model, fields, mappings: withoutField(model.mappings, gone.name) };
}

export function orderFields(model: Model, ids: readonly number[]): Model {
  const byId = new Map(model.fields.map((field) => [field.id, field]));
  const fields = ids.map((id) => byId.get(id)).filter((field) => field !== undefined);
  const isPermutation =
    new Set(ids).size === ids.length && fields.length === ids.length && ids.length === byId.size;
  if (!isPermutation) {
    throw invalidBody([
      {
        pointer: '/field-ids',
        code: 'unknown-reference',
        detail: "field-ids names each of the model's fields once",
      },
    ]);
  }
  return fields.every((field, index) => field === model.fields[index]) ? model : { ...model, fields };
}

export function addMapping(model: Model, mapping: Mapping): Model {
  refuseTakenPlatform(model, mapping);
  return { ...model, mappings: [...model.mappings, mapping] };
}

export function changeMapping(model: Model, mapping: Mapping): Model {
  const previous = model.mappings.find(({ id }) => id === mapping.id);
  if (previous === undefined) throw noSuch(model, 'mapping', mapping.id);
  if (sorted(previous) === sorted(mapping)) return model;
  refuseTakenPlatform(model, mapping);
  return {
    ...model,
    mappings: model.mappings.map((candidate) => (candidate.id === mapping.id ? mapping : candidate)),
  };
}

export function dropMapping(model: Model, id: number): Model {
  if (!model.mappings.some((mapping) => mapping.id === id)) throw noSuch(model, 'mapping', id);
  return { ...model, mappings: model.mappings.filter((mapping) => mapping.id !== id) };
}

/**
 * Makes a version of a model's name with the model's fields and mappings. Without a version it is the next minor after
 * the name's highest; one that another caller takes meanwhile is skipped.
 */
export async function cloneVersion(
  source: Model,
  asked: string | undefined,
  create: (
    content: Pick<Model, 'name' | 'version' | 'description' | 'fields' | 'mappings'>,
  ) => Promise<Model>,
): Promise<Model> {
  const fieldIds = await nextIds('field', source.fields.length);
  const mappingIds = await nextIds('mapping', source.mappings.length);
  const content = {
    name: source.name,
    description: source.description,
    fields: source.fields.map((field, index) => ({ ...field, id: fieldIds[index] as number })),
    mappings: source.mappings.map((mapping, index) => ({ ...mapping, id: mappingIds[index] as number })),
  };
  if (asked !== undefined) return create({ ...content, version: asked });
  for (let tries = 1; ; tries += 1) {
    const versions = (await listModels())
      .filter(({ name }) => name === source.name)
      .map(({ version }) => version);
    try {
      return await create({ ...content, version: nextMinorVersion(versions) });
    } catch (error) {
      const isTaken = error instanceof Problem && error.type === 'conflict';
      if (!isTaken || tries === MAX_CLONE_TRIES) throw error;
    }
  }
}

/** Refuses the removal of a model that a subscription collects, pinned or as the latest of its name: 409. */
export function refuseUsedModel(
  model: Model,
  models: readonly Model[],
  subscriptions: readonly Subscription[],
): void {
  const isLatest = latestVersion(models, model.name)?.id === model.id;
  const isOnly = models.filter(({ name }) => name === model.name).length === 1;
  const user = subscriptions.find(({ configuration, pinnedModelId }) =>
    pinnedModelId === null
      ? configuration['model-version'] === LATEST &&
        configuration['model-name'] === model.name &&
        (isLatest || isOnly)
      : pinnedModelId === model.id,
  );
  if (user === undefined) return;
  throw new Problem('conflict', `subscription ${user.id} uses model ${model.id}`, { conflictingId: user.id });
}

function refuseTakenName(model: Model, field: Field): void {
  const holder = model.fields.find(({ id, name }) => name === field.name && id !== field.id);
  if (holder === undefined) return;
  throw new Problem('conflict', `field ${holder.id} has this name`, { conflictingId: holder.id });
}

function refuseTakenPlatform(model: Model, mapping: Mapping): void {
  const holder = model.mappings.find(
    ({ id, protocol, netos }) =>
      protocol === mapping.protocol && netos === mapping.netos && id !== mapping.id,
  );
  if (holder === undefined) return;
  throw new Problem('conflict', `mapping ${holder.id} has this protocol and netos`, {
    conflictingId: holder.id,
  });
}

function noSuch(model: Model, kind: 'field' | 'mapping', id: number): Problem {
  return new Problem('not-found', `model ${model.id} has no ${kind} ${id}`);
}

function sorted(mapping: Mapping): string {
  const paths = mapping.fieldMappings.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([mapping.protocol, mapping.netos, paths]);
}
