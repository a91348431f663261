import { type BgpError, UPDATE_MESSAGE_SUBCODE } from './error.ts';
import { AFI, type Family, formatFamily, includesFamily, SAFI } from './family.ts';
import { encodeMessage, HEADER_LENGTH, MESSAGE_TYPE } from './header.ts';
import { concatenate, octetsOf } from './octet-writer.ts';
import {
  ATTRIBUTE_FLAG,
  type AttributeContext,
  attributeRule,
  checkAttribute,
  ERROR_ACTIONS,
  type ErrorAction,
  isUsualAttribute,
  PATH_ATTRIBUTE,
  type UpdateProblem,
  updateError,
  wrongFlags,
} from './path-attribute.ts';

/** Octets within a longer array. A view of them costs 50 to 100 ns to make, and an UPDATE has eight such parts. */
export interface OctetRange {
  readonly start: number;
  readonly end: number;
}

/** Where the routes of one family stand in the message, one behind the other. */
export interface RouteRange extends Family, OctetRange {}

/**
 * What one UPDATE says about one session's routes, for `LinkStateTable.applyUpdate`. Routes that RFC 7606 has
 * withdrawn are already in `unreach`, with the problem that put them there beside them.
 */
export interface LinkStateUpdate {
  /** What the ranges are of; it is overwritten after the call, so who keeps octets copies them. */
  readonly octets: Uint8Array;
  readonly reach: RouteRange | undefined;
  readonly unreach: RouteRange | undefined;
  /** The value of path attribute 29; undefined when absent or discarded (RFC 9552 §8.2.2). */
  readonly linkStateAttribute: OctetRange | undefined;
  readonly problems: readonly UpdateProblem[];
}

/** What is agreed on and configured, so far as decoding an UPDATE depends on it. */
export interface UpdateContext extends AttributeContext {
  readonly families: readonly Family[];
}

export type DecodedUpdate =
  | { readonly kind: 'routes'; readonly updates: readonly LinkStateUpdate[] }
  | { readonly kind: 'end-of-rib'; readonly family: Family }
  /** Only a session reset is left (RFC 7606 §3). */
  | { readonly kind: 'error'; readonly error: BgpError };

const NO_PROBLEMS: readonly UpdateProblem[] = [];
const IPV4_UNICAST: Family = { afi: AFI.ipv4, safi: SAFI.unicast };

/**
 * Decodes and validates the whole message in `octets[start, end)` by RFC 4271 §4.3, RFC 4760 and the revised error
 * handling of RFC 7606.
 */
export function decodeUpdate(
  octets: Uint8Array,
  context: UpdateContext,
  start = 0,
  end = octets.length,
): DecodedUpdate {
  const withdrawnAt = start + HEADER_LENGTH + 2;
  const withdrawnLength = u16(octets, withdrawnAt - 2);
  const attributesAt = withdrawnAt + withdrawnLength + 2;
  if (attributesAt > end) {
    return reset(
      malformedList(`Withdrawn Routes of ${withdrawnLength} octets reach past the end of the message`),
    );
  }
  const attributesEnd = attributesAt + u16(octets, attributesAt - 2);
  if (attributesEnd > end) {
    return reset(malformedList('the path attributes reach past the end of the message'));
  }
  scanned.run(octets, attributesAt, attributesEnd, context);
  if (scanned.fatal !== undefined) return reset(scanned.fatal);
  const withdrawn = checkPrefixes(octets, withdrawnAt, attributesAt - 2);
  const announced = checkPrefixes(octets, attributesEnd, end);
  const wrongPrefix = withdrawn ?? announced;
  if (wrongPrefix !== undefined) return reset(wrongPrefix);

  const hasRoutes = attributesEnd < end;
  const hasReach = scanned.reachStart !== NONE;
  const isEmpty = withdrawnLength === 0 && !hasRoutes && !hasReach;
  if (isEmpty && scanned.count === 0) return { kind: 'end-of-rib', family: IPV4_UNICAST };
  if (isEmpty && scanned.count === 1 && scanned.isEmptyUnreach) {
    return { kind: 'end-of-rib', family: { afi: scanned.unreachAfi, safi: scanned.unreachSafi } };
  }

  if (hasReach || hasRoutes) scanned.requireMandatory();
  const action = strongest(scanned.problems);
  if (action === 'treat-as-withdraw' && !hasReach && !hasRoutes) {
    // RFC 7606 §5.2: a faulty attribute and no route to withdraw: the routes meant may be what could not be read.
    return reset((scanned.problems.find((problem) => problem.action === action) as UpdateProblem).error);
  }
  return { kind: 'routes', updates: linkStateUpdates(action, context.families) };
}

/**
 * RFC 4724 §2: the UPDATE that says that nothing more follows for now. The only UPDATE that Graticule sends, and it
 * sends it at once, having nothing to tell.
 */
export function encodeEndOfRib(family: Family): Uint8Array {
  const isIpv4Unicast = family.afi === AFI.ipv4 && family.safi === SAFI.unicast;
  const attribute = octetsOf(
    [ATTRIBUTE_FLAG.optional, 1],
    [PATH_ATTRIBUTE.mpUnreachNlri, 1],
    [3, 1],
    [family.afi, 2],
    [family.safi, 1],
  );
  const attributes = isIpv4Unicast ? new Uint8Array(0) : attribute;
  return encodeMessage(
    MESSAGE_TYPE.update,
    concatenate(octetsOf([0, 2], [attributes.length, 2]), attributes),
  );
}

function linkStateUpdates(action: ErrorAction | undefined, families: readonly Family[]): LinkStateUpdate[] {
  const { octets, problems } = scanned;
  const reach = scanned.reach(families);
  const unreach = scanned.unreach(families);
  if (action !== 'treat-as-withdraw') {
    if (reach === undefined && unreach === undefined && problems.length === 0) return [];
    return [{ octets, reach, unreach, linkStateAttribute: scanned.linkStateAttribute(), problems }];
  }
  const without = { octets, reach: undefined, linkStateAttribute: undefined };
  const updates: LinkStateUpdate[] = [];
  if (unreach !== undefined) updates.push({ ...without, unreach, problems: NO_PROBLEMS });
  if (reach !== undefined) updates.push({ ...without, unreach: reach, problems });
  return updates;
}

/** Where something would begin that is not there. */
const NONE = -1;
const NO_OCTETS = new Uint8Array(0);
const NO_CONTEXT: UpdateContext = {
  families: [],
  internal: false,
  fourOctetAs: false,
  localAs: 0,
  localIdentifier: 0,
};

/**
 * One walk over the path attributes. What can be known about the NLRI is kept even when an attribute is faulty.
 * What it finds are numbers: an object for each part, held by one that lives long, cost a fifth of the walk.
 */
class AttributeScan {
  octets: Uint8Array = NO_OCTETS;
  context = NO_CONTEXT;
  /** Attributes found, duplicates included. */
  count = 0;
  reachAfi = 0;
  reachSafi = 0;
  reachStart = NONE;
  reachEnd = NONE;
  unreachAfi = 0;
  unreachSafi = 0;
  unreachStart = NONE;
  unreachEnd = NONE;
  linkStateStart = NONE;
  linkStateEnd = NONE;
  problems: readonly UpdateProblem[] = NO_PROBLEMS;
  fatal: BgpError | undefined = undefined;
  /** Bit n is set when attribute n, below 32, was seen; those above are in `seenAbove`. */
  private seen = 0;
  private seenAbove: Set<number> | undefined = undefined;

  /** Walks the attributes in `octets[start, end)`, anew. */
  run(octets: Uint8Array, start: number, end: number, context: UpdateContext): void {
    this.octets = octets;
    this.context = context;
    this.reachStart = NONE;
    this.unreachStart = NONE;
    this.linkStateStart = NONE;
    this.problems = NO_PROBLEMS;
    this.fatal = undefined;
    this.seenAbove = undefined;
    let seen = 0;
    let count = 0;
    for (let at = start; at < end; ) {
      count += 1;
      const flags = octets[at] as number;
      const isExtended = (flags & ATTRIBUTE_FLAG.extendedLength) !== 0;
      const value = at + (isExtended ? 4 : 3);
      if (value > end) {
        // RFC 7606 §4: an attribute that is cut costs its routes, not the session.
        this.overrun(
          0,
          `${end - at} octets are left of the path attributes, fewer than an attribute's header`,
        );
        break;
      }
      const code = octets[at + 1] as number;
      const length = isExtended ? u16(octets, at + 2) : (octets[at + 2] as number);
      const next = value + length;
      if (next > end) {
        this.overrun(code, `path attribute ${code} of ${length} octets, where ${end - value} are left`);
        break;
      }
      const isFirst = code < 32 ? (seen & (1 << code)) === 0 : this.isFirstAbove(code);
      if (code < 32) seen |= 1 << code;
      if (!isFirst) this.twice(code);
      else if (!isUsualAttribute(code, flags, octets, value, next)) {
        this.attribute(code, flags, at, value, next);
      }
      if (this.fatal !== undefined) break;
      at = next;
    }
    this.count = count;
    this.seen = seen;
  }

  private isFirstAbove(code: number): boolean {
    if (this.seenAbove?.has(code)) return false;
    this.seenAbove ??= new Set();
    this.seenAbove.add(code);
    return true;
  }

  private twice(code: number): void {
    // RFC 7606 §3.g: the first of a kind counts, except that two of these leave no one list of routes.
    if (code === PATH_ATTRIBUTE.mpReachNlri || code === PATH_ATTRIBUTE.mpUnreachNlri) {
      this.fatal = malformedList(`path attribute ${code} stands twice in one UPDATE`);
    }
  }

  /** RFC 4760 §6: routes of a family that was not agreed on are ignored. */
  reach(families: readonly Family[]): RouteRange | undefined {
    if (this.reachStart === NONE) return undefined;
    const routes = { afi: this.reachAfi, safi: this.reachSafi, start: this.reachStart, end: this.reachEnd };
    return includesFamily(families, routes) ? routes : undefined;
  }

  unreach(families: readonly Family[]): RouteRange | undefined {
    if (this.unreachStart === NONE) return undefined;
    const { unreachAfi: afi, unreachSafi: safi, unreachStart: start, unreachEnd: end } = this;
    const routes = { afi, safi, start, end };
    return includesFamily(families, routes) ? routes : undefined;
  }

  linkStateAttribute(): OctetRange | undefined {
    if (this.linkStateStart === NONE) return undefined;
    return { start: this.linkStateStart, end: this.linkStateEnd };
  }

  get isEmptyUnreach(): boolean {
    return this.unreachStart !== NONE && this.unreachStart === this.unreachEnd;
  }

  /** RFC 7606 §3.d. LOCAL_PREF is not asked for: its absence (RFC 4271 §5.1.5) does not make an object less true. */
  requireMandatory(): void {
    this.require(PATH_ATTRIBUTE.origin);
    this.require(PATH_ATTRIBUTE.asPath);
  }

  private require(code: number): void {
    if ((this.seen & (1 << code)) !== 0) return;
    this.problem({
      action: 'treat-as-withdraw',
      reason: 'missing-mandatory-attribute',
      attribute: code,
      error: updateError(
        UPDATE_MESSAGE_SUBCODE.missingWellKnownAttribute,
        `${attributeRule(code)?.name} is missing`,
        Uint8Array.of(code),
      ),
    });
  }

  /** The attribute whose header stands at `at`, its value at `[start, end)`. */
  private attribute(code: number, flags: number, at: number, start: number, end: number): void {
    if (code === PATH_ATTRIBUTE.mpReachNlri) {
      this.mpReach(flags, start, end);
      return;
    }
    if (code === PATH_ATTRIBUTE.mpUnreachNlri) {
      this.mpUnreach(flags, start, end);
      return;
    }
    if (code === PATH_ATTRIBUTE.bgpLs && isOptionalNonTransitive(flags)) {
      // Its rule asks for no more: the TLVs are the business of protocols/bgp/ls.
      this.linkStateStart = start;
      this.linkStateEnd = end;
      return;
    }
    const rule = attributeRule(code);
    if (rule === undefined) {
      if ((flags & ATTRIBUTE_FLAG.optional) === 0) {
        this.fatal = updateError(
          UPDATE_MESSAGE_SUBCODE.unrecognizedWellKnownAttribute,
          `path attribute ${code} is not known and says that it must be`,
          this.octets.slice(at, end),
        );
      }
      return;
    }
    const problem = checkAttribute(rule, flags, this.octets, start, end, this.context);
    if (problem !== undefined) this.problem(problem);
  }

  /** RFC 4760 §3: AFI, SAFI, next hop with its length, one reserved octet, NLRI. */
  private mpReach(flags: number, start: number, end: number): void {
    if (!this.flagsAreOptionalNonTransitive(PATH_ATTRIBUTE.mpReachNlri, 'MP_REACH_NLRI', flags)) return;
    const { octets } = this;
    const length = end - start;
    const nextHopLength = length > 3 ? (octets[start + 3] as number) : 0;
    const nlriAt = start + 4 + nextHopLength + 1;
    if (length < 5 || nlriAt > end) {
      this.fatal = optionalError(`MP_REACH_NLRI of ${length} octets with a next hop of ${nextHopLength}`);
      return;
    }
    this.reachAfi = u16(octets, start);
    this.reachSafi = octets[start + 2] as number;
    this.reachStart = nlriAt;
    this.reachEnd = end;
    if (isNextHopLength(this.reachSafi, nextHopLength)) return;
    const routes = this.reach(this.context.families);
    if (routes === undefined) return;
    // RFC 7606 §7.11: where the NLRI begin cannot be trusted.
    this.fatal = optionalError(
      `MP_REACH_NLRI of ${formatFamily(routes)} with a next hop of ${nextHopLength} octets`,
    );
  }

  private mpUnreach(flags: number, start: number, end: number): void {
    if (!this.flagsAreOptionalNonTransitive(PATH_ATTRIBUTE.mpUnreachNlri, 'MP_UNREACH_NLRI', flags)) return;
    if (end - start < 3) {
      this.fatal = optionalError(`MP_UNREACH_NLRI of ${end - start} octets`);
      return;
    }
    this.unreachAfi = u16(this.octets, start);
    this.unreachSafi = this.octets[start + 2] as number;
    this.unreachStart = start + 3;
    this.unreachEnd = end;
  }

  /** RFC 7606 §5.3: an MP attribute whose flags are wrong is malformed, and its routes are not to be trusted. */
  private flagsAreOptionalNonTransitive(code: number, name: string, flags: number): boolean {
    if (isOptionalNonTransitive(flags)) return true;
    this.fatal = wrongFlags(code, name, flags, 'session-reset').error;
    return false;
  }

  private overrun(attribute: number, text: string): void {
    const error = updateError(UPDATE_MESSAGE_SUBCODE.attributeLengthError, text);
    this.problem({ action: 'treat-as-withdraw', reason: 'malformed', attribute, error });
  }

  private problem(problem: UpdateProblem): void {
    this.problems = [...this.problems, problem];
  }
}

function isOptionalNonTransitive(flags: number): boolean {
  return (flags & (ATTRIBUTE_FLAG.optional | ATTRIBUTE_FLAG.transitive)) === ATTRIBUTE_FLAG.optional;
}

/** What every call needs and none keeps: one decode never calls another. */
const scanned = new AttributeScan();

/**
 * RFC 9552 §5.5: an IPv4 or IPv6 address, the latter with a link-local one perhaps; SAFI 72 puts an 8-octet RD
 * before each.
 */
function isNextHopLength(safi: number, octets: number): boolean {
  return safi === SAFI.linkStateVpn
    ? octets === 12 || octets === 24 || octets === 48
    : octets === 4 || octets === 16 || octets === 32;
}

/** RFC 7606 §5.3: a prefix that is cut, or longer than an address, leaves the rest unreadable. */
function checkPrefixes(octets: Uint8Array, start: number, end: number): BgpError | undefined {
  let offset = start;
  while (offset < end) {
    const bits = octets[offset] as number;
    offset += 1 + ((bits + 7) >> 3);
    if (bits > 32 || offset > end) {
      return updateError(UPDATE_MESSAGE_SUBCODE.invalidNetworkField, `an IPv4 prefix of ${bits} bits`);
    }
  }
  return undefined;
}

function strongest(problems: readonly UpdateProblem[]): ErrorAction | undefined {
  if (problems.length === 0) return undefined;
  return ERROR_ACTIONS.findLast((action) => problems.some((problem) => problem.action === action));
}

function reset(error: BgpError): DecodedUpdate {
  return { kind: 'error', error };
}

function malformedList(text: string): BgpError {
  return updateError(UPDATE_MESSAGE_SUBCODE.malformedAttributeList, text);
}

function optionalError(text: string): BgpError {
  return updateError(UPDATE_MESSAGE_SUBCODE.optionalAttributeError, text);
}

function u16(octets: Uint8Array, offset: number): number {
  return ((octets[offset] as number) << 8) | (octets[offset + 1] as number);
}
