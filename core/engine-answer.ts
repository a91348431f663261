import * as z from 'zod';
import { count, integerId, stated, time } from './answer.ts';
import { engineConfiguration } from './engine-request.ts';
import type { WorkerAbilities } from './ownership.ts';

const abilities = z
  .strictObject({
    'tcp-md5': z.boolean(),
    'ttl-security': z.boolean(),
    'bgp-listen': z.boolean(),
  })
  .meta({ description: 'What every live worker can do' }) satisfies z.ZodType<WorkerAbilities>;

const worker = z.strictObject({
  id: z.string(),
  version: z.string(),
  'started-at': time,
  'beat-age-ms': count,
  draining: z.boolean(),
  'source-addresses': z.array(z.string()),
  abilities,
  peers: z.array(integerId),
  devices: z.array(integerId),
});

export const engineAnswer = z.strictObject({
  ...stated(engineConfiguration.shape),
  version: z.string(),
  workers: z.array(worker),
});

export const healthAnswer = z.strictObject({
  status: z.enum(['ok', 'starting']),
  workers: count,
  abilities: abilities.nullable(),
});
