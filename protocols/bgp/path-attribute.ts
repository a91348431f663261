import { type BgpError, bgpError, ERROR_CODE, UPDATE_MESSAGE_SUBCODE } from './error.ts';

/** https://www.iana.org/assignments/bgp-parameters/bgp-parameters.xhtml#bgp-parameters-2 */
export const PATH_ATTRIBUTE = {
  origin: 1,
  asPath: 2,
  nextHop: 3,
  multiExitDisc: 4,
  localPref: 5,
  atomicAggregate: 6,
  aggregator: 7,
  communities: 8,
  originatorId: 9,
  clusterList: 10,
  mpReachNlri: 14,
  mpUnreachNlri: 15,
  extendedCommunities: 16,
  as4Path: 17,
  as4Aggregator: 18,
  trafficEngineering: 24,
  ipv6ExtendedCommunities: 25,
  bgpLs: 29,
  largeCommunity: 32,
  attrSet: 128,
} as const;

/** Attribute flags, RFC 4271 §4.3. */
export const ATTRIBUTE_FLAG = {
  optional: 0x80,
  transitive: 0x40,
  partial: 0x20,
  extendedLength: 0x10,
} as const;

const WELL_KNOWN = ATTRIBUTE_FLAG.transitive;
const OPTIONAL_TRANSITIVE = ATTRIBUTE_FLAG.optional | ATTRIBUTE_FLAG.transitive;
const OPTIONAL_NON_TRANSITIVE = ATTRIBUTE_FLAG.optional;

/** What RFC 7606 §2 has a receiver do, weakest first; the strongest of an UPDATE's problems decides (§3.h). */
export const ERROR_ACTIONS = ['attribute-discard', 'treat-as-withdraw', 'session-reset'] as const;
export type ErrorAction = (typeof ERROR_ACTIONS)[number];

/** Why routes of an UPDATE are not shown; the names under `session.withheld`. */
export type WithheldReason = 'malformed' | 'loop' | 'missing-mandatory-attribute';

/** One thing wrong with an UPDATE, and what follows from it. */
export interface UpdateProblem {
  readonly action: ErrorAction;
  readonly reason: WithheldReason;
  /** The attribute's type code; 0 where the fault is in the message itself. */
  readonly attribute: number;
  readonly error: BgpError;
}

/** What an attribute's rule may look at besides its value. */
export interface AttributeContext {
  readonly internal: boolean;
  readonly fourOctetAs: boolean;
  readonly localAs: number;
  readonly localIdentifier: number;
}

/** Looks at the value in `octets[start, end)`; undefined where it is sound. */
type AttributeCheck = (
  octets: Uint8Array,
  start: number,
  end: number,
  context: AttributeContext,
) => Fault | undefined;

interface Fault {
  readonly subcode: number;
  readonly text: string;
  readonly reason?: WithheldReason;
}

/** One row of what RFC 7606 §7 (and the attribute's own RFC) asks of a receiver. */
export interface AttributeRule {
  readonly code: number;
  readonly name: string;
  readonly rfc: string;
  /** The Optional and Transitive bits that the attribute must have. */
  readonly flags: number;
  /** What a malformed value or wrong flags lead to. */
  readonly action: ErrorAction;
  /** From an external peer the attribute is to be ignored (RFC 4271 §5.1.5, RFC 7606 §7.9 and §7.10). */
  readonly internalOnly?: boolean;
  /** The length that the value must have. */
  readonly octets?: number;
  /** What else there is to be looked at. */
  readonly check?: AttributeCheck;
}

const { attributeLengthError, invalidOrigin, malformedAsPath, optionalAttributeError } =
  UPDATE_MESSAGE_SUBCODE;

/** In the order of their codes. MP_REACH_NLRI and MP_UNREACH_NLRI have values of their own in update.ts. */
const RULES: readonly AttributeRule[] = [
  {
    code: PATH_ATTRIBUTE.origin,
    name: 'ORIGIN',
    rfc: 'RFC 7606 §7.1',
    flags: WELL_KNOWN,
    action: 'treat-as-withdraw',
    octets: 1,
    check: (octets, start) => {
      const origin = octets[start] as number;
      return origin > 2 ? { subcode: invalidOrigin, text: `value ${origin}` } : undefined;
    },
  },
  {
    code: PATH_ATTRIBUTE.asPath,
    name: 'AS_PATH',
    rfc: 'RFC 7606 §7.2',
    flags: WELL_KNOWN,
    action: 'treat-as-withdraw',
    check: checkAsPath,
  },
  {
    code: PATH_ATTRIBUTE.nextHop,
    name: 'NEXT_HOP',
    rfc: 'RFC 7606 §7.3',
    flags: WELL_KNOWN,
    action: 'treat-as-withdraw',
    octets: 4,
  },
  {
    code: PATH_ATTRIBUTE.multiExitDisc,
    name: 'MULTI_EXIT_DISC',
    rfc: 'RFC 7606 §7.4',
    flags: OPTIONAL_NON_TRANSITIVE,
    action: 'treat-as-withdraw',
    octets: 4,
  },
  {
    code: PATH_ATTRIBUTE.localPref,
    name: 'LOCAL_PREF',
    rfc: 'RFC 7606 §7.5',
    flags: WELL_KNOWN,
    action: 'treat-as-withdraw',
    internalOnly: true,
    octets: 4,
  },
  {
    code: PATH_ATTRIBUTE.atomicAggregate,
    name: 'ATOMIC_AGGREGATE',
    rfc: 'RFC 7606 §7.6',
    flags: WELL_KNOWN,
    action: 'attribute-discard',
    octets: 0,
  },
  {
    code: PATH_ATTRIBUTE.aggregator,
    name: 'AGGREGATOR',
    rfc: 'RFC 7606 §7.7',
    flags: OPTIONAL_TRANSITIVE,
    action: 'attribute-discard',
    check: (_octets, start, end, { fourOctetAs }) =>
      end - start === (fourOctetAs ? 8 : 6) ? undefined : wrongLength(start, end),
  },
  {
    code: PATH_ATTRIBUTE.communities,
    name: 'COMMUNITIES',
    rfc: 'RFC 7606 §7.8',
    flags: OPTIONAL_TRANSITIVE,
    action: 'treat-as-withdraw',
    check: multipleOf(4),
  },
  {
    code: PATH_ATTRIBUTE.originatorId,
    name: 'ORIGINATOR_ID',
    rfc: 'RFC 7606 §7.9, RFC 4456 §8',
    flags: OPTIONAL_NON_TRANSITIVE,
    action: 'treat-as-withdraw',
    internalOnly: true,
    check: (octets, start, end, { localIdentifier }) => {
      if (end - start !== 4) return wrongLength(start, end);
      return readU32(octets, start) === localIdentifier
        ? { subcode: optionalAttributeError, text: 'it is our own BGP Identifier', reason: 'loop' }
        : undefined;
    },
  },
  {
    code: PATH_ATTRIBUTE.clusterList,
    name: 'CLUSTER_LIST',
    rfc: 'RFC 7606 §7.10',
    flags: OPTIONAL_NON_TRANSITIVE,
    action: 'treat-as-withdraw',
    internalOnly: true,
    check: multipleOf(4),
  },
  {
    code: PATH_ATTRIBUTE.extendedCommunities,
    name: 'EXTENDED COMMUNITIES',
    rfc: 'RFC 7606 §7.14',
    flags: OPTIONAL_TRANSITIVE,
    action: 'treat-as-withdraw',
    check: multipleOf(8),
  },
  {
    code: PATH_ATTRIBUTE.as4Path,
    name: 'AS4_PATH',
    rfc: 'RFC 6793 §6',
    flags: OPTIONAL_TRANSITIVE,
    action: 'attribute-discard',
    check: (octets, start, end) =>
      checkAsPath(octets, start, end, {
        internal: false,
        fourOctetAs: true,
        localAs: 0,
        localIdentifier: 0,
      }),
  },
  {
    code: PATH_ATTRIBUTE.as4Aggregator,
    name: 'AS4_AGGREGATOR',
    rfc: 'RFC 6793 §6',
    flags: OPTIONAL_TRANSITIVE,
    action: 'attribute-discard',
    octets: 8,
  },
  {
    code: PATH_ATTRIBUTE.trafficEngineering,
    name: 'Traffic Engineering',
    rfc: 'RFC 7606 §7.13, RFC 5543 §3',
    flags: OPTIONAL_NON_TRANSITIVE,
    action: 'treat-as-withdraw',
    check: nonEmpty,
  },
  {
    code: PATH_ATTRIBUTE.ipv6ExtendedCommunities,
    name: 'IPv6 Address Specific EXTENDED COMMUNITIES',
    rfc: 'RFC 7606 §7.15',
    flags: OPTIONAL_TRANSITIVE,
    action: 'treat-as-withdraw',
    check: multipleOf(20),
  },
  {
    code: PATH_ATTRIBUTE.bgpLs,
    name: 'BGP-LS Attribute',
    rfc: 'RFC 9552 §8.2.2',
    flags: OPTIONAL_NON_TRANSITIVE,
    action: 'attribute-discard',
    // Its TLVs are the business of protocols/bgp/ls, which discards it by the same rule.
  },
  {
    code: PATH_ATTRIBUTE.largeCommunity,
    name: 'LARGE_COMMUNITY',
    rfc: 'RFC 8092 §6',
    flags: OPTIONAL_TRANSITIVE,
    action: 'treat-as-withdraw',
    check: multipleOf(12),
  },
  {
    code: PATH_ATTRIBUTE.attrSet,
    name: 'ATTR_SET',
    rfc: 'RFC 7606 §7.16, RFC 6368 §5',
    flags: OPTIONAL_TRANSITIVE,
    action: 'treat-as-withdraw',
    // An Origin AS stands before the attributes of the set.
    check: (_octets, start, end) => (end - start >= 4 ? undefined : wrongLength(start, end)),
  },
];

const ANY_LENGTH = -1;

/** A rule as it is looked up. */
interface KnownRule extends Omit<AttributeRule, 'check'> {
  readonly octets: number;
  readonly check: AttributeCheck | undefined;
}

/** All of one shape, since every attribute of every UPDATE reads one. */
const RULE_BY_CODE: ReadonlyArray<KnownRule | undefined> = Array.from({ length: 256 }, (_, code) => {
  const rule = RULES.find((each) => each.code === code);
  if (rule === undefined) return undefined;
  const { name, rfc, flags, action, internalOnly = false, octets = ANY_LENGTH, check } = rule;
  return { code, name, rfc, flags, action, internalOnly, octets, check };
});

/** The rule of an attribute, or undefined for one that we do not know. */
export function attributeRule(code: number): KnownRule | undefined {
  return RULE_BY_CODE[code];
}

/**
 * Whether this is ORIGIN, an empty AS_PATH or LOCAL_PREF as nearly every UPDATE has them: sound whatever was agreed on.
 * For the three `checkAttribute` takes a tenth of all keeping.
 */
export function isUsualAttribute(
  code: number,
  flags: number,
  octets: Uint8Array,
  start: number,
  end: number,
): boolean {
  if (flags !== WELL_KNOWN) return false;
  if (code === PATH_ATTRIBUTE.origin) return end - start === 1 && (octets[start] as number) <= 2;
  if (code === PATH_ATTRIBUTE.asPath) return start === end;
  return code === PATH_ATTRIBUTE.localPref && end - start === 4;
}

/** Checks flags and value, `octets[start, end)`, of a known attribute (not MP_REACH_NLRI, MP_UNREACH_NLRI). */
export function checkAttribute(
  rule: KnownRule,
  flags: number,
  octets: Uint8Array,
  start: number,
  end: number,
  context: AttributeContext,
): UpdateProblem | undefined {
  if (((flags ^ rule.flags) & OPTIONAL_TRANSITIVE) !== 0)
    return wrongFlags(rule.code, rule.name, flags, rule.action);
  if (rule.internalOnly && !context.internal) return undefined;
  const isLength = rule.octets === ANY_LENGTH || end - start === rule.octets;
  const fault = isLength ? rule.check?.(octets, start, end, context) : wrongLength(start, end);
  if (fault === undefined) return undefined;
  return {
    action: rule.action,
    reason: fault.reason ?? 'malformed',
    attribute: rule.code,
    error: updateError(fault.subcode, `${rule.name} (${rule.rfc}): ${fault.text}`),
  };
}

/** RFC 7606 §3.c. */
export function wrongFlags(
  attribute: number,
  name: string,
  flags: number,
  action: ErrorAction,
): UpdateProblem {
  return {
    action,
    reason: 'malformed',
    attribute,
    error: updateError(
      UPDATE_MESSAGE_SUBCODE.attributeFlagsError,
      `${name} with attribute flags 0x${flags.toString(16).padStart(2, '0')}`,
    ),
  };
}

export function updateError(subcode: number, text: string, data?: Uint8Array): BgpError {
  return bgpError(ERROR_CODE.updateMessageError, subcode, text, data);
}

/** A list of fixed-size members: at least one, and none cut. */
function multipleOf(octets: number): AttributeCheck {
  return (_octets, start, end) =>
    end > start && (end - start) % octets === 0 ? undefined : wrongLength(start, end);
}

/** RFC 7606 §4: a length of zero is an error unless the attribute's own RFC allows it. */
function nonEmpty(_octets: Uint8Array, start: number, end: number): Fault | undefined {
  return end > start ? undefined : wrongLength(start, end);
}

function wrongLength(start: number, end: number): Fault {
  return { subcode: attributeLengthError, text: `a length of ${end - start} octets` };
}

/** Segment types 1 to 4 (RFC 4271 §4.3, RFC 5065 §3), at least one AS each, and none that is cut. */
function checkAsPath(
  octets: Uint8Array,
  start: number,
  pathEnd: number,
  { fourOctetAs, localAs }: AttributeContext,
): Fault | undefined {
  const width = fourOctetAs ? 4 : 2;
  let offset = start;
  let loop = false;
  while (offset < pathEnd) {
    const type = octets[offset] as number;
    const count = offset + 1 < pathEnd ? (octets[offset + 1] as number) : 0;
    const end = offset + 2 + count * width;
    if (type < 1 || type > 4) return { subcode: malformedAsPath, text: `segment type ${type}` };
    if (count === 0) return { subcode: malformedAsPath, text: 'a segment without AS numbers' };
    if (end > pathEnd) return { subcode: malformedAsPath, text: 'a segment reaches past the end' };
    for (let at = offset + 2; at < end; at += width) {
      const as = fourOctetAs
        ? readU32(octets, at)
        : ((octets[at] as number) << 8) | (octets[at + 1] as number);
      if (as === localAs) loop = true;
    }
    offset = end;
  }
  return loop ? { subcode: malformedAsPath, text: `AS ${localAs} is our own`, reason: 'loop' } : undefined;
}

function readU32(octets: Uint8Array, offset: number): number {
  return (
    (octets[offset] as number) * 0x100_0000 +
    (((octets[offset + 1] as number) << 16) |
      ((octets[offset + 2] as number) << 8) |
      (octets[offset + 3] as number))
  );
}
