/** The BGP-LS Attribute, path attribute 29. RFC 9552 §5.3. */
import type { LinkStateAttributes } from './attributes.ts';
import { type LinkStateProblem, ProblemList } from './problem.ts';
import { TlvReader } from './reader.ts';
import { decodeTlvs, encodeTlvs, type TlvContext, type TlvRow, tlvTable, type UnknownTlv } from './tlv.ts';
import { FLEX_ALGO_ROWS } from './tlv-flex-algo.ts';
import { LINK_ROWS } from './tlv-link.ts';
import { NODE_ROWS } from './tlv-node.ts';
import { POLICY_ROWS } from './tlv-policy.ts';
import { PREFIX_ROWS } from './tlv-prefix.ts';
import { SR_LINK_ROWS, SR_NODE_ROWS, SR_PREFIX_ROWS } from './tlv-sr.ts';
import { SRV6_ROWS } from './tlv-srv6.ts';
import { TE_ROWS } from './tlv-te.ts';
import { decodeUsualTlvs } from './usual-attribute.ts';
import { TlvWriter } from './writer.ts';

/** Every TLV of the attribute. One that stands with another type of NLRI than it describes is read all the same. */
export const ATTRIBUTE_ROWS: readonly TlvRow<LinkStateAttributes>[] = [
  ...NODE_ROWS,
  ...LINK_ROWS,
  ...PREFIX_ROWS,
  ...SR_NODE_ROWS,
  ...SR_LINK_ROWS,
  ...SR_PREFIX_ROWS,
  ...SRV6_ROWS,
  ...TE_ROWS,
  ...FLEX_ALGO_ROWS,
  ...POLICY_ROWS,
];

const ATTRIBUTE_TLVS = tlvTable(ATTRIBUTE_ROWS);

export interface DecodedAttribute {
  readonly attributes: LinkStateAttributes;
  /** TLVs without a row, and those that their row could not read, in the order sent. */
  readonly unknownTlvs: readonly UnknownTlv[];
  /** One with action `attribute-discard` says that the whole attribute is to be taken as absent. */
  readonly problems: readonly LinkStateProblem[];
  /** How much work it was: see `TlvReader`. */
  readonly steps: number;
}

const NO_UNKNOWN_TLVS: readonly UnknownTlv[] = Object.freeze([]);

/** What every call needs and none keeps: one decode never calls another. */
const reader = new TlvReader(new Uint8Array(0));
const scope = {
  protocolId: 0,
  nlriType: 0,
  problems: new ProblemList(),
  depth: 0,
  attributes: ATTRIBUTE_TLVS,
};

/**
 * Decodes the value of a BGP-LS Attribute that came with an NLRI of this type and protocol. Never throws. TLVs in any
 * order are legal; one that overruns asks for attribute discard; odd contents are noted and kept as hex. RFC 9552 §8.2.2.
 */
export function decodeAttribute(
  bytes: Uint8Array,
  context: TlvContext,
  start = 0,
  end = bytes.length,
): DecodedAttribute {
  reader.open(bytes, start, end);
  const attributes: LinkStateAttributes = {};
  scope.protocolId = context.protocolId;
  scope.nlriType = context.nlriType;
  const last = decodeUsualTlvs(reader, attributes, scope, -1);
  const unknown =
    reader.position < end
      ? decodeTlvs(reader, ATTRIBUTE_TLVS, attributes, scope, 'attribute-discard', last, decodeUsualTlvs)
      : undefined;
  return {
    attributes,
    unknownTlvs: unknown ?? NO_UNKNOWN_TLVS,
    problems: scope.problems.take(),
    steps: reader.steps,
  };
}

/**
 * The value of a BGP-LS Attribute with these members, TLVs ascending by type. Throws a RangeError on values that have
 * no encoding: those are the caller's, not a peer's.
 */
export function encodeAttribute(
  attributes: LinkStateAttributes,
  context: TlvContext,
  unknownTlvs: readonly UnknownTlv[] = [],
): Uint8Array {
  const writer = new TlvWriter();
  const { protocolId, nlriType } = context;
  const encoding = { protocolId, nlriType, attributes: ATTRIBUTE_TLVS };
  encodeTlvs(writer, ATTRIBUTE_TLVS, attributes, unknownTlvs, encoding, 'attribute');
  return writer.finish();
}
