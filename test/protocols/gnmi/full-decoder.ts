/** What `@bufbuild/protobuf` reads in a message, in the shape of our decoder's answer: the oracle of its tests. */
import { fromBinary } from '@bufbuild/protobuf';
import { isNested } from '../../../protocols/gnmi/nesting.ts';
import type { SubscribeResponse, Update } from '../../../protocols/gnmi/notification.ts';
import { valueFromMessage } from '../../../protocols/gnmi/notification.ts';
import { joinPaths, type Path } from '../../../protocols/gnmi/path.ts';
import { pathFromMessage } from '../../../protocols/gnmi/path-message.ts';
import {
  Encoding,
  type PathMessage,
  type SubscribeResponseMessage,
  SubscribeResponseSchema,
  type UpdateMessage,
} from '../../../protocols/gnmi/schema.ts';

export function decodeFully(bytes: Uint8Array): SubscribeResponse {
  let message: SubscribeResponseMessage;
  try {
    if (!isNested(SubscribeResponseSchema, bytes)) return { kind: 'malformed' };
    message = fromBinary(SubscribeResponseSchema, bytes);
  } catch {
    return { kind: 'malformed' };
  }
  return responseOf(message);
}

/** The same for a message that is already decoded, such as one read from protobuf JSON. */
export function responseOf(message: SubscribeResponseMessage): SubscribeResponse {
  const { response } = message;
  if (response.case === 'syncResponse') return response.value ? { kind: 'sync' } : { kind: 'empty' };
  if (response.case === 'error') {
    return { kind: 'error', code: response.value.code, message: response.value.message };
  }
  if (response.case !== 'update') return { kind: 'empty' };
  const { timestamp, atomic, prefix, update, delete: deletes } = response.value;
  const absolute = (path: PathMessage | undefined): Path =>
    // A target is the prefix's (gNMI specification §2.2.2.1); one within a path says nothing.
    joinPaths(pathFromMessage(prefix), { ...pathFromMessage(path), target: '' });
  return {
    kind: 'notification',
    notification: {
      timestamp,
      atomic,
      deletes: deletes.map(absolute),
      updates: update.map((each): Update => ({ path: absolute(each.path), value: valueOfUpdate(each) })),
      duplicates: update.reduce((sum, each) => sum + each.duplicates, 0),
    },
  };
}

const DEPRECATED: Readonly<Record<number, 'json' | 'json-ietf' | 'ascii' | 'proto-bytes' | undefined>> = {
  [Encoding.JSON]: 'json',
  [Encoding.JSON_IETF]: 'json-ietf',
  [Encoding.ASCII]: 'ascii',
  [Encoding.PROTO]: 'proto-bytes',
};

function valueOfUpdate(update: UpdateMessage): Update['value'] {
  if (update.val !== undefined || update.value === undefined) return valueFromMessage(update.val);
  const kind = DEPRECATED[update.value.type] ?? 'bytes';
  const { value } = update.value;
  return kind === 'bytes' || kind === 'proto-bytes'
    ? { kind, value: new Uint8Array(value) }
    : { kind, value: new TextDecoder('utf-8', { ignoreBOM: true }).decode(value) };
}
