import { validateBody } from '../core/body.ts';
import {
  exportModel,
  type Model,
  refuseImmutable,
  refuseOversized,
  viewField,
  viewMapping,
  viewModel,
} from '../core/model.ts';
import {
  fieldBody,
  fieldOrder,
  MODEL_READ_ONLY,
  mappingBody,
  modelCreation,
  modelImport,
  modelUpdate,
  newVersion,
} from '../core/model-request.ts';
import { Problem } from '../core/problem.ts';
import { nextId, nextIds } from '../store/id-store.ts';
import { putLargeBody } from '../store/large-body-store.ts';
import { createModel, getModel, listModels, removeModel, replaceModel } from '../store/model-store.ts';
import { listSubscriptions } from '../store/subscription-store.ts';
import { type ApiRequest, type ApiResponse, apiHandler, type Operations } from './http.ts';
import { runLiveTest } from './live-test.ts';
import {
  addField,
  addMapping,
  changeField,
  changeMapping,
  cloneVersion,
  dropField,
  dropMapping,
  orderFields,
  refuseUsedModel,
} from './model-edits.ts';
import {
  entityTag,
  idParameter,
  nextPageLink,
  readPage,
  refuseUnknownParameters,
  requireMatch,
  retryUnlessConditional,
} from './preconditions.ts';
import { takeSnapshot } from './snapshot.ts';

const MODELS = '/api/v1/models';

const operations: Operations = {
  'GET /api/v1/models': {
    body: 'none',
    run: async (request) => {
      const page = readPage(request);
      const models = await listModels(page);
      const ids = models.map(({ id }) => id);
      return { status: 200, headers: nextPageLink(request, page, ids), body: models.map(viewModel) };
    },
  },

  'POST /api/v1/models': {
    body: 'json',
    run: async (request) => {
      const asked = validateBody(modelCreation, MODEL_READ_ONLY, request.body);
      const { name, description, version } = asked;
      return created(await create({ name, description, version, fields: [], mappings: [] }, request));
    },
  },

  'POST /api/v1/models/import': {
    body: 'json',
    run: async (request) => {
      const document = validateBody(modelImport, [], request.body);
      const fieldIds = await nextIds('field', document.fields.length);
      const mappingIds = await nextIds('mapping', document.mappings.length);
      const { name, version, description } = document;
      const fields = document.fields.map((field, index) => ({ id: fieldIds[index] as number, ...field }));
      const mappings = document.mappings.map(({ protocol, netos, field_mappings }, index) => ({
        id: mappingIds[index] as number,
        protocol,
        netos,
        fieldMappings: field_mappings,
      }));
      return created(await create({ name, version, description, fields, mappings }, request));
    },
  },

  'GET /api/v1/models/{modelId}': {
    body: 'none',
    run: async (request) => {
      refuseUnknownParameters(request, []);
      return answerWith(await existingModel(request));
    },
  },

  'PUT /api/v1/models/{modelId}': {
    body: 'json',
    run: async (request) => {
      const asked = validateBody(modelUpdate, MODEL_READ_ONLY, request.body);
      return retryUnlessConditional(request, async () => {
        const previous = await existingModel(request);
        requireMatch(request, previous.revision);
        refuseImmutable(previous, asked);
        const { name = previous.name, description = previous.description, active = previous.active } = asked;
        if (name === previous.name && description === previous.description && active === previous.active) {
          return answerWith(previous);
        }
        const activates = active && !previous.active;
        const next = {
          ...changed(previous, request),
          name,
          description,
          active,
          activation: activates ? await nextId('activation') : previous.activation,
          activatedAt: activates ? request.now.toISOString() : previous.activatedAt,
        };
        await replaceModel(previous, next);
        return answerWith(next);
      });
    },
  },

  'DELETE /api/v1/models/{modelId}': {
    body: 'none',
    run: (request) =>
      retryUnlessConditional(request, async () => {
        const model = await existingModel(request);
        requireMatch(request, model.revision);
        await removeModel(model, async () => {
          const [models, subscriptions] = await Promise.all([listModels(), listSubscriptions()]);
          refuseUsedModel(model, models, subscriptions);
        });
        return { status: 204 };
      }),
  },

  'GET /api/v1/models/{modelId}/snapshot': {
    body: 'none',
    run: (request) => takeSnapshot(request, () => existingModel(request)),
  },

  'GET /api/v1/models/{modelId}/export': {
    body: 'none',
    run: async (request) => {
      refuseUnknownParameters(request, []);
      return { status: 200, body: exportModel(await existingModel(request)) };
    },
  },

  'POST /api/v1/models/{modelId}/new-version': {
    body: 'optional',
    run: async (request) => {
      const asked = request.body === undefined ? {} : validateBody(newVersion, [], request.body);
      const source = await existingModel(request);
      return created(await cloneVersion(source, asked.version, (content) => create(content, request)));
    },
  },

  'POST /api/v1/models/{modelId}/test': {
    body: 'json',
    run: async (request) => runLiveTest(request, () => existingModel(request)),
  },

  'GET /api/v1/models/{modelId}/fields': {
    body: 'none',
    run: async (request) => {
      refuseUnknownParameters(request, []);
      const model = await existingModel(request);
      return { status: 200, headers: tag(model), body: model.fields.map(viewField) };
    },
  },

  'POST /api/v1/models/{modelId}/fields': {
    body: 'json',
    run: async (request) => {
      const asked = validateBody(fieldBody, ['id'], request.body);
      const id = await nextId('field');
      const model = await edit(request, (previous) => addField(previous, { id, ...asked }));
      return part(model, 201, viewField({ id, ...asked }), `${MODELS}/${model.id}/fields/${id}`);
    },
  },

  'PUT /api/v1/models/{modelId}/fields/order': {
    body: 'json',
    run: async (request) => {
      const { 'field-ids': ids } = validateBody(fieldOrder, [], request.body);
      const model = await edit(request, (previous) => orderFields(previous, ids));
      return part(model, 200, model.fields.map(viewField));
    },
  },

  'PUT /api/v1/models/{modelId}/fields/{fieldId}': {
    body: 'json',
    run: async (request) => {
      const asked = validateBody(fieldBody, ['id'], request.body);
      const id = idParameter(request, 'fieldId');
      const model = await edit(request, (previous) => changeField(previous, { id, ...asked }));
      return part(model, 200, viewField({ id, ...asked }));
    },
  },

  'DELETE /api/v1/models/{modelId}/fields/{fieldId}': {
    body: 'none',
    run: async (request) => {
      const id = idParameter(request, 'fieldId');
      await edit(request, (previous) => dropField(previous, id));
      return { status: 204 };
    },
  },

  'GET /api/v1/models/{modelId}/mappings': {
    body: 'none',
    run: async (request) => {
      refuseUnknownParameters(request, []);
      const model = await existingModel(request);
      const body = model.mappings.map((mapping) => viewMapping(mapping, model.fields));
      return { status: 200, headers: tag(model), body };
    },
  },

  'POST /api/v1/models/{modelId}/mappings': {
    body: 'json',
    run: async (request) => {
      const asked = validateBody(mappingBody, ['id', 'warnings'], request.body);
      const id = await nextId('mapping');
      const { protocol, netos, field_mappings: fieldMappings } = asked;
      const model = await edit(request, (previous) =>
        addMapping(previous, { id, protocol, netos, fieldMappings }),
      );
      return part(model, 201, mappingOf(model, id), `${MODELS}/${model.id}/mappings/${id}`);
    },
  },

  'PUT /api/v1/models/{modelId}/mappings/{mappingId}': {
    body: 'json',
    run: async (request) => {
      const asked = validateBody(mappingBody, ['id', 'warnings'], request.body);
      const id = idParameter(request, 'mappingId');
      const { protocol, netos, field_mappings: fieldMappings } = asked;
      const model = await edit(request, (previous) =>
        changeMapping(previous, { id, protocol, netos, fieldMappings }),
      );
      return part(model, 200, mappingOf(model, id));
    },
  },

  'DELETE /api/v1/models/{modelId}/mappings/{mappingId}': {
    body: 'none',
    run: async (request) => {
      const id = idParameter(request, 'mappingId');
      await edit(request, (previous) => dropMapping(previous, id));
      return { status: 204 };
    },
  },
};

export const handler = apiHandler('models', operations, { putLargeBody });

type Content = Pick<Model, 'name' | 'version' | 'description' | 'fields' | 'mappings'>;

/** Stores a new, inactive model. */
async function create(content: Content, request: ApiRequest): Promise<Model> {
  refuseOversized(content);
  const at = request.now.toISOString();
  const state = {
    revision: 1,
    active: false,
    activatedAt: null,
    activation: 0,
    createdAt: at,
    updatedAt: at,
  };
  const model = { id: await nextId('model'), ...content, ...state };
  await createModel(model);
  return model;
}

/** Changes fields or mappings of a model; a change that leaves it as it is costs no revision. */
function edit(request: ApiRequest, apply: (previous: Model) => Model): Promise<Model> {
  return retryUnlessConditional(request, async () => {
    const previous = await existingModel(request);
    requireMatch(request, previous.revision);
    const edited = apply(previous);
    if (edited === previous) return previous;
    refuseOversized(edited);
    const next = {
      ...edited,
      ...changed(previous, request),
      fields: edited.fields,
      mappings: edited.mappings,
    };
    await replaceModel(previous, next);
    return next;
  });
}

function changed(previous: Model, request: ApiRequest): Model {
  return { ...previous, revision: previous.revision + 1, updatedAt: request.now.toISOString() };
}

async function existingModel(request: ApiRequest): Promise<Model> {
  const id = idParameter(request, 'modelId');
  const model = await getModel(id);
  if (model === undefined) throw new Problem('not-found', `there is no model ${id}`);
  return model;
}

function answerWith(model: Model): ApiResponse {
  return { status: 200, headers: tag(model), body: viewModel(model) };
}

function created(model: Model): ApiResponse {
  const headers = { ...tag(model), location: `${MODELS}/${model.id}` };
  return { status: 201, headers, body: viewModel(model) };
}

function part(model: Model, status: number, body: unknown, location?: string): ApiResponse {
  return { status, headers: { ...tag(model), ...(location === undefined ? {} : { location }) }, body };
}

function mappingOf(model: Model, id: number) {
  const mapping = model.mappings.find((candidate) => candidate.id === id);
  return mapping === undefined ? undefined : viewMapping(mapping, model.fields);
}

function tag(model: Model): { etag: string } {
  return { etag: entityTag(model.revision) };
}
