/**
 * `node test/bench/topology/new-instance.ts DATA_DIRECTORY`: the topology function in a process that has just started
 * and knows nothing, on the data of a stack that runs there. Asks it for the whole graph, once, and prints what that took
 * since the process began, with the address of the body. The token is in GRATICULE_API_TOKEN.
 */
import { randomUUID } from 'node:crypto';
import { guardCalls } from '../../../local/aws.ts';
import { answerRequest } from '../../../local/gateway.ts';
import { lateHandlers } from '../../../local/handlers.ts';
import { withLocalData } from '../../../local/open-data.ts';
import { currentPrincipal } from '../../../local/principal.ts';

export interface NewInstance {
  readonly status: number;
  readonly location: string;
  readonly milliseconds: number;
  readonly cpuSeconds: number;
  readonly largestMegabytes: number;
}

/** Answers the one request of this process. */
async function askForGraph(): Promise<NewInstance> {
  guardCalls(currentPrincipal);
  const answer = await answerRequest(
    {
      method: 'GET',
      target: '/api/topology/graph',
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
  const { user, system } = process.cpuUsage();
  return {
    status: answer.status,
    location: answer.headers.find(([name]) => name.toLowerCase() === 'location')?.[1] ?? '',
    milliseconds: Math.round(performance.now()),
    cpuSeconds: (user + system) / 1e6,
    largestMegabytes: Math.round(process.resourceUsage().maxRSS / 1024),
  };
}

if (import.meta.main) {
  console.log(JSON.stringify(await withLocalData(process.argv[2] as string, askForGraph)));
}
