/**
 * The traffic engineering part of the IETF's model: what `ietf-te-topology` (RFC 8795) adds to RFC 8345's networks,
 * nodes, links and termination points, in the types of `ietf-te-types` (RFC 8776). Only what BGP-LS tells is written.
 */
import type { LinkStateAttributes } from '../../protocols/bgp/ls/attributes.ts';
import { ProtocolId } from '../../protocols/bgp/ls/code-point.ts';
import type { LinkDescriptor } from '../../protocols/bgp/ls/descriptor.ts';
import type { DecodedNlri } from '../../protocols/bgp/ls/nlri.ts';
import { parseIpAddress } from '../ip-address.ts';
import type { JsonObject } from './object-view.ts';
import { xmlText } from './yang-text.ts';

/** Of a link: that it is one for traffic engineering. An IGP metric alone is no sign of that. */
const TE_ATTRIBUTES = [
  'administrative-group',
  'extended-administrative-group',
  'maximum-link-bandwidth-bytes-per-second',
  'max-reservable-link-bandwidth-bytes-per-second',
  'unreserved-bandwidth-bytes-per-second',
  'te-default-metric',
  'link-protection-type',
  'shared-risk-link-groups',
  'unidirectional-link-delay-microseconds',
] as const satisfies readonly (keyof LinkStateAttributes)[];

/** By the names of RFC 5307 §1.2's bits. */
const LINK_PROTECTION_TYPES: Readonly<Record<string, string>> = {
  enhanced: 'link-protection-enhanced',
  'dedicated-1-plus-1': 'link-protection-1-plus-1',
  'dedicated-1-to-1': 'link-protection-1-for-1',
  shared: 'link-protection-shared',
  unprotected: 'link-protection-unprotected',
  'extra-traffic': 'link-protection-extra-traffic',
};

export function isTeLink(attributes: LinkStateAttributes): boolean {
  return TE_ATTRIBUTES.some((name) => attributes[name] !== undefined);
}

export const TE_NETWORK_TYPE = { 'ietf-te-topology:te-topology': {} };

/** Provider and client are 0, "not given": who operates a network is nothing that BGP-LS tells. */
export function viewTeNetwork(networkId: string, name: string): JsonObject {
  return {
    'ietf-te-topology:te-topology-identifier': {
      'provider-id': 0,
      'client-id': 0,
      'topology-id': networkId,
    },
    'ietf-te-topology:te': { name },
  };
}

/** Where an object was learnt and whether that still holds. */
export interface TeState {
  readonly stale: boolean;
  /** The peer whose copy is shown. */
  readonly peerId: number;
}

/** What is told of a node; `state` undefined: nobody told it, links name it. Nothing without a 4-octet identifier. */
export function viewTeNode(
  nlri: DecodedNlri,
  pseudonode: boolean,
  attributes: LinkStateAttributes,
  state: TeState | undefined,
): JsonObject {
  const id = teNodeId(nlri, pseudonode, attributes);
  if (id === undefined) return {};
  if (state === undefined) return { 'ietf-te-topology:te-node-id': id };
  const name = attributes['node-name'];
  const domain = nlri.localNode?.['autonomous-system'];
  const addresses = [...(attributes['ipv4-router-ids'] ?? []), ...(attributes['ipv6-router-ids'] ?? [])];
  return {
    'ietf-te-topology:te-node-id': id,
    'ietf-te-topology:te': {
      'te-node-attributes': {
        ...(domain === undefined ? {} : { 'domain-id': domain }),
        ...(name === undefined ? {} : { name: xmlText(name) }),
        ...(addresses.length === 0 ? {} : { 'signaling-address': [...new Set(addresses)] }),
      },
      ...viewState(state),
      // YANG's empty, in JSON: RFC 7951 §6.9.
      ...(pseudonode ? { 'is-multi-access-dr': [null] } : {}),
    },
  };
}

/**
 * The TE Router ID (RFC 5305 §4.3, RFC 3630 §2.4.1), else what OSPF calls the router, or an OSPFv2 LAN: the address of
 * its designated router, by which RFC 3630 §2.5.2 names it too.
 */
function teNodeId(
  nlri: DecodedNlri,
  pseudonode: boolean,
  attributes: LinkStateAttributes,
): string | undefined {
  const told = attributes['ipv4-router-ids']?.[0];
  if (told !== undefined) return told;
  const igp = nlri.localNode?.['igp-router-id'];
  if (igp === undefined) return undefined;
  if (!pseudonode) return parseIpAddress(igp)?.family === 4 ? igp : undefined;
  return nlri.protocolId === ProtocolId.ospfv2 ? igp.split(':')[1] : undefined;
}

/** A link's end is its address, else its link identifier. */
export function viewTeTerminationPoint(descriptor: LinkDescriptor): JsonObject {
  const id =
    descriptor['ipv4-interface-addresses'][0] ??
    descriptor['ipv6-interface-addresses'][0] ??
    descriptor['link-local-identifier'];
  return id === undefined ? {} : { 'ietf-te-topology:te-tp-id': id };
}

/** `multiAccess`: one of its ends is a pseudonode. */
export function viewTeLink(
  attributes: LinkStateAttributes,
  multiAccess: boolean,
  state: TeState,
): JsonObject {
  const groups = administrativeGroup(attributes);
  const protection = protectionType(attributes);
  const unreserved = (attributes['unreserved-bandwidth-bytes-per-second'] ?? [])
    .slice(0, 8)
    .map((bandwidth, priority) => ({ priority, ...viewBandwidth(bandwidth) }))
    .filter((entry) => 'te-bandwidth' in entry);
  const groupsAtRisk = [...new Set(attributes['shared-risk-link-groups'] ?? [])];
  const linkAttributes = {
    'access-type': multiAccess ? 'multi-access' : 'point-to-point',
    ...optional('name', attributes['link-name'], xmlText),
    ...optional('administrative-group', groups),
    ...optional('link-protection-type', protection),
    ...bandwidth('max-link-bandwidth', attributes['maximum-link-bandwidth-bytes-per-second']),
    ...bandwidth('max-resv-link-bandwidth', attributes['max-reservable-link-bandwidth-bytes-per-second']),
    ...(unreserved.length === 0 ? {} : { 'unreserved-bandwidth': unreserved }),
    ...optional('te-default-metric', attributes['te-default-metric']),
    ...optional('te-delay-metric', attributes['unidirectional-link-delay-microseconds']?.delay),
    ...optional('te-igp-metric', attributes['igp-metric']),
    ...(groupsAtRisk.length === 0 ? {} : { 'te-srlgs': { value: groupsAtRisk } }),
  };
  return { 'ietf-te-topology:te': { 'te-link-attributes': linkAttributes, ...viewState(state) } };
}

/** That an object is advertised means that it is up; of a stale one nobody knows. */
function viewState({ stale, peerId }: TeState): JsonObject {
  return {
    'oper-status': stale ? 'unknown' : 'up',
    'information-source': 'bgp-ls',
    'information-source-instance': String(peerId),
  };
}

function optional<Value>(
  name: string,
  value: Value | undefined,
  view: (value: Value) => unknown = (same) => same,
): JsonObject {
  return value === undefined ? {} : { [name]: view(value) };
}

/**
 * `admin-groups`: octets in hex, the most significant one first. BGP-LS sends the word of the lowest groups first
 * (RFC 9104 §2). Where the two attributes differ in the first 32 groups, the older one is right: RFC 7308 §2.3.1.
 */
function administrativeGroup(attributes: LinkStateAttributes): string | undefined {
  const group = attributes['administrative-group'];
  const extended = attributes['extended-administrative-group'] ?? [];
  const words = [...(group === undefined ? extended.slice(0, 1) : [group]), ...extended.slice(1)].reverse();
  if (words.length === 0) return undefined;
  const hex = words.map((word) => word.toString(16).padStart(8, '0')).join('');
  return (hex.match(/../g) as string[]).join(':');
}

/** The model has place for one type: a link of several is left without. */
function protectionType(attributes: LinkStateAttributes): string | undefined {
  const set = Object.entries(attributes['link-protection-type'] ?? {}).filter(([, isSet]) => isSet);
  const identity = set.length === 1 ? LINK_PROTECTION_TYPES[(set[0] as [string, boolean])[0]] : undefined;
  return identity === undefined ? undefined : `ietf-te-types:${identity}`;
}

function bandwidth(name: string, bytesPerSecond: number | null | undefined): JsonObject {
  const view = viewBandwidth(bytesPerSecond);
  return 'te-bandwidth' in view ? { [name]: view } : {};
}

function viewBandwidth(bytesPerSecond: number | null | undefined): JsonObject {
  const generic = formatTeBandwidth(bytesPerSecond ?? Number.NaN);
  return generic === undefined ? {} : { 'te-bandwidth': { generic } };
}

/**
 * A `te-bandwidth` of RFC 8776: a binary32 number as C writes it in hex (RFC 8294's `bandwidth-ieee-float32`), in its
 * canonical form, e.g. `0x1.2a05f2p30`. Undefined for what that type has no form for: less than 1 other than 0, and
 * what is no finite number.
 */
export function formatTeBandwidth(bytesPerSecond: number): string | undefined {
  const float = Math.fround(bytesPerSecond);
  if (float === 0) return '0x0p0';
  if (!Number.isFinite(float) || float < 1) return undefined;
  const bits = new DataView(new ArrayBuffer(4));
  bits.setFloat32(0, float);
  const word = bits.getUint32(0);
  // 23 bits of fraction are six hex digits of which the last is even.
  const fraction = ((word & 0x7fffff) << 1).toString(16).padStart(6, '0').replace(/0+$/, '');
  return `0x1${fraction === '' ? '' : `.${fraction}`}p${(word >>> 23) - 127}`;
}
