/** Objects of the topology as the API shows them, declared. What decodes them says what their members are. */
import * as z from 'zod';
import { ATTRIBUTE_ROWS } from '../../protocols/bgp/ls/attribute.ts';
import type {
  LinkDescriptor,
  NodeDescriptor,
  PrefixDescriptor,
  SrPolicyDescriptor,
  Srv6SidDescriptor,
} from '../../protocols/bgp/ls/descriptor.ts';
import { count, everyOf, integerId, time } from '../answer.ts';
import type { PairedBy } from './pairing.ts';

/** zod's optional members may be undefined; JSON has no such thing. */
type Loose<Members> = { [Member in keyof Members]: Members[Member] | undefined };

const uint32 = z.int().min(0).max(4_294_967_295);
/** Exact digits on the wire, of which a JSON reader may keep fewer. */
const uint64 = z
  .number()
  .min(0)
  .meta({ type: 'integer', format: 'uint64', description: '64 bits, with all of its digits' });
const hex = z.string().regex(/^([0-9a-f]{2})*$/);

/** An id of the topology: a letter for the kind and a hash of the object's identity. */
export const objectId = (letter: string) => z.string().regex(new RegExp(`^${letter}\\.[A-Za-z0-9_-]{22}$`));

const nodeId = objectId('n');

export const unknownTlv = z.strictObject({ type: z.int().min(0).max(65_535), value: hex });
const unknownTlvs = z.array(unknownTlv);

export const nodeDescriptorAnswer = z
  .strictObject({
    'autonomous-system': uint32,
    'bgp-ls-identifier': uint32,
    'ospf-area-id': z.string(),
    'igp-router-id': z.string().meta({
      description:
        '`0000.0000.0009`, pseudonode `0000.0000.0009.02`; OSPF `10.1.1.1`, pseudonode `10.1.4.1:10.1.1.2`; an IPv6 address of a direct or static node; other lengths in hex',
    }),
    'bgp-router-id': z.string(),
    'bgp-confederation-member': uint32,
    'ipv4-router-id': z.string(),
    'ipv6-router-id': z.string(),
    'unknown-tlvs': unknownTlvs,
  })
  .partial()
  .meta({
    description: 'Node descriptors (RFC 9552 §5.2.1.4); an absent member is an absent TLV',
  }) satisfies z.ZodType<Loose<NodeDescriptor>>;

const linkDescriptor = z.strictObject({
  'link-local-identifier': uint32.optional(),
  'link-remote-identifier': uint32.optional(),
  'ipv4-interface-addresses': z.array(z.string()),
  'ipv4-neighbor-addresses': z.array(z.string()),
  'ipv6-interface-addresses': z.array(z.string()),
  'ipv6-neighbor-addresses': z.array(z.string()),
  'multi-topology-id': count.optional(),
  'remote-as-number': uint32.optional(),
  'ipv4-remote-asbr-id': z.string().optional(),
  'ipv6-remote-asbr-id': z.string().optional(),
  'unknown-tlvs': unknownTlvs.optional(),
}) satisfies z.ZodType<Loose<LinkDescriptor>>;

const prefixDescriptor = z
  .strictObject({
    'multi-topology-id': count,
    'ospf-route-type': z.string(),
    'ip-reachability': z.string(),
    'unknown-tlvs': unknownTlvs,
  })
  .partial() satisfies z.ZodType<Loose<PrefixDescriptor>>;

const srv6SidDescriptor = z
  .strictObject({ 'multi-topology-id': count, sid: z.string(), 'unknown-tlvs': unknownTlvs })
  .partial() satisfies z.ZodType<Loose<Srv6SidDescriptor>>;

const srPolicyDescriptor = z
  .strictObject({
    'protocol-origin': count,
    endpoint: z.string(),
    color: uint32,
    'originator-as': uint32,
    originator: z.string(),
    discriminator: uint32,
    'unknown-tlvs': unknownTlvs,
  })
  .partial() satisfies z.ZodType<Loose<SrPolicyDescriptor>>;

/**
 * The members that TLVs of the BGP-LS Attribute become. Their codec knows their shapes; here stands which there are,
 * and where each is defined.
 */
const attributes = z
  .strictObject(
    Object.fromEntries(
      ATTRIBUTE_ROWS.map(({ name, title, rfc }) => [
        name,
        z
          .unknown()
          .meta({ description: `${title} (${rfc})` })
          .optional(),
      ]),
    ),
  )
  .catchall(z.unknown())
  .meta({ description: 'The BGP-LS Attribute by TLV; an absent member is an absent TLV' });

const conflict = z
  .strictObject({
    since: time,
    tlvs: z.array(
      z.strictObject({
        type: z.int(),
        values: z.array(z.strictObject({ 'peer-id': integerId, value: z.string().nullable() })),
      }),
    ),
  })
  .meta({ description: 'Where live peers differ, and have for over 30 seconds' });

const source = z.strictObject({
  'peer-id': integerId,
  selected: z.boolean(),
  state: z.enum(['live', 'stale']),
  'received-at': time,
  'changed-at': time,
  'stale-since': time.nullable(),
  'purge-at': time.nullable(),
  raw: z
    .strictObject({ nlri: hex, attribute: hex.nullable() })
    .optional()
    .meta({ description: 'With `raw=true`' }),
});

const head = {
  protocol: z
    .string()
    .nullable()
    .meta({ description: '`isis-level-2`, `ospfv2`, …; `protocol-<n>` without a name' }),
  identifier: uint64.nullable(),
  safi: z.literal([71, 72]),
  'route-distinguisher': z.string(),
};

const tail = {
  attributes,
  'unknown-tlvs': unknownTlvs,
  'attributes-missing': z
    .boolean()
    .meta({ description: 'The object came without its attribute (RFC 9552 §8.2.2)' }),
  stale: z.boolean(),
  conflict: conflict.nullable(),
  sources: z.array(source),
  'first-seen': time,
  'last-changed': time,
};

const nodeReference = z.strictObject({ id: nodeId, descriptor: nodeDescriptorAnswer });

/** A router as people know it: see `router-view.ts`. */
export const routerAnswer = z.strictObject({
  id: objectId('r'),
  'router-id': z.string().nullable().meta({ description: 'What it is known by; null: nothing' }),
  'router-ids': z.array(z.string()),
  names: z.array(z.string()),
  'autonomous-system': uint32.nullable(),
  safi: z.literal([71, 72]),
  'route-distinguisher': z.string(),
  pseudonode: z.boolean().meta({ description: 'A LAN, which stands alone' }),
  stale: z.boolean(),
  nodes: z.array(
    z.strictObject({
      id: nodeId,
      protocol: z.string().nullable(),
      identifier: uint64.nullable(),
      descriptor: nodeDescriptorAnswer,
      advertised: z.boolean(),
      stale: z.boolean(),
    }),
  ),
});

export const nodeAnswer = z.strictObject({
  id: nodeId,
  type: z.literal('node'),
  ...head,
  descriptor: nodeDescriptorAnswer,
  pseudonode: z.boolean(),
  advertised: z.boolean().meta({ description: 'False: known only as the end of a link' }),
  ...tail,
});

const PAIRED_BY = everyOf<PairedBy>()(['addresses', 'identifiers', 'single-candidate', 'nodes']);

export const linkAnswer = z.strictObject({
  id: objectId('l'),
  type: z.enum(['link', 'stub-link']),
  ...head,
  'local-node': nodeReference.nullable(),
  'remote-node': nodeReference.nullable(),
  descriptor: linkDescriptor,
  reverse: z.strictObject({
    id: objectId('l').nullable(),
    'paired-by': z.enum(PAIRED_BY).nullable(),
    ambiguous: z.boolean(),
  }),
  ...tail,
});

export const prefixAnswer = z.strictObject({
  id: objectId('p'),
  type: z.enum(['ipv4-prefix', 'ipv6-prefix']),
  ...head,
  node: nodeReference.nullable(),
  descriptor: prefixDescriptor,
  ...tail,
});

export const srv6SidAnswer = z.strictObject({
  id: objectId('s'),
  type: z.literal('srv6-sid'),
  ...head,
  node: nodeReference.nullable(),
  descriptor: srv6SidDescriptor,
  ...tail,
});

export const srPolicyAnswer = z.strictObject({
  id: objectId('c'),
  type: z.literal('sr-policy'),
  ...head,
  'head-end': nodeReference.nullable(),
  descriptor: srPolicyDescriptor,
  ...tail,
});

export const unknownAnswer = z.strictObject({
  id: objectId('u'),
  type: z.literal('unknown'),
  ...head,
  'nlri-type': z.int().min(0).max(65_535),
  value: hex,
  ...tail,
});
