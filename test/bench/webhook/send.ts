/**
 * `node send.ts URL REQUESTS CONNECTIONS BODY-FILE`: the sender's own pool, as fast as it goes; prints what it took.
 * The first fifth is a warm-up that is sent but not measured, as in the Go client: a sender lives long.
 */
import { readFileSync } from 'node:fs';
import type { Attempt } from '../../../core/delivery-outcome.ts';
import { resolverFor } from '../../../functions/webhook-dial.ts';
import { WebhookPool } from '../../../functions/webhook-pool.ts';

const [, , url = '', requests = '1', connections = '32', bodyFile = ''] = process.argv;
const body = readFileSync(bodyFile);
const count = Number(requests);
const pool = new WebhookPool(
  {
    url: new URL(url),
    method: 'POST',
    headers: [['Content-Type', 'application/json']],
    timeoutMilliseconds: 10_000,
  },
  {
    rules: { isLocalRun: true, allow: [] },
    resolve: resolverFor(''),
    connections: Number(connections),
  },
);
const warmUp = Math.floor(count / 5);
let started = performance.now();
let before = process.cpuUsage();
let failed = 0;
let left = count;
let begun = 0;
const done = (attempt: Attempt | undefined) => {
  if (attempt === undefined || attempt.status === null || attempt.status >= 400) failed += 1;
  left -= 1;
  if (count - left === warmUp) {
    started = performance.now();
    before = process.cpuUsage();
  }
  if (left === 0) report();
  // In waves, as the sender gives them: what waits in the pool is bounded.
  else if (begun < count && pool.pending < 2_048) give(Math.min(2_048, count - begun));
};
function give(more: number): void {
  begun += more;
  for (let index = 0; index < more; index += 1) pool.send(body, done);
}
give(Math.min(4_096, count));

function report(): void {
  const { user, system } = process.cpuUsage(before);
  console.log(
    JSON.stringify({
      requests: count - warmUp,
      failed,
      seconds: (performance.now() - started) / 1000,
      'cpu-seconds': (user + system) / 1e6,
      'max-rss-kb': process.resourceUsage().maxRSS,
    }),
  );
  process.exit(0);
}
