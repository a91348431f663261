/** The calls that the cost model is made of, counted by the quota guard where they are made. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  type Calls,
  callsIn,
  DELIVERY_MESSAGE,
  NOTHING,
  TOPOLOGY_CHANGE,
} from '../../../local/cost-model.ts';
import { freePort } from '../../../local/dynamodb-emulator.ts';
import type { CallCount } from '../../../local/quota-guard.ts';
import { encodeNlri } from '../../../protocols/bgp/ls/nlri.ts';
import { TopologyLogWriter } from '../../../store/topology-log.ts';
import type { TestCase } from '../../harness.ts';
import { FarEnds } from '../../support/bgp-far-ends.ts';
import { contractClient } from '../../support/contract-client.ts';
import { startDeliveryBed } from '../../support/receiver/delivery-bed.ts';
import { startReceiver } from '../../support/receiver/receiver.ts';
import { runAs, startStack } from '../../support/stack.ts';
import { blockOf, commandsIn } from '../docs/page.ts';
import { patternOf } from '../docs/shown.ts';

const PAGE = readFileSync(resolve(import.meta.dirname, '../../../docs/cost.md'), 'utf8');

const SECONDS = 60;
const MESSAGES = 20;
const CHANGES = 100;
const PEERS = 10;

/** Receives of the queues' own functions are Lambda's, which polls in another way than the local run does. */
const isOurs = ({ principal, command }: CallCount) => principal === 'worker' || command !== 'ReceiveMessage';

function sumOf(counts: readonly CallCount[]): Calls {
  const own = counts.filter(isOurs);
  return {
    readUnits: own.reduce((sum, { readUnits }) => sum + readUnits, 0),
    writeUnits: own.reduce((sum, { writeUnits }) => sum + writeUnits, 0),
    queueRequests: own
      .filter(({ resource }) => resource.startsWith('queue:'))
      .reduce((sum, { calls }) => sum + calls, 0),
  };
}

function minus(after: Calls, before: Calls): Calls {
  return {
    readUnits: after.readUnits - before.readUnits,
    writeUnits: after.writeUnits - before.writeUnits,
    queueRequests: after.queueRequests - before.queueRequests,
  };
}

export const testCase: TestCase = {
  title: 'what the cost model counts on is what the quota guard counts, within ten in a hundred',
  inCi: true,
  async run({ check, log, scratchDirectory }) {
    const printed: string[] = [];
    const compare = (what: string, counted: Calls, modelled: Calls, of: readonly (keyof Calls)[]) =>
      check(what, () => {
        for (const unit of of) {
          const ratio = counted[unit] / modelled[unit];
          printed.push(
            `${what}: ${unit} ${counted[unit].toFixed(1)} counted, ${modelled[unit].toFixed(1)} modelled`,
          );
          log(printed.at(-1) as string);
          assert(Math.abs(ratio - 1) <= 0.1, `${unit} is ${ratio.toFixed(2)} of the model's`);
        }
      });

    const directory = join(scratchDirectory, 'counts');
    mkdirSync(directory);
    const read = () =>
      sumOf(
        readdirSync(directory).flatMap(
          (name) => JSON.parse(readFileSync(join(directory, name), 'utf8')) as CallCount[],
        ),
      );
    const addresses = Array.from({ length: PEERS }, (_, index) => `127.69.0.${index + 1}`);
    const farEnds = await FarEnds.open(addresses, await freePort());
    const stack = await startStack({
      environment: { GRATICULE_CALL_COUNTS: directory, POWERTOOLS_METRICS_DISABLED: 'false' },
    });
    try {
      const watch = async (): Promise<{ counted: Calls; seconds: number }> => {
        const before = read();
        const began = performance.now();
        await setTimeout(SECONDS * 1_000);
        return { counted: minus(read(), before), seconds: (performance.now() - began) / 1_000 };
      };
      await setTimeout(10_000);
      const idle = await watch();
      const units = ['readUnits', 'writeUnits', 'queueRequests'] as const;
      await compare('an idle installation', idle.counted, callsIn(idle.seconds, NOTHING), units);

      const api = contractClient(stack.send, stack.token);
      for (const address of addresses) {
        const body = {
          name: address,
          'peer-address': address,
          'peer-port': farEnds.port,
          'user-peer-as': '65000',
          enabled: true,
        };
        await api.send({ method: 'POST', path: '/api/bgp/peers', body });
      }
      // Until the first snapshots are written: what happens once is not in the model.
      await setTimeout(45_000);
      const busy = await watch();
      const modelled = callsIn(busy.seconds, { ...NOTHING, peers: PEERS });
      await compare(`${PEERS} established peers`, busy.counted, modelled, units);
    } finally {
      await stack.stop();
      await farEnds.close();
    }

    const bed = await startDeliveryBed({ kind: 'handlers' });
    const receiver = await startReceiver();
    const { guard } = bed.emulators;
    const scaled = (calls: Calls, by: number): Calls => ({
      readUnits: calls.readUnits * by,
      writeUnits: calls.writeUnits * by,
      queueRequests: calls.queueRequests * by,
    });
    await bed.configure({ url: receiver.url('/status/200', '127.0.0.1') });
    await bed.collect(30);
    await bed.settled();
    await setTimeout(1_000);
    guard.reset();
    for (let message = 0; message < MESSAGES; message += 1) await bed.collect(30);
    await bed.settled();
    await setTimeout(2_000);
    // The bed's port counts what it collected at each message, a worker every ten seconds: that is not the message's.
    const delivered = guard
      .counts()
      .filter(
        ({ principal, command }) =>
          principal !== 'outputs' && !(principal === 'worker' && command === 'TransactWriteItems'),
      );
    const messages = scaled(DELIVERY_MESSAGE, MESSAGES);
    const received = { ...sumOf(delivered), queueRequests: 0 };
    await compare('a message from the worker to the receiver', received, messages, ['writeUnits']);

    const nlri = encodeNlri({
      type: 'node',
      safi: 71,
      protocol: 'isis-level-2',
      identifier: 7n,
      localNode: { 'autonomous-system': 65000, 'igp-router-id': '0000.0000.0001' },
      descriptor: {},
    });
    await runAs('worker', async () => {
      const writer = await TopologyLogWriter.open({
        peerId: 1,
        epoch: 1,
        worker: 'w-cost',
        workerStartedAt: '',
        staleTimeSeconds: 120,
        now: Date.now(),
        onFenced: () => {},
      });
      writer.established(Date.now());
      await writer.flush();
      guard.reset();
      for (let change = 0; change < CHANGES; change += 1) {
        writer.announce(71, nlri, Uint8Array.from([4, 2, 0, 2, change >> 8, change & 255]), Date.now());
        await writer.flush();
      }
    });
    const changed = sumOf(guard.counts());
    await compare('a change of the topology', changed, scaled(TOPOLOGY_CHANGE, CHANGES), ['writeUnits']);
    await bed.stop();
    await receiver.stop();

    await check('docs/cost.md: what the two commands print', () => {
      const [dollars, calls] = [blockOf(PAGE, 'console'), blockOf(PAGE, 'text')];
      const [command] = commandsIn(PAGE);
      const typed = spawnSync('bash', ['-c', command?.text ?? ''], { encoding: 'utf8' });
      assert.equal(`$ ${command?.text}\n${command?.shown}\n`, dollars);
      assert.match(typed.stdout, patternOf(command?.shown ?? ''), typed.stderr);
      // What was counted differs a little from run to run.
      assert.match(printed.join('\n'), patternOf(calls.trimEnd(), ['\\d+\\.\\d counted']));
    });
  },
};
