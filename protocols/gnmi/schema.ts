/**
 * The gNMI messages as protobuf descriptors, built at start from the rows below. Field numbers, types and
 * names are those of gnmi.proto 0.10.0 and gnmi_ext.proto (github.com/openconfig/gnmi v0.14.1); an interop
 * case compares them with the descriptors that the Go package carries. Set is left out: nothing is written
 * to a device. What we keep as it came and never look into (Any, a response's extensions) is `bytes` here, which
 * is the same on the wire.
 */
import { create, createFileRegistry, type Message } from '@bufbuild/protobuf';
import type { GenMessage } from '@bufbuild/protobuf/codegenv2';
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  Edition,
  EnumDescriptorProtoSchema,
  FeatureSet_FieldPresence,
  FeatureSet_Utf8Validation,
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt';

/** gnmi.proto, enum Encoding. */
export const Encoding = { JSON: 0, BYTES: 1, PROTO: 2, ASCII: 3, JSON_IETF: 4 } as const;
export type EncodingNumber = number;
/** gnmi.proto, enum SubscriptionList.Mode. */
export const ListMode = { STREAM: 0, ONCE: 1, POLL: 2 } as const;
/** gnmi.proto, enum SubscriptionMode. */
export const SubscriptionMode = { TARGET_DEFINED: 0, ON_CHANGE: 1, SAMPLE: 2 } as const;

export type PathMessage = Message<'gnmi.Path'> & {
  /** Deprecated since 0.4.0, still sent by old targets: each string is one element, keys in brackets. */
  element: string[];
  origin: string;
  elem: PathElemMessage[];
  target: string;
};
export type PathElemMessage = Message<'gnmi.PathElem'> & { name: string; key: { [name: string]: string } };
export type TypedValueMessage = Message<'gnmi.TypedValue'> & {
  value:
    | { case: 'stringVal' | 'asciiVal'; value: string }
    | { case: 'intVal' | 'uintVal'; value: bigint }
    | { case: 'boolVal'; value: boolean }
    | { case: 'bytesVal' | 'jsonVal' | 'jsonIetfVal' | 'protoBytes' | 'anyVal'; value: Uint8Array }
    | { case: 'floatVal' | 'doubleVal'; value: number }
    | { case: 'decimalVal'; value: Message<'gnmi.Decimal64'> & { digits: bigint; precision: number } }
    | { case: 'leaflistVal'; value: Message<'gnmi.ScalarArray'> & { element: TypedValueMessage[] } }
    | { case: undefined; value?: undefined };
};
export type UpdateMessage = Message<'gnmi.Update'> & {
  path?: PathMessage;
  /** Deprecated since 0.3.0. */
  value?: Message<'gnmi.Value'> & { value: Uint8Array; type: EncodingNumber };
  val?: TypedValueMessage;
  duplicates: number;
};
export type NotificationMessage = Message<'gnmi.Notification'> & {
  timestamp: bigint;
  prefix?: PathMessage;
  update: UpdateMessage[];
  delete: PathMessage[];
  atomic: boolean;
};
export type ErrorMessage = Message<'gnmi.Error'> & { code: number; message: string };
export type ExtensionMessage = Message<'gnmi_ext.Extension'> & {
  ext:
    | {
        case: 'registeredExt';
        value: Message<'gnmi_ext.RegisteredExtension'> & { id: number; msg: Uint8Array };
      }
    | { case: 'depth'; value: Message<'gnmi_ext.Depth'> & { level: number } }
    | { case: undefined; value?: undefined };
};
export type SubscribeResponseMessage = Message<'gnmi.SubscribeResponse'> & {
  response:
    | { case: 'update'; value: NotificationMessage }
    | { case: 'syncResponse'; value: boolean }
    | { case: 'error'; value: ErrorMessage }
    | { case: undefined; value?: undefined };
  extension: Uint8Array[];
};
export type SubscriptionMessage = Message<'gnmi.Subscription'> & {
  path?: PathMessage;
  mode: number;
  sampleInterval: bigint;
  suppressRedundant: boolean;
  heartbeatInterval: bigint;
};
export type SubscriptionListMessage = Message<'gnmi.SubscriptionList'> & {
  prefix?: PathMessage;
  subscription: SubscriptionMessage[];
  mode: number;
  encoding: EncodingNumber;
  updatesOnly: boolean;
};
export type SubscribeRequestMessage = Message<'gnmi.SubscribeRequest'> & {
  request:
    | { case: 'subscribe'; value: SubscriptionListMessage }
    | { case: 'poll'; value: Message<'gnmi.Poll'> }
    | { case: undefined; value?: undefined };
  extension: ExtensionMessage[];
};
export type GetRequestMessage = Message<'gnmi.GetRequest'> & {
  prefix?: PathMessage;
  path: PathMessage[];
  type: number;
  encoding: EncodingNumber;
};
export type GetResponseMessage = Message<'gnmi.GetResponse'> & {
  notification: NotificationMessage[];
  error?: ErrorMessage;
};
export type CapabilityRequestMessage = Message<'gnmi.CapabilityRequest'>;
export type CapabilityResponseMessage = Message<'gnmi.CapabilityResponse'> & {
  supportedModels: (Message<'gnmi.ModelData'> & { name: string; organization: string; version: string })[];
  supportedEncodings: EncodingNumber[];
  gNMIVersion: string;
};

/** name, number, type (a scalar's or a message's name), then `repeated` or the oneof that holds the field. */
type FieldRow = readonly [name: string, number: number, type: string, holder?: string];

const MESSAGES: Readonly<Record<string, readonly FieldRow[]>> = {
  Path: [
    ['element', 1, 'string', 'repeated'],
    ['origin', 2, 'string'],
    ['elem', 3, 'PathElem', 'repeated'],
    ['target', 4, 'string'],
  ],
  PathElem: [
    ['name', 1, 'string'],
    ['key', 2, 'map'],
  ],
  Value: [
    ['value', 1, 'bytes'],
    ['type', 2, 'Encoding'],
  ],
  TypedValue: [
    ['string_val', 1, 'string', 'value'],
    ['int_val', 2, 'int64', 'value'],
    ['uint_val', 3, 'uint64', 'value'],
    ['bool_val', 4, 'bool', 'value'],
    ['bytes_val', 5, 'bytes', 'value'],
    ['float_val', 6, 'float', 'value'],
    ['decimal_val', 7, 'Decimal64', 'value'],
    ['leaflist_val', 8, 'ScalarArray', 'value'],
    ['any_val', 9, 'bytes', 'value'],
    ['json_val', 10, 'bytes', 'value'],
    ['json_ietf_val', 11, 'bytes', 'value'],
    ['ascii_val', 12, 'string', 'value'],
    ['proto_bytes', 13, 'bytes', 'value'],
    ['double_val', 14, 'double', 'value'],
  ],
  Decimal64: [
    ['digits', 1, 'int64'],
    ['precision', 2, 'uint32'],
  ],
  ScalarArray: [['element', 1, 'TypedValue', 'repeated']],
  Update: [
    ['path', 1, 'Path'],
    ['value', 2, 'Value'],
    ['val', 3, 'TypedValue'],
    ['duplicates', 4, 'uint32'],
  ],
  Notification: [
    ['timestamp', 1, 'int64'],
    ['prefix', 2, 'Path'],
    ['update', 4, 'Update', 'repeated'],
    ['delete', 5, 'Path', 'repeated'],
    ['atomic', 6, 'bool'],
  ],
  Error: [
    ['code', 1, 'uint32'],
    ['message', 2, 'string'],
    ['data', 3, 'bytes'],
  ],
  SubscribeResponse: [
    ['update', 1, 'Notification', 'response'],
    ['sync_response', 3, 'bool', 'response'],
    ['error', 4, 'Error', 'response'],
    ['extension', 5, 'bytes', 'repeated'],
  ],
  Poll: [],
  QOSMarking: [['marking', 1, 'uint32']],
  ModelData: [
    ['name', 1, 'string'],
    ['organization', 2, 'string'],
    ['version', 3, 'string'],
  ],
  Subscription: [
    ['path', 1, 'Path'],
    ['mode', 2, 'SubscriptionMode'],
    ['sample_interval', 3, 'uint64'],
    ['suppress_redundant', 4, 'bool'],
    ['heartbeat_interval', 5, 'uint64'],
  ],
  SubscriptionList: [
    ['prefix', 1, 'Path'],
    ['subscription', 2, 'Subscription', 'repeated'],
    ['qos', 4, 'QOSMarking'],
    ['mode', 5, 'SubscriptionList.Mode'],
    ['allow_aggregation', 6, 'bool'],
    ['use_models', 7, 'ModelData', 'repeated'],
    ['encoding', 8, 'Encoding'],
    ['updates_only', 9, 'bool'],
  ],
  SubscribeRequest: [
    ['subscribe', 1, 'SubscriptionList', 'request'],
    ['poll', 3, 'Poll', 'request'],
    ['extension', 5, '.gnmi_ext.Extension', 'repeated'],
  ],
  GetRequest: [
    ['prefix', 1, 'Path'],
    ['path', 2, 'Path', 'repeated'],
    ['type', 3, 'GetRequest.DataType'],
    ['encoding', 5, 'Encoding'],
    ['use_models', 6, 'ModelData', 'repeated'],
    ['extension', 7, '.gnmi_ext.Extension', 'repeated'],
  ],
  GetResponse: [
    ['notification', 1, 'Notification', 'repeated'],
    ['error', 2, 'Error'],
    ['extension', 3, '.gnmi_ext.Extension', 'repeated'],
  ],
  CapabilityRequest: [['extension', 1, '.gnmi_ext.Extension', 'repeated']],
  CapabilityResponse: [
    ['supported_models', 1, 'ModelData', 'repeated'],
    ['supported_encodings', 2, 'Encoding', 'repeated'],
    ['gNMI_version', 3, 'string'],
    ['extension', 4, '.gnmi_ext.Extension', 'repeated'],
  ],
};

const EXTENSION_MESSAGES: Readonly<Record<string, readonly FieldRow[]>> = {
  Extension: [
    ['registered_ext', 1, 'RegisteredExtension', 'ext'],
    ['depth', 5, 'Depth', 'ext'],
  ],
  RegisteredExtension: [
    ['id', 1, 'ExtensionID'],
    ['msg', 2, 'bytes'],
  ],
  Depth: [['level', 1, 'uint32']],
};

const ENUMS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  Encoding,
  SubscriptionMode,
  'SubscriptionList.Mode': ListMode,
  'GetRequest.DataType': { ALL: 0, CONFIG: 1, STATE: 2, OPERATIONAL: 3 },
};

const SCALARS: Readonly<Record<string, Type>> = {
  string: Type.STRING,
  bytes: Type.BYTES,
  bool: Type.BOOL,
  int64: Type.INT64,
  uint64: Type.UINT64,
  uint32: Type.UINT32,
  float: Type.FLOAT,
  double: Type.DOUBLE,
};

function enumDescriptor(name: string, values: Readonly<Record<string, number>>) {
  return create(EnumDescriptorProtoSchema, {
    name,
    value: Object.entries(values).map(([valueName, number]) => ({ name: valueName, number })),
  });
}

/** `in_octets` is `inOctets` in protobuf JSON. */
function jsonName(name: string): string {
  return name.replace(/_([a-zA-Z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function field(row: FieldRow, scope: string, enums: ReadonlySet<string>, oneofs: string[]) {
  const [name, number, type, holder] = row;
  const scalar = SCALARS[type];
  if (holder !== undefined && holder !== 'repeated' && !oneofs.includes(holder)) oneofs.push(holder);
  return create(FieldDescriptorProtoSchema, {
    name,
    number,
    jsonName: jsonName(name),
    label: holder === 'repeated' || type === 'map' ? Label.REPEATED : Label.OPTIONAL,
    type: scalar ?? (enums.has(type) ? Type.ENUM : Type.MESSAGE),
    ...(scalar === undefined
      ? { typeName: type === 'map' ? `.${scope}.KeyEntry` : type.startsWith('.') ? type : `.gnmi.${type}` }
      : {}),
    ...(holder !== undefined && holder !== 'repeated' ? { oneofIndex: oneofs.indexOf(holder) } : {}),
  });
}

function messageDescriptor(name: string, scope: string, rows: readonly FieldRow[]): DescriptorProto {
  const oneofs: string[] = [];
  const enums = new Set(Object.keys(ENUMS));
  const fields = rows.map((row) => field(row, `${scope}.${name}`, enums, oneofs));
  return create(DescriptorProtoSchema, {
    name,
    field: fields,
    oneofDecl: oneofs.map((oneof) => ({ name: oneof })),
    enumType: Object.entries(ENUMS)
      .filter(([enumName]) => enumName.startsWith(`${name}.`))
      .map(([enumName, values]) => enumDescriptor(enumName.slice(name.length + 1), values)),
    nestedType: rows.some(([, , type]) => type === 'map')
      ? [
          create(DescriptorProtoSchema, {
            name: 'KeyEntry',
            field: [
              field(['key', 1, 'string'], scope, enums, []),
              field(['value', 2, 'string'], scope, enums, []),
            ],
            options: { mapEntry: true },
          }),
        ]
      : [],
  });
}

/**
 * proto3 in all but one thing, said in the terms of edition 2023: text that is no UTF-8 is read with U+FFFD in
 * its place. Routers put Latin-1 into descriptions, and proto3 would have us drop the whole stream for it.
 */
const LENIENT_PROTO3 = {
  syntax: 'editions',
  edition: Edition.EDITION_2023,
  options: {
    features: {
      fieldPresence: FeatureSet_FieldPresence.IMPLICIT,
      utf8Validation: FeatureSet_Utf8Validation.NONE,
    },
  },
} as const;

const extensionFile = create(FileDescriptorProtoSchema, {
  name: 'gnmi_ext.proto',
  package: 'gnmi_ext',
  ...LENIENT_PROTO3,
  enumType: [enumDescriptor('ExtensionID', { EID_UNSET: 0 })],
  messageType: Object.entries(EXTENSION_MESSAGES).map(([name, rows]) => {
    const message = messageDescriptor(name, 'gnmi_ext', rows);
    for (const each of message.field) {
      if (each.typeName === '') continue;
      each.typeName = each.typeName.replace('.gnmi.', '.gnmi_ext.');
      if (each.typeName.endsWith('.ExtensionID')) each.type = Type.ENUM;
    }
    return message;
  }),
});

/** The descriptors as `google.protobuf.FileDescriptorProto`, for whoever compares them with gnmi.proto. */
export const gnmiFile = create(FileDescriptorProtoSchema, {
  name: 'gnmi.proto',
  package: 'gnmi',
  ...LENIENT_PROTO3,
  dependency: ['gnmi_ext.proto'],
  enumType: Object.entries(ENUMS)
    .filter(([name]) => !name.includes('.'))
    .map(([name, values]) => enumDescriptor(name, values)),
  messageType: Object.entries(MESSAGES).map(([name, rows]) => messageDescriptor(name, 'gnmi', rows)),
});

const registry = createFileRegistry(gnmiFile, (name) =>
  name === 'gnmi_ext.proto' ? extensionFile : undefined,
);

function schemaOf<Shape extends Message>(name: Shape['$typeName']): GenMessage<Shape> {
  const schema = registry.getMessage(name);
  if (schema === undefined) throw new Error(`no descriptor of ${name}`);
  return schema as GenMessage<Shape>;
}

export const PathSchema = schemaOf<PathMessage>('gnmi.Path');
export const TypedValueSchema = schemaOf<TypedValueMessage>('gnmi.TypedValue');
export const UpdateSchema = schemaOf<UpdateMessage>('gnmi.Update');
export const NotificationSchema = schemaOf<NotificationMessage>('gnmi.Notification');
export const SubscribeResponseSchema = schemaOf<SubscribeResponseMessage>('gnmi.SubscribeResponse');
export const SubscribeRequestSchema = schemaOf<SubscribeRequestMessage>('gnmi.SubscribeRequest');
export const SubscriptionListSchema = schemaOf<SubscriptionListMessage>('gnmi.SubscriptionList');
export const GetRequestSchema = schemaOf<GetRequestMessage>('gnmi.GetRequest');
export const GetResponseSchema = schemaOf<GetResponseMessage>('gnmi.GetResponse');
export const CapabilityRequestSchema = schemaOf<CapabilityRequestMessage>('gnmi.CapabilityRequest');
export const CapabilityResponseSchema = schemaOf<CapabilityResponseMessage>('gnmi.CapabilityResponse');
