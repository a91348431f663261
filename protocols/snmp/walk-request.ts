/** The request that a step of a walk sends: names as they are known in bytes, values NULL. */
import { type BerWriter, Tag } from './ber.ts';

/** 1.3.6.1.2.1.1.3.0 (RFC 3418): read along with everything, so that a restart within a walk shows. */
export const SYS_UP_TIME_INSTANCE = Uint8Array.of(0x2b, 6, 1, 2, 1, 1, 3, 0);

/** The same without its instance: what GetNext and GetBulk ask for to get it. */
const SYS_UP_TIME = SYS_UP_TIME_INSTANCE.subarray(0, 7);

/** One request of a group, a reusable buffer: `count` names, each a column's bytes and an index's. */
export interface Ask {
  operation: 'get' | 'get-next' | 'get-bulk';
  /** Rows, for get-bulk. */
  repetitions: number;
  count: number;
  readonly names: Uint8Array[];
  readonly indexes: Uint8Array[];
  readonly indexLengths: number[];
}

export function emptyAsk(): Ask {
  return { operation: 'get', repetitions: 1, count: 0, names: [], indexes: [], indexLengths: [] };
}

const OPERATION_TAG = { get: 0xa0, 'get-next': 0xa1, 'get-bulk': 0xa5 } as const;

/** Writes the PDU of a request. With `upTime`, sysUpTime comes before all else, as a non-repeater in get-bulk. */
export function writeAsk(writer: BerWriter, ask: Ask, requestId: number, upTime: boolean): void {
  const end = writer.length;
  for (let at = ask.count - 1; at >= 0; at -= 1) {
    const name = ask.names[at] as Uint8Array;
    const indexLength = ask.indexLengths[at] as number;
    const varbindEnd = writer.length;
    writer.header(Tag.null, 0);
    if (indexLength > 0) writer.raw((ask.indexes[at] as Uint8Array).subarray(0, indexLength));
    writer.raw(name);
    writer.header(Tag.objectIdentifier, name.length + indexLength);
    writer.wrap(Tag.sequence, varbindEnd);
  }
  if (upTime) {
    const varbindEnd = writer.length;
    writer.header(Tag.null, 0);
    writer.primitive(Tag.objectIdentifier, ask.operation === 'get' ? SYS_UP_TIME_INSTANCE : SYS_UP_TIME);
    writer.wrap(Tag.sequence, varbindEnd);
  }
  const bulk = ask.operation === 'get-bulk';
  writer.wrap(Tag.sequence, end);
  writer.integer(bulk ? ask.repetitions : 0);
  writer.integer(bulk && upTime ? 1 : 0);
  writer.integer(requestId);
  writer.wrap(OPERATION_TAG[ask.operation], end);
}
