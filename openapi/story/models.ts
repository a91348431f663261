import type { StoryStep } from '../example.ts';

const MODELS = '/api/v1/models';
const MODEL = `${MODELS}/{modelId}`;

const COUNTERS = '/interfaces/interface[name=*]/state/counters';

const DOCUMENT = {
  format: 'graticule-model/1',
  name: 'interfaces',
  version: '1.0.0',
  description: 'Traffic of each interface',
  fields: [
    { name: 'name', type: 'string' },
    { name: 'in-octets', type: 'counter64' },
    { name: 'out-octets', type: 'counter64' },
  ],
  mappings: [
    {
      protocol: 'gnmi',
      netos: 'srlinux',
      field_mappings: {
        name: '/interfaces/interface[name=*]/name',
        'in-octets': `${COUNTERS}/in-octets`,
        'out-octets': `${COUNTERS}/out-octets`,
      },
    },
    {
      protocol: 'snmp',
      netos: '*',
      field_mappings: {
        name: 'IF-MIB::ifName',
        'in-octets': 'IF-MIB::ifHCInOctets',
        'out-octets': 'IF-MIB::ifHCOutOctets',
      },
    },
  ],
};

export const MODEL_STEPS: readonly StoryStep[] = [
  {
    name: 'import-model',
    operation: `POST ${MODELS}/import`,
    title: 'A whole model',
    body: DOCUMENT,
    status: 201,
  },
  {
    name: 'import-model-refused',
    operation: `POST ${MODELS}/import`,
    title: 'Two fields of one name',
    body: { ...DOCUMENT, version: '1.1.0', fields: [DOCUMENT.fields[0], DOCUMENT.fields[0]] },
    status: 400,
  },
  {
    name: 'create-model',
    operation: `POST ${MODELS}`,
    title: 'A model to be filled',
    body: { name: 'cpu', description: 'Load of each processor' },
    status: 201,
  },
  {
    name: 'create-field',
    operation: `POST ${MODEL}/fields`,
    title: 'A field',
    path: { modelId: '2' },
    body: { name: 'instant', type: 'uint8' },
    status: 201,
  },
  {
    name: 'create-second-field',
    operation: `POST ${MODEL}/fields`,
    title: 'Another one',
    path: { modelId: '2' },
    body: { name: 'average', type: 'uint8' },
    status: 201,
  },
  {
    name: 'create-field-refused',
    operation: `POST ${MODEL}/fields`,
    title: 'A type that there is not',
    path: { modelId: '2' },
    body: { name: 'maximum', type: 'int' },
    status: 400,
  },
  {
    name: 'order-fields',
    operation: `PUT ${MODEL}/fields/order`,
    title: 'The second first',
    path: { modelId: '2' },
    body: { 'field-ids': [5, 4] },
    status: 200,
  },
  {
    name: 'create-spare-field',
    operation: `POST ${MODEL}/fields`,
    title: 'One that nobody will read',
    path: { modelId: '2' },
    body: { name: 'spare', type: 'string' },
    status: 201,
  },
  {
    name: 'list-fields',
    operation: `GET ${MODEL}/fields`,
    title: 'In their order',
    path: { modelId: '2' },
    status: 200,
  },
  {
    name: 'replace-field',
    operation: `PUT ${MODEL}/fields/{fieldId}`,
    title: 'Another type',
    path: { modelId: '2', fieldId: '4' },
    body: { name: 'instant', type: 'gauge32' },
    status: 200,
  },
  {
    name: 'create-mapping',
    operation: `POST ${MODEL}/mappings`,
    title: 'Where a system has the fields, with a warning',
    path: { modelId: '2' },
    body: {
      protocol: 'gnmi',
      netos: 'srlinux',
      field_mappings: {
        instant: '/platform/control[slot=*]/cpu[index=all]/total/instant',
        average: 'platform/control[slot=*]/cpu[index=all]/total/average-1',
      },
    },
    status: 201,
  },
  {
    name: 'create-mapping-conflict',
    operation: `POST ${MODEL}/mappings`,
    title: 'The model has one for this protocol and system',
    path: { modelId: '2' },
    body: { protocol: 'gnmi', netos: 'srlinux', field_mappings: {} },
    status: 409,
  },
  {
    name: 'replace-mapping',
    operation: `PUT ${MODEL}/mappings/{mappingId}`,
    title: 'Without the mistake',
    path: { modelId: '2', mappingId: '3' },
    body: {
      protocol: 'gnmi',
      netos: 'srlinux',
      field_mappings: {
        instant: '/platform/control[slot=*]/cpu[index=all]/total/instant',
        average: '/platform/control[slot=*]/cpu[index=all]/total/average-1',
      },
    },
    status: 200,
  },
  {
    name: 'list-mappings',
    operation: `GET ${MODEL}/mappings`,
    title: 'All of them',
    path: { modelId: '2' },
    status: 200,
  },
  {
    name: 'delete-mapping',
    operation: `DELETE ${MODEL}/mappings/{mappingId}`,
    title: 'A system that is gone',
    path: { modelId: '2', mappingId: '3' },
    status: 204,
  },
  {
    name: 'delete-field',
    operation: `DELETE ${MODEL}/fields/{fieldId}`,
    title: 'A field that nobody reads',
    path: { modelId: '2', fieldId: '6' },
    status: 204,
  },
  {
    name: 'activate-model',
    operation: `PUT ${MODEL}`,
    title: 'It becomes the latest version of its name',
    path: { modelId: '1' },
    body: { active: true },
    status: 200,
  },
  {
    name: 'update-model-refused',
    operation: `PUT ${MODEL}`,
    title: 'A version is what a model is, not what it has',
    path: { modelId: '1' },
    body: { version: '2.0.0' },
    status: 400,
  },
  {
    name: 'create-model-version',
    operation: `POST ${MODEL}/new-version`,
    title: 'The next minor version',
    path: { modelId: '1' },
    status: 201,
  },
  {
    name: 'create-model-conflict',
    operation: `POST ${MODELS}`,
    title: 'A name and version that another model has',
    body: { name: 'cpu' },
    status: 409,
  },
  { name: 'get-model', operation: `GET ${MODEL}`, title: 'A model', path: { modelId: '2' }, status: 200 },
  {
    name: 'list-models',
    operation: `GET ${MODELS}`,
    title: 'Those after the second',
    query: { after: '2' },
    status: 200,
  },
  {
    name: 'export-model',
    operation: `GET ${MODEL}/export`,
    title: 'What an import takes',
    path: { modelId: '1' },
    status: 200,
  },
  {
    name: 'delete-model',
    operation: `DELETE ${MODEL}`,
    title: 'A version that nothing uses',
    path: { modelId: '3' },
    status: 204,
  },
];
