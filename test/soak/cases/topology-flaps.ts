import { ok } from 'node:assert/strict';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { TABLES } from '../../../contract/tables.ts';
import { AdjRibIn } from '../../../core/topology/adj-rib-in.ts';
import { encodeAttribute } from '../../../protocols/bgp/ls/attribute.ts';
import { listTopologyHeads } from '../../../store/topology-head.ts';
import { TopologyLogWriter } from '../../../store/topology-log.ts';
import { readAdjRibIn } from '../../../store/topology-record.ts';
import type { TestCase } from '../../harness.ts';
import { linkStateObjects } from '../../support/network/link-state-objects.ts';
import { SimulatedNetwork } from '../../support/network/simulated-network.ts';
import { Random } from '../../support/random.ts';
import { runAs, startEmulators } from '../../support/stack.ts';

const FLAPS = 100_000;

/** Links flap on a network that stays the same; the log is compacted as it grows, and once more at the end. */
export const testCase: TestCase = {
  title: 'flaps leave no more behind than was there before: items, octets and memory',
  inCi: true,
  async run({ check, log, scale, seed }) {
    const emulators = await startEmulators({ as: 'worker' });
    try {
      await runAs('worker', async () => {
        const random = new Random(seed);
        const network = new SimulatedNetwork(
          {
            routers: 100,
            igp: 'isis',
            identifier: 1n,
            number: 1,
            chords: 3,
            parallel: 0,
            unnumbered: 0.2,
            lansPerHundred: 5,
          },
          random,
        );
        const objects = [...linkStateObjects(network).values()];
        const links = objects.filter(({ type }) => type === 'link');
        const writer = await TopologyLogWriter.open({
          peerId: 1,
          epoch: 1,
          worker: 'w-1',
          workerStartedAt: new Date().toISOString(),
          staleTimeSeconds: 0,
          now: Date.now(),
          onFenced: (error) => {
            throw error;
          },
        });
        writer.established(Date.now());
        for (const { nlri, attribute } of objects) writer.announce(71, nlri, attribute, Date.now());
        writer.endOfRib(Date.now());
        const flap = () => {
          const link = random.pick(links);
          const attributes = { ...link.attributes, 'igp-metric': 1 + random.below(1000) };
          const attribute = encodeAttribute(attributes, { protocolId: 2, nlriType: 2 });
          if (random.chance(0.5)) writer.withdraw(71, link.nlri, Date.now());
          else writer.announce(71, link.nlri, attribute, Date.now());
        };
        /** Every link leaves and comes back with what it was: each then has times of its own, as links do. */
        const settle = async () => {
          for (const { nlri, attribute } of links) {
            writer.withdraw(71, nlri, Date.now());
            writer.announce(71, nlri, attribute, Date.now());
            await writer.flush();
          }
        };
        await settle();
        await writer.compact();
        const start = await stored();
        const flaps = Math.round(FLAPS * scale);
        const memory: number[] = [];
        let most = start.octets;
        for (let count = 0; count < flaps; count += 1) {
          flap();
          // An item of the log for every few flaps, as a network that flaps would make them.
          if (count % 10 === 9) await writer.flush();
          if (count % Math.ceil(flaps / 10) !== 0) continue;
          most = Math.max(most, (await stored()).octets);
          globalThis.gc?.();
          memory.push(process.memoryUsage().rss);
        }
        await settle();
        await writer.compact();
        const end = await stored();
        const megabytes = memory.map((octets) => Math.round(octets / 2 ** 20));
        log(`${flaps} flaps; items ${start.items} before, ${end.items} after`);
        log(`octets ${start.octets} before, at most ${most} seen between, ${end.octets} after`);
        log(`memory of this process in MB: ${megabytes.join(' ')}`);
        await check('items and octets are within 1 % of the start', () => {
          ok(Math.abs(end.items - start.items) <= Math.max(1, start.items * 0.01), `${end.items} items`);
          ok(Math.abs(end.octets - start.octets) <= start.octets * 0.01 + 200, `${end.octets} octets`);
        });
        await check('what is read back is what was said last', async () => {
          const [head] = await listTopologyHeads();
          const rib = await readAdjRibIn(head as NonNullable<typeof head>, new AdjRibIn(1));
          ok(rib.copies.size === objects.length);
          for (const { nlri, attribute } of objects) {
            ok(Buffer.compare(rib.find(71, nlri)?.attribute as Uint8Array, attribute) === 0);
          }
        });
        await check('memory stays flat: the second half adds less than 100 MB', () => {
          ok(
            (memory.at(-1) as number) - (memory[memory.length >> 1] as number) < 100 * 2 ** 20,
            megabytes.join(' '),
          );
        });
        await writer.close();
      });
    } finally {
      await emulators.stop();
    }
  },
};

/** What the topology takes in the table, asked of the emulator past the guard: nothing of the product scans. */
async function stored(): Promise<{ items: number; octets: number }> {
  const client = new DynamoDBClient();
  const found = { items: 0, octets: 0 };
  let start: ScanCommand['input']['ExclusiveStartKey'];
  do {
    const page = await client.send(
      new ScanCommand({
        TableName: TABLES.runtime.name,
        FilterExpression: 'begins_with(pk, :topology)',
        ExpressionAttributeValues: { ':topology': { S: 'TOPOLOGY-' } },
        ExclusiveStartKey: start,
      }),
    );
    for (const item of page.Items ?? []) {
      found.items += 1;
      found.octets += (item['data']?.B?.length ?? 0) + 100;
    }
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
  return found;
}
