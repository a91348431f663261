/**
 * An object in one canonical line, of all that both Graticule and GoBGP v4.8.0 decode: test/bench/gobgp/lines.go makes
 * the same one. GoBGP skips, and so the line leaves out: MSDs (266, 267), MT-IDs, application-specific link attributes
 * (1122), prefix metric (1155), prefix attribute flags (1170), source router (1171), SRv6 capabilities and locator.
 */
import type { DecodedAttribute } from '../../../protocols/bgp/ls/attribute.ts';
import { protocolCode } from '../../../protocols/bgp/ls/code-point.ts';
import type {
  LinkDescriptor,
  PrefixDescriptor,
  Srv6SidDescriptor,
} from '../../../protocols/bgp/ls/descriptor.ts';
import type { DecodedNlri } from '../../../protocols/bgp/ls/nlri.ts';
import type { LabelRange } from '../../../protocols/bgp/ls/sid.ts';
import type { Srv6SidStructure } from '../../../protocols/bgp/ls/tlv-srv6.ts';

export function objectLine(nlri: DecodedNlri, decoded: DecodedAttribute | undefined): string {
  const fields = [nlri.nlriType, protocolCode(nlri.protocol ?? ''), nlri.identifier].map(String);
  for (const node of [nlri.localNode, nlri.remoteNode]) {
    if (node === null) continue;
    fields.push(
      String(node['autonomous-system'] ?? 0),
      node['ospf-area-id'] ?? '-',
      node['igp-router-id'] ?? '',
    );
  }
  const link = nlri.descriptor as LinkDescriptor;
  if (nlri.type === 'link') {
    fields.push(link['ipv4-interface-addresses'][0] ?? '-', link['ipv4-neighbor-addresses'][0] ?? '-');
  }
  const prefix = nlri.descriptor as PrefixDescriptor;
  if (prefix['ip-reachability'] !== undefined) fields.push(prefix['ip-reachability']);
  if (nlri.type === 'srv6-sid') fields.push((nlri.descriptor as Srv6SidDescriptor).sid ?? '-');
  const present = Object.entries(members(decoded?.attributes ?? {})).filter(
    ([, value]) => value !== undefined && value !== '',
  );
  const sorted = present.map(([name, value]) => `${name}=${value}`).sort();
  return `${[...fields, ...sorted].join('|')}\n`;
}

function members(a: DecodedAttribute['attributes']): Record<string, unknown> {
  const delay = a['unidirectional-link-delay-microseconds'];
  const delays = a['min-max-unidirectional-link-delay-microseconds'];
  const flags = a['node-flag-bits'];
  const behavior = a['endpoint-behavior'];
  return {
    name: a['node-name'],
    flags:
      flags &&
      [flags.overload, flags.attached, flags.external, flags.abr, flags.router, flags.v6]
        .map(Number)
        .join(' '),
    area: a['isis-area-identifiers']?.[0]?.replaceAll('.', ''),
    router: a['ipv4-router-ids']?.[0],
    'remote-router': a['remote-ipv4-router-ids']?.[0],
    srgb: ranges(a['sr-capabilities']?.ranges),
    srlb: ranges(a['sr-local-block']),
    algorithms: a['sr-algorithms']?.join(' '),
    admin: a['administrative-group'],
    bandwidth: a['maximum-link-bandwidth-bytes-per-second'],
    reservable: a['max-reservable-link-bandwidth-bytes-per-second'],
    unreserved: a['unreserved-bandwidth-bytes-per-second']?.join(' '),
    te: a['te-default-metric'],
    igp: a['igp-metric'],
    srlg: a['shared-risk-link-groups']?.join(' '),
    delay: delay?.delay,
    delays: delays && `${delays['min-delay']} ${delays['max-delay']}`,
    adjacency: a['adjacency-sids']
      ?.map(({ weight, label, index }) => `${weight}:${label ?? index}`)
      .join(' '),
    endx: a['srv6-end-x-sids']
      ?.map((sid) =>
        [sid.behavior, sid.algorithm, sid.weight, sid.sid, structure(sid['sid-structure'])].join(' '),
      )
      .join(' '),
    'prefix-sid': a['prefix-sids']
      ?.map(({ algorithm, label, index }) => `${algorithm}:${label ?? index}`)
      .join(' '),
    behavior: behavior && `${behavior.behavior} ${behavior.flags} ${behavior.algorithm}`,
    structure: a['sid-structure'] && structure(a['sid-structure']),
  };
}

function ranges(all: readonly LabelRange[] | undefined): string | undefined {
  return all?.map((range) => `${range['sid-label']}+${range.size}`).join(' ');
}

function structure(of: Srv6SidStructure | undefined): string | undefined {
  if (of === undefined) return undefined;
  return [of['locator-block-bits'], of['locator-node-bits'], of['function-bits'], of['argument-bits']].join(
    '/',
  );
}
