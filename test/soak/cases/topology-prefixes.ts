import { equal, ok } from 'node:assert/strict';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { TABLES } from '../../../contract/tables.ts';
import { itemBytes } from '../../../local/item-size.ts';
import { encodeAttribute } from '../../../protocols/bgp/ls/attribute.ts';
import { encodeNlri } from '../../../protocols/bgp/ls/nlri.ts';
import type { TestCase } from '../../harness.ts';
import { Random } from '../../support/random.ts';
import { runAs, startEmulators } from '../../support/stack.ts';
import { startFakeWorker } from '../../support/topology-worker.ts';

const PREFIXES = 100_000;
const MOST_ITEM_BYTES = 300 * 1024;
const PAGE = 1_000;
const ISIS = { safi: 71, protocol: 'isis-level-2', identifier: 7n } as const;
const ROUTER = { 'autonomous-system': 65000, 'igp-router-id': '0000.0000.0001' };
const NODE = { protocolId: 2, nlriType: 1 };
const PREFIX = { protocolId: 2, nlriType: 3 };

const prefixNlri = (number: number) =>
  encodeNlri({
    type: 'ipv4-prefix',
    ...ISIS,
    localNode: ROUTER,
    descriptor: { 'ip-reachability': `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}/32` },
  });

/** One router redistributes a table into the IGP. Nothing of a router stands in one item. */
export const testCase: TestCase = {
  title:
    'a router with 100,000 prefixes loads, in items of at most 300 KB; one change of it costs two writes',
  inCi: true,
  async run({ check, log, scale, seed }) {
    const random = new Random(seed);
    const prefixes = Math.round(PREFIXES * scale);
    const emulators = await startEmulators({ as: 'worker' });
    const writes = () => {
      const puts = emulators.guard.counts().filter(({ command }) => command === 'PutItem');
      const sum = (member: 'calls' | 'writeUnits') => puts.reduce((total, each) => total + each[member], 0);
      return { calls: sum('calls'), units: sum('writeUnits') };
    };
    const get = async (path: string) => {
      const headers = { authorization: `Bearer ${emulators.token}`, 'content-type': 'application/json' };
      const answer = await emulators.send({ method: 'GET', path, headers });
      equal(answer.status, 200, answer.text);
      return { body: JSON.parse(answer.text), link: answer.headers['link'] };
    };
    try {
      const created = await emulators.send({
        method: 'POST',
        path: '/api/bgp/peers',
        headers: { authorization: `Bearer ${emulators.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          name: 'rr1',
          'peer-address': '192.0.2.1',
          'user-peer-as': '65000',
          enabled: true,
        }),
      });
      equal(created.status, 201);
      const worker = await startFakeWorker('w-1');
      const writer = await worker.own(1);
      const before = writes();
      const begun = performance.now();
      writer.established(Date.now());
      const node = encodeNlri({ type: 'node', ...ISIS, localNode: ROUTER, descriptor: {} });
      writer.announce(71, node, encodeAttribute({ 'node-name': 'r1' }, NODE), Date.now());
      for (let number = 0; number < prefixes; number += 1) {
        // Tags as no compression makes them smaller.
        const attributes = { 'prefix-metric': number % 1_000, 'route-tags': [random.bits(), random.bits()] };
        const attribute = encodeAttribute(attributes, PREFIX);
        writer.announce(71, prefixNlri(number), attribute, Date.now());
        // Time for the log to write beside the load, as a socket gives it.
        if (number % 5_000 === 4_999) await new Promise((settle) => setTimeout(settle, 0));
      }
      writer.endOfRib(Date.now());
      await runAs('worker', () => writer.flush());
      await worker.beat(Date.now());
      const written = writes();
      log(
        `${prefixes} prefixes of one router written in ${Math.round(performance.now() - begun)} ms: ` +
          `${written.calls - before.calls} items put, ${written.units - before.units} write units`,
      );
      const largest = await largestItem();
      log(`largest item of the topology: ${largest} bytes`);
      await check('no item is larger than 300 KB', () => ok(largest <= MOST_ITEM_BYTES, `${largest} bytes`));
      await check('every prefix is in the summary and, page after page, in the list', async () => {
        equal((await get('/api/topology')).body.counts.prefixes.total, prefixes);
        const ids = new Set<string>();
        for (let path = `/api/topology/prefixes?limit=${PAGE}`; path !== ''; ) {
          const page = await get(path);
          for (const { id } of page.body) ids.add(id);
          path = /<([^>]+)>/.exec(page.link ?? '')?.[1] ?? '';
          await worker.beat(Date.now());
        }
        equal(ids.size, prefixes);
      });
      await check('one prefix that changes is an item of the log and a move of its head', async () => {
        const start = writes();
        const changed = encodeAttribute({ 'prefix-metric': 4_711 }, PREFIX);
        writer.announce(71, prefixNlri(0), changed, Date.now());
        await runAs('worker', () => writer.flush());
        equal(writes().calls - start.calls, 2);
        await worker.beat(Date.now());
        const { body } = await get('/api/topology/prefixes?prefix=10.0.0.0/32');
        equal(body[0].attributes['prefix-metric'], 4_711);
      });
      await writer.close();
    } finally {
      await emulators.stop();
    }
  },
};

/** Asked of the emulator past the guard: nothing of the product scans. */
async function largestItem(): Promise<number> {
  const client = new DynamoDBClient();
  let largest = 0;
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
    for (const item of page.Items ?? []) largest = Math.max(largest, itemBytes(item));
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
  return largest;
}
