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
const wave = 2_048;
send(Math.min(wave, count));
send(Math.min(wave, count - begun));

/** In waves, two at a time, as the sender gives them. */
function send(requests: number): void {
  if (requests === 0) return;
  begun += requests;
  let open = requests;
  pool.sendAll({
    requests,
    body: () => body,
    mayStart: () => true,
    ended(_index, attempt) {
      done(attempt);
      open -= 1;
      if (open === 0) send(Math.min(wave, count - begun));
    },
  });
}

function done(attempt: Attempt | undefined): void {
  if (attempt === undefined || attempt.status === null || attempt.status >= 400) failed += 1;
  left -= 1;
  if (count - left === warmUp) {
    started = performance.now();
    before = process.cpuUsage();
  }
  if (left === 0) report();
}

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
