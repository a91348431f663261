/** Protocol data units of SNMPv1 (RFC 1157 §4.1) and SNMPv2 (RFC 3416 §3). The v1 trap alone has another shape. */
import { BerReader, BerWriter, Tag } from './ber.ts';
import { decodeOid, encodeOid, type Oid } from './oid.ts';
import { decodeValue, encodeValue, type SnmpValue } from './value.ts';

export type PduType =
  | 'get-request'
  | 'get-next-request'
  | 'response'
  | 'set-request'
  | 'get-bulk-request'
  | 'inform-request'
  | 'snmpv2-trap'
  | 'report';

export const PDU_TAG: Readonly<Record<PduType, number>> = {
  'get-request': 0xa0,
  'get-next-request': 0xa1,
  response: 0xa2,
  'set-request': 0xa3,
  'get-bulk-request': 0xa5,
  'inform-request': 0xa6,
  'snmpv2-trap': 0xa7,
  report: 0xa8,
};

const TYPE_BY_TAG = new Map(Object.entries(PDU_TAG).map(([type, tag]) => [tag, type as PduType]));

/** RFC 3416 §3, error-status; the index is the number on the wire. */
export const ERROR_STATUS = [
  'noError',
  'tooBig',
  'noSuchName',
  'badValue',
  'readOnly',
  'genErr',
  'noAccess',
  'wrongType',
  'wrongLength',
  'wrongEncoding',
  'wrongValue',
  'noCreation',
  'inconsistentValue',
  'resourceUnavailable',
  'commitFailed',
  'undoFailed',
  'authorizationError',
  'notWritable',
  'inconsistentName',
] as const;

export const ErrorStatus = {
  noError: 0,
  tooBig: 1,
  noSuchName: 2,
  genErr: 5,
  noAccess: 6,
  authorizationError: 16,
} as const;

export interface Varbind {
  readonly oid: Oid;
  readonly value: SnmpValue;
}

export interface Pdu {
  readonly type: PduType;
  readonly requestId: number;
  /** `non-repeaters` in a GetBulkRequest. */
  readonly errorStatus: number;
  /** From 1; 0 names no varbind. `max-repetitions` in a GetBulkRequest. */
  readonly errorIndex: number;
  readonly varbinds: readonly Varbind[];
}

export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

/** Takes one PDU; a failure is set on the reader. */
export function readPdu(reader: BerReader): Pdu {
  const tag = reader.peekTag();
  const type = TYPE_BY_TAG.get(tag);
  if (type === undefined) reader.fail(`no PDU has the tag 0x${tag.toString(16)}`);
  const body = reader.readConstructed(tag);
  const requestId = body.readInteger();
  const errorStatus = body.readInteger();
  const errorIndex = body.readInteger();
  const list = body.readConstructed(Tag.sequence);
  const varbinds: Varbind[] = [];
  while (!list.atEnd) {
    const varbind = list.readConstructed(Tag.sequence);
    const oid = decodeOid(varbind.readBytes(Tag.objectIdentifier));
    if (oid === undefined) varbind.fail('no object identifier');
    const value = decodeValue(varbind);
    if (varbind.failure !== undefined) list.fail(varbind.failure);
    else varbinds.push({ oid: oid as Oid, value });
  }
  const failure = body.failure ?? list.failure;
  if (failure !== undefined) reader.fail(failure);
  return { type: type ?? 'response', requestId, errorStatus, errorIndex, varbinds };
}

export function decodePdu(bytes: Uint8Array): Decoded<Pdu> {
  const reader = new BerReader(bytes);
  const value = readPdu(reader);
  return reader.failure === undefined ? { ok: true, value } : { ok: false, reason: reader.failure };
}

export function writePdu(writer: BerWriter, pdu: Pdu): void {
  const end = writer.length;
  for (const { oid, value } of pdu.varbinds.toReversed()) {
    const varbindEnd = writer.length;
    encodeValue(writer, value);
    writer.primitive(Tag.objectIdentifier, encodeOid(oid));
    writer.wrap(Tag.sequence, varbindEnd);
  }
  writer.wrap(Tag.sequence, end);
  writer.integer(pdu.errorIndex);
  writer.integer(pdu.errorStatus);
  writer.integer(pdu.requestId);
  writer.wrap(PDU_TAG[pdu.type], end);
}

export function encodePdu(pdu: Pdu): Uint8Array {
  const writer = new BerWriter();
  writePdu(writer, pdu);
  return writer.finish();
}
