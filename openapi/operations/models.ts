import { liveTestAnswer } from '../../core/live-test-answer.ts';
import { liveTestBody } from '../../core/live-test-request.ts';
import { fieldAnswer, mappingAnswer, modelAnswer, modelExportAnswer } from '../../core/model-answer.ts';
import {
  fieldBody,
  fieldOrder,
  MODEL_READ_ONLY,
  mappingBody,
  modelCreation,
  modelImport,
  modelUpdate,
  newVersion,
} from '../../core/model-request.ts';
import { CSV_TYPE, SNAPSHOT_FORMATS } from '../../core/snapshot.ts';
import { snapshotAnswer } from '../../core/snapshot-answer.ts';
import { type NamedRequest, type NamedSchema, type OperationDocuments, PAGE } from '../operation.ts';

const MODEL: NamedSchema = { name: 'Model', schema: modelAnswer };
const FIELD: NamedSchema = { name: 'Field', schema: fieldAnswer };
const MAPPING: NamedSchema = { name: 'Mapping', schema: mappingAnswer };
const FIELD_REQUEST: NamedRequest = { name: 'FieldRequest', schema: fieldBody, readOnly: ['id'] };
const MAPPING_REQUEST: NamedRequest = {
  name: 'MappingRequest',
  schema: mappingBody,
  readOnly: ['id', 'warnings'],
};

export const MODEL_OPERATIONS: OperationDocuments = {
  'GET /api/v1/models': {
    id: 'listModels',
    summary: 'List the models, each version by itself',
    query: PAGE,
    answer: {
      status: 200,
      description: 'The models in the order of their ids',
      body: MODEL,
      isList: true,
      headers: ['Link'],
    },
  },
  'POST /api/v1/models': {
    id: 'createModel',
    summary: 'Create a model without fields',
    description: 'It starts inactive; fields and mappings are added one by one, or come with an import.',
    request: { name: 'ModelRequest', schema: modelCreation, readOnly: MODEL_READ_ONLY },
    answer: { status: 201, description: 'The model', body: MODEL, headers: ['ETag', 'Location'] },
    problems: ['conflict'],
  },
  'POST /api/v1/models/import': {
    id: 'importModel',
    summary: 'Create a model from an export document',
    request: { name: 'ModelImport', schema: modelImport, readOnly: [] },
    answer: { status: 201, description: 'The model, inactive', body: MODEL, headers: ['ETag', 'Location'] },
    problems: ['conflict'],
  },
  'GET /api/v1/models/{modelId}': {
    id: 'getModel',
    summary: 'Show a model',
    answer: { status: 200, description: 'The model', body: MODEL, headers: ['ETag'] },
  },
  'PUT /api/v1/models/{modelId}': {
    id: 'updateModel',
    summary: 'Rename, describe, activate or deactivate a model',
    description:
      'Only `name`, `description` and `active` change; those omitted stay. Another `version`, `fields` or `mappings` is refused as `immutable`.',
    isConditional: true,
    request: { name: 'ModelUpdate', schema: modelUpdate, readOnly: MODEL_READ_ONLY },
    answer: { status: 200, description: 'The model', body: MODEL, headers: ['ETag'] },
    problems: ['conflict'],
  },
  'DELETE /api/v1/models/{modelId}': {
    id: 'deleteModel',
    summary: 'Delete a model',
    isConditional: true,
    answer: { status: 204, description: 'The model is gone' },
    problems: ['conflict'],
  },
  'GET /api/v1/models/{modelId}/export': {
    id: 'exportModel',
    summary: 'Export a model',
    answer: {
      status: 200,
      description: 'The export document: no ids, no state, one order for one content',
      body: { name: 'ModelExport', schema: modelExportAnswer },
    },
  },
  'GET /api/v1/models/{modelId}/snapshot': {
    id: 'getModelSnapshot',
    summary: "Show the newest rows of all the model's devices",
    description:
      'Asked of the workers, which hold them; nothing is stored. The CSV (RFC 4180) has a header line and leaves out the missing devices.',
    query: {
      format: { description: 'json when omitted', schema: { type: 'string', enum: [...SNAPSHOT_FORMATS] } },
    },
    answer: {
      status: 200,
      description: 'The rows, and the devices that have none with the reason',
      body: { name: 'Snapshot', schema: snapshotAnswer },
      texts: [CSV_TYPE],
    },
  },
  'POST /api/v1/models/{modelId}/new-version': {
    id: 'createModelVersion',
    summary: 'Clone a model into a new version',
    description: 'Without a body: the highest version of its name, minor plus one, patch 0.',
    request: { name: 'NewVersion', schema: newVersion, readOnly: [], isOptional: true },
    answer: { status: 201, description: 'The new model', body: MODEL, headers: ['ETag', 'Location'] },
    problems: ['conflict'],
  },
  'POST /api/v1/models/{modelId}/test': {
    id: 'testModel',
    summary: 'Try a mapping on a device now',
    description:
      'A worker asks the device, for at most 20 seconds. A device that fails is an answer, not an error.',
    request: { name: 'LiveTestRequest', schema: liveTestBody, readOnly: [] },
    answer: {
      status: 200,
      description: 'Rows, raw updates, and what explains an empty answer',
      body: { name: 'LiveTest', schema: liveTestAnswer },
    },
    problems: ['no-worker'],
  },
  'GET /api/v1/models/{modelId}/fields': {
    id: 'listFields',
    summary: "List a model's fields",
    answer: {
      status: 200,
      description: "The fields in the model's order",
      body: FIELD,
      isList: true,
      headers: ['ETag'],
    },
  },
  'POST /api/v1/models/{modelId}/fields': {
    id: 'createField',
    summary: 'Add a field',
    isConditional: true,
    request: FIELD_REQUEST,
    answer: { status: 201, description: 'The field', body: FIELD, headers: ['ETag', 'Location'] },
    problems: ['conflict'],
  },
  'PUT /api/v1/models/{modelId}/fields/order': {
    id: 'orderFields',
    summary: 'Order the fields',
    isConditional: true,
    request: { name: 'FieldOrder', schema: fieldOrder, readOnly: [] },
    answer: {
      status: 200,
      description: 'The fields in their new order',
      body: FIELD,
      isList: true,
      headers: ['ETag'],
    },
  },
  'PUT /api/v1/models/{modelId}/fields/{fieldId}': {
    id: 'replaceField',
    summary: 'Rename or retype a field',
    description: 'Another name is carried into the mappings.',
    isConditional: true,
    request: FIELD_REQUEST,
    answer: { status: 200, description: 'The field', body: FIELD, headers: ['ETag'] },
    problems: ['conflict'],
  },
  'DELETE /api/v1/models/{modelId}/fields/{fieldId}': {
    id: 'deleteField',
    summary: 'Remove a field and its paths',
    isConditional: true,
    answer: { status: 204, description: 'The field is gone' },
  },
  'GET /api/v1/models/{modelId}/mappings': {
    id: 'listMappings',
    summary: "List a model's mappings",
    answer: {
      status: 200,
      description: 'The mappings with their warnings',
      body: MAPPING,
      isList: true,
      headers: ['ETag'],
    },
  },
  'POST /api/v1/models/{modelId}/mappings': {
    id: 'createMapping',
    summary: 'Add a mapping',
    description: 'One for each protocol and network operating system; `*` fits those without their own.',
    isConditional: true,
    request: MAPPING_REQUEST,
    answer: { status: 201, description: 'The mapping', body: MAPPING, headers: ['ETag', 'Location'] },
    problems: ['conflict'],
  },
  'PUT /api/v1/models/{modelId}/mappings/{mappingId}': {
    id: 'replaceMapping',
    summary: 'Replace a mapping',
    isConditional: true,
    request: MAPPING_REQUEST,
    answer: { status: 200, description: 'The mapping', body: MAPPING, headers: ['ETag'] },
    problems: ['conflict'],
  },
  'DELETE /api/v1/models/{modelId}/mappings/{mappingId}': {
    id: 'deleteMapping',
    summary: 'Remove a mapping',
    isConditional: true,
    answer: { status: 204, description: 'The mapping is gone' },
  },
};
