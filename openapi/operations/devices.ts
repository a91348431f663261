import { deviceAnswer } from '../../core/device-answer.ts';
import { DEVICE_READ_ONLY, deviceConfiguration } from '../../core/device-request.ts';
import { type NamedRequest, type NamedSchema, type OperationDocuments, PAGE } from '../operation.ts';

const DEVICE: NamedSchema = { name: 'Device', schema: deviceAnswer };
const REQUEST: NamedRequest = {
  name: 'DeviceRequest',
  schema: deviceConfiguration,
  readOnly: DEVICE_READ_ONLY,
};

export const DEVICE_OPERATIONS: OperationDocuments = {
  'GET /api/v1/devices': {
    id: 'listDevices',
    summary: 'List the devices',
    query: PAGE,
    answer: {
      status: 200,
      description: 'The devices in the order of their ids',
      body: DEVICE,
      isList: true,
      headers: ['Link'],
    },
  },
  'POST /api/v1/devices': {
    id: 'createDevice',
    summary: 'Create a device',
    description: '`gnmi` or `snmp` or both say how the device is spoken with.',
    request: REQUEST,
    answer: { status: 201, description: 'The device', body: DEVICE, headers: ['ETag', 'Location'] },
    problems: ['conflict'],
  },
  'GET /api/v1/devices/{deviceId}': {
    id: 'getDevice',
    summary: 'Show a device',
    answer: { status: 200, description: 'The device', body: DEVICE, headers: ['ETag'] },
  },
  'PUT /api/v1/devices/{deviceId}': {
    id: 'replaceDevice',
    summary: "Replace a device's configuration",
    description:
      'Full replace, `gnmi` and `snmp` whole. A masked secret keeps what is stored, but not together with another `address`.',
    isConditional: true,
    request: REQUEST,
    answer: { status: 200, description: 'The device', body: DEVICE, headers: ['ETag'] },
    problems: ['conflict'],
  },
  'DELETE /api/v1/devices/{deviceId}': {
    id: 'deleteDevice',
    summary: 'Delete a device',
    isConditional: true,
    answer: { status: 204, description: 'The device is gone' },
    problems: ['conflict'],
  },
};
