/** What `/api/topology` and what stands beside its objects answer, declared. */
import * as z from 'zod';
import { count, everyOf, integerId, time } from '../answer.ts';
import type { ObjectKind } from './identity.ts';
import {
  linkAnswer,
  nodeAnswer,
  objectId,
  prefixAnswer,
  srPolicyAnswer,
  srv6SidAnswer,
  unknownAnswer,
} from './object-answer.ts';

/** An opaque cursor: what `changes?since=` takes. */
export const versionAnswer = z
  .string()
  .regex(/^[A-Za-z0-9_-]{2,8192}$/)
  .meta({ description: 'An opaque cursor; `GET /api/topology/changes?since=` takes it' });

export const topologySummaryAnswer = z.strictObject({
  version: versionAnswer,
  'as-of': time,
  counts: z.strictObject({
    nodes: z.strictObject({ total: count, advertised: count, pseudonodes: count, stale: count }),
    links: z.strictObject({ total: count, paired: count, unpaired: count, ambiguous: count, stale: count }),
    prefixes: z.strictObject({ total: count, ipv4: count, ipv6: count, stale: count }),
    'srv6-sids': z.strictObject({ total: count, stale: count }),
    'sr-policies': z.strictObject({ total: count, stale: count }),
    unknown: count,
  }),
  conflicts: count,
  peers: z.array(
    z.strictObject({
      'peer-id': integerId,
      state: z.enum(['idle', 'established']),
      stale: z.boolean(),
      'end-of-rib': time.nullable(),
      nlris: count,
      'age-ms': count.nullable(),
    }),
  ),
});

export const graphAnswer = z.strictObject({
  version: versionAnswer,
  nodes: z.array(nodeAnswer),
  links: z.array(linkAnswer),
});

/** A path's cost may be a sum of 64-bit metrics. */
const cost = z.number().min(0);

export const pathsAnswer = z.strictObject({
  version: versionAnswer,
  from: objectId('n'),
  to: objectId('n'),
  metric: z.enum(['igp', 'te', 'delay', 'hops']),
  paths: z.array(
    z.strictObject({
      cost,
      nodes: z.array(objectId('n')),
      links: z.array(objectId('l')),
      'delay-microseconds': z.number().min(0).nullable(),
      hops: count,
      'mpls-label-stack': z.array(count).nullable(),
      'srv6-sids': z.array(z.string()).nullable(),
      'last-resort': z.boolean(),
    }),
  ),
  reason: z.enum(['', 'unreachable', 'constraints']).meta({ description: 'Why there is no path' }),
});

const KINDS = everyOf<ObjectKind>()(['node', 'link', 'prefix', 'srv6-sid', 'sr-policy', 'unknown']);

export const changesAnswer = z.strictObject({
  from: versionAnswer,
  to: versionAnswer,
  changes: z.array(
    z.strictObject({
      action: z.enum(['put', 'remove']),
      kind: z.enum(KINDS),
      id: z.string(),
      object: z
        .union([nodeAnswer, linkAnswer, prefixAnswer, srv6SidAnswer, srPolicyAnswer, unknownAnswer])
        .optional()
        .meta({ description: 'With `put`: the object as it is now' }),
    }),
  ),
});

const differing = z.record(z.string(), z.unknown()).nullable();

export const eventAnswer = z.strictObject({
  id: z.string(),
  at: time,
  kind: z.enum(KINDS),
  'object-id': z.string(),
  action: z.enum([
    'added',
    'changed',
    'removed',
    'stale',
    'recovered',
    'purged',
    'conflict',
    'conflict-cleared',
    'attributes-lost',
  ]),
  'peer-id': integerId.nullable(),
  before: differing.meta({ description: 'Only what differs' }),
  after: differing.meta({ description: 'Only what differs' }),
});
