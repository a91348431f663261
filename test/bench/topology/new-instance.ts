/**
 * `node test/bench/topology/new-instance.ts DATA_DIRECTORY TARGET …`: the topology function in a process that has just
 * started and knows nothing, on the data of a stack that runs there. Asks it for each target in turn, and prints what each
 * took: the first since the process began. The token is in GRATICULE_API_TOKEN.
 */
import { randomUUID } from 'node:crypto';
import { guardCalls } from '../../../local/aws.ts';
import { answerRequest } from '../../../local/gateway.ts';
import { lateHandlers } from '../../../local/handlers.ts';
import { withLocalData } from '../../../local/open-data.ts';
import { currentPrincipal } from '../../../local/principal.ts';

export interface NewInstanceAnswer {
  readonly target: string;
  readonly status: number;
  /** Of the body as it goes out; with a redirect, of none. */
  readonly octets: number;
  readonly location: string;
  readonly milliseconds: number;
  readonly cpuSeconds: number;
  /** Of the process so far. */
  readonly largestMegabytes: number;
  /** Calls to AWS. */
  readonly calls: number;
  /** DynamoDB's, of 4 KB each, as consistent reads count. */
  readonly readUnits: number;
}

async function ask(target: string, guard: ReturnType<typeof guardCalls>): Promise<NewInstanceAnswer> {
  const isFirst = guard.counts().length === 0;
  const begun = isFirst ? 0 : performance.now();
  const cpu = isFirst ? undefined : process.cpuUsage();
  const before = total(guard);
  const answer = await answerRequest(
    {
      method: 'GET',
      target,
      headers: [
        ['host', 'localhost'],
        ['authorization', `Bearer ${process.env['GRATICULE_API_TOKEN']}`],
        ['accept-encoding', 'gzip'],
      ],
      body: Buffer.alloc(0),
      sourceAddress: '127.0.0.1',
      port: 0,
      requestId: randomUUID(),
      receivedAt: Date.now(),
    },
    { handlers: lateHandlers(), onFailure: (name, error) => console.error(name, error) },
  );
  const milliseconds = Math.round(performance.now() - begun);
  const { user, system } = process.cpuUsage(cpu);
  const after = total(guard);
  return {
    target,
    status: answer.status,
    octets: answer.body.length,
    location: answer.headers.find(([name]) => name.toLowerCase() === 'location')?.[1] ?? '',
    milliseconds,
    cpuSeconds: (user + system) / 1e6,
    largestMegabytes: Math.round(process.resourceUsage().maxRSS / 1024),
    calls: after.calls - before.calls,
    readUnits: Math.round(after.readUnits - before.readUnits),
  };
}

function total(guard: ReturnType<typeof guardCalls>) {
  const sum = { calls: 0, readUnits: 0 };
  for (const { calls, readUnits } of guard.counts()) {
    sum.calls += calls;
    sum.readUnits += readUnits;
  }
  return sum;
}

if (import.meta.main) {
  const [directory, ...targets] = process.argv.slice(2);
  const guard = guardCalls(currentPrincipal);
  await withLocalData(directory as string, async () => {
    for (const target of targets) console.log(JSON.stringify(await ask(target, guard)));
  });
}
