/** A network of 200 routers, told by two route reflectors on loopback addresses, in which something happens all the time. */
import { setTimeout as delay } from 'node:timers/promises';
import { linkStateObjects } from '../../support/network/link-state-objects.ts';
import { NetworkLife } from '../../support/network/network-life.ts';
import { Reflector } from '../../support/network/reflector.ts';
import { SimulatedNetwork } from '../../support/network/simulated-network.ts';
import { Random } from '../../support/random.ts';
import type { DemoPart, DemoStage } from '../demo.ts';

const ROUTERS = 200;
/** The same network at each run, so that what a person reads about it stays true. */
const SEED = 200;
const STEP_MILLISECONDS = 2_000;
/** The second reflector hears of everything this much later. */
const LATE_MILLISECONDS = 300;
/** Every so many steps the second reflector's session is lost, and it comes back after some. */
const SESSION_LOST_EVERY = 90;
const STEPS_WITHOUT_SESSION = 10;
const LOADED_WITHIN_MILLISECONDS = 120_000;

export const part: DemoPart = {
  name: `network of ${ROUTERS} routers`,
  async start(stage) {
    const random = new Random(SEED);
    const network = new SimulatedNetwork(
      {
        routers: ROUTERS,
        igp: 'isis',
        identifier: 1n,
        number: 1,
        chords: 3,
        parallel: 0.1,
        unnumbered: 0.2,
        lansPerHundred: 3,
      },
      random,
    );
    const objects = linkStateObjects(network);
    const reflectors = [await Reflector.listen('127.0.0.11', 0), await Reflector.listen('127.0.0.12', 0)];
    for (const [index, reflector] of reflectors.entries()) {
      await reflector.tell(objects);
      await stage.call('POST', '/api/bgp/peers', {
        name: `reflector ${index + 1}`,
        description: 'simulated',
        'peer-address': reflector.address,
        'peer-port': reflector.port,
        'user-peer-as': '65000',
        'connect-retry': 5,
        enabled: true,
      });
    }
    const milliseconds = await untilLoaded(stage, objects.size);
    const life = live(network, reflectors, new NetworkLife(network, random), stage);
    const [from, to] = await Promise.all(
      [network.routers[20], network.routers[120]].map(async (router) => {
        const [node] = await stage.call('GET', `/api/topology/nodes?name=${router?.name}`);
        return node.id as string;
      }),
    );
    return {
      sentence: `${ROUTERS} routers, ${objects.size} objects told by two reflectors, readable ${(milliseconds / 1000).toFixed(1)} s after the second was configured:`,
      requests: [
        { shows: 'the topology in numbers, and who tells it', path: '/api/topology' },
        {
          shows: 'the two best paths between two routers, with their label stacks',
          path: `/api/topology/paths?from=${from}&to=${to}&metric=igp&k=2`,
        },
        { shows: 'what happened last, with before and after', path: '/api/topology/events?limit=5' },
      ],
      async stop() {
        await life;
        await Promise.all(reflectors.map((reflector) => reflector.stop()));
      },
    };
  },
};

/** Waits until the product shows as many objects as there are, from both reflectors; returns how long it took. */
async function untilLoaded({ call, ending }: DemoStage, objects: number): Promise<number> {
  const begun = performance.now();
  for (;;) {
    const { peers } = await call('GET', '/api/topology');
    const whole = peers.filter((peer: { nlris: number }) => peer.nlris === objects);
    const milliseconds = performance.now() - begun;
    if (whole.length === 2) return milliseconds;
    ending.throwIfAborted();
    if (milliseconds > LOADED_WITHIN_MILLISECONDS) {
      throw new Error(
        `the product has not loaded ${objects} objects of both reflectors: ${JSON.stringify(peers)}`,
      );
    }
    await delay(100);
  }
}

/** Something happens at every step until the demonstration ends. */
async function live(
  network: SimulatedNetwork,
  reflectors: readonly Reflector[],
  life: NetworkLife,
  { happened, ending }: DemoStage,
): Promise<void> {
  const [first, second] = reflectors as [Reflector, Reflector];
  const pause = (milliseconds: number) => delay(milliseconds, undefined, { signal: ending }).catch(() => {});
  for (let step = 1; !ending.aborted; step += 1) {
    await pause(STEP_MILLISECONDS - LATE_MILLISECONDS);
    if (ending.aborted) return;
    happened(life.step());
    const objects = linkStateObjects(network);
    await first.tell(objects);
    await pause(LATE_MILLISECONDS);
    await second.tell(objects);
    if (step % SESSION_LOST_EVERY === 0) {
      second.drop();
      happened('the session with reflector 2 is lost');
    } else if (step % SESSION_LOST_EVERY === STEPS_WITHOUT_SESSION && step > SESSION_LOST_EVERY) {
      second.reconnect();
      happened('reflector 2 takes connections again');
    }
  }
}
