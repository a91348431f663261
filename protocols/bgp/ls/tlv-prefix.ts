/** TLVs that describe a prefix. RFC 9552 §5.3.3. */
import { flagField } from './flags.ts';
import { parseAddress, parseHex, readAddress, readHex } from './text.ts';
import { appended, type TlvRow } from './tlv.ts';
import { readWords, writeWords } from './tlv-link.ts';

/** D of IS-IS, RFC 5305; N, L, P of OSPF, RFC 5340. */
const IGP_FLAGS = flagField(1, ['down', 'no-unicast', 'local-address', 'propagate-nssa']);
type IgpFlags = ReturnType<typeof IGP_FLAGS.of>;

export interface PrefixAttributes {
  'igp-flags'?: IgpFlags;
  'route-tags'?: number[];
  /** 64 bits each. */
  'extended-route-tags'?: bigint[];
  'prefix-metric'?: number;
  'ospf-forwarding-address'?: string;
  'opaque-prefix-attributes'?: string[];
}

export const PREFIX_ROWS: readonly TlvRow<PrefixAttributes>[] = [
  {
    code: 1152,
    in: 'attribute',
    name: 'igp-flags',
    title: 'IGP Flags',
    rfc: 'RFC 9552 §5.3.3.1',
    length: 1,
    decode: (reader, to) => {
      to['igp-flags'] = IGP_FLAGS.of(reader.u8());
    },
    encode: (writer, value: IgpFlags) => writer.u8(IGP_FLAGS.bits(value)),
  },
  {
    code: 1153,
    in: 'attribute',
    name: 'route-tags',
    title: 'IGP Route Tag',
    rfc: 'RFC 9552 §5.3.3.2',
    decode: (reader, to) => {
      to['route-tags'] = readWords(reader);
    },
    encode: (writer, value: number[]) => writeWords(writer, value),
  },
  {
    code: 1154,
    in: 'attribute',
    name: 'extended-route-tags',
    title: 'IGP Extended Route Tag',
    rfc: 'RFC 9552 §5.3.3.3',
    decode: (reader, to) => {
      const tags: bigint[] = [];
      while (reader.remaining > 0) tags.push(reader.u64());
      to['extended-route-tags'] = tags;
    },
    encode: (writer, value: bigint[]) => {
      for (const tag of value) writer.u64(tag);
    },
  },
  {
    code: 1155,
    in: 'attribute',
    name: 'prefix-metric',
    title: 'Prefix Metric',
    rfc: 'RFC 9552 §5.3.3.4',
    length: 4,
    decode: (reader, to) => {
      to['prefix-metric'] = reader.u32();
    },
    encode: (writer, value: number) => writer.u32(value),
  },
  {
    code: 1156,
    in: 'attribute',
    name: 'ospf-forwarding-address',
    title: 'OSPF Forwarding Address',
    rfc: 'RFC 9552 §5.3.3.5',
    decode: (reader, to) => {
      const octets = reader.remaining;
      if (octets !== 4 && octets !== 16) reader.reject();
      else to['ospf-forwarding-address'] = readAddress(reader, octets);
    },
    encode: (writer, value: string) => writer.put(parseAddress(value)),
  },
  {
    code: 1157,
    in: 'attribute',
    name: 'opaque-prefix-attributes',
    title: 'Opaque Prefix Attribute',
    rfc: 'RFC 9552 §5.3.3.6',
    repeats: true,
    decode: (reader, to) => {
      to['opaque-prefix-attributes'] = appended(
        to['opaque-prefix-attributes'],
        readHex(reader, reader.remaining),
      );
    },
    encode: (writer, value: string) => writer.put(parseHex(value)),
  },
];
