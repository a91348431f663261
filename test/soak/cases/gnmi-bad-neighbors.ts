import { deepEqual, equal, ok } from 'node:assert/strict';
import type { TestCase } from '../../harness.ts';
import { contractClient } from '../../support/contract-client.ts';
import { countPolls, recordsOf, rowsByTime } from '../../support/gnmi-target/cycles.ts';
import type { Habits } from '../../support/gnmi-target/habits.ts';
import { addInterfaces } from '../../support/gnmi-target/interfaces.ts';
import { GnmiTarget } from '../../support/gnmi-target/target.ts';
import { startReceiver } from '../../support/receiver/receiver.ts';
import { startStack } from '../../support/stack.ts';
import { until } from '../../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: the case looks into bodies member by member.
type Body = any;

const INTERVAL = 2_000;

/** After so long without a word a target is given up. */
const SILENCE_SECONDS = 30;

/** What is wrong with each, and the code under which its subscription says so; none: nothing is to be said yet. */
const BAD: readonly (readonly [habits: Partial<Habits>, code: string])[] = [
  [{ garbage: 'bytes' }, 'protocol-error'],
  [{ garbage: 'half-frame' }, 'protocol-error'],
  [{ garbage: 'blob', blobBytes: 10 * 1024 * 1024 }, 'protocol-error'],
  [{ garbage: 'blob', blobBytes: 20 * 1024 * 1024 }, 'too-large'],
  [{ garbage: 'compressed' }, 'protocol-error'],
  [{ garbage: 'html' }, 'protocol-error'],
  [{ garbage: 'endless' }, ''],
  // A run that is not much longer than the silence sees none of it yet.
  [{ frozen: true }, 'no-updates'],
  [{ refusal: { status: 14, message: 'rebooting' } }, 'unreachable'],
];

export const testCase: TestCase = {
  title: 'a good gNMI device beside garbage, half frames, blobs, floods and silence, over the real worker',
  inCi: true,
  async run({ check, log, scale }) {
    const seconds = Math.max(15, 120 * scale);
    const good = await GnmiTarget.start();
    const bad = await Promise.all(BAD.map(([habits]) => GnmiTarget.start({ habits })));
    for (const { tree } of [good, ...bad]) addInterfaces(tree, 2);
    const receiver = await startReceiver();
    const stack = await startStack();
    const api = contractClient(stack.send, stack.token);
    const call = async (method: string, path: string, body?: unknown): Promise<Body> => {
      const answer = await api.send({ method, path, ...(body === undefined ? {} : { body }) });
      ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
      return answer.json;
    };
    try {
      await call('PUT', '/api/v1/outputs/webhook', {
        enabled: true,
        config: { url: receiver.url('/status/204', '127.0.0.1') },
      });
      const model = await call('POST', '/api/v1/models/import', {
        format: 'graticule-model/1',
        name: 'interfaces',
        version: '1.0.0',
        description: '',
        fields: [{ name: 'in-octets', type: 'counter64' }],
        mappings: [
          {
            protocol: 'gnmi',
            netos: '*',
            field_mappings: { 'in-octets': '/interfaces/interface[name=*]/state/counters/in-octets' },
          },
        ],
      });
      await call('PUT', `/api/v1/models/${model.id}`, { active: true });
      const device = async (name: string, target: GnmiTarget): Promise<number> => {
        const gnmi = { port: target.port, tls: 'off' };
        return (
          await call('POST', '/api/v1/devices', {
            name,
            address: '127.0.0.1',
            netos: 'eos',
            enabled: true,
            gnmi,
          })
        ).id;
      };
      const subscribe = async (name: string, mode: string, ids: number[]): Promise<number> =>
        (
          await call('POST', '/api/v1/subscriptions', {
            name,
            enabled: true,
            'model-name': 'interfaces',
            'model-version': 'latest',
            mode,
            'interval-ms': INTERVAL,
            devices: { ids },
          })
        ).id;
      const goodId = await device('good', good);
      const pollId = await subscribe('good', 'poll', [goodId]);
      await until(
        'the good device',
        () => receiver.requests.length,
        (count) => count >= 2,
        30_000,
      );
      const badIds = await Promise.all(bad.map((target, index) => device(`bad-${index}`, target)));
      const badSubscription = await subscribe('bad', 'sample', badIds);
      await new Promise((done) => setTimeout(done, seconds * 1_000));

      const { status } = await call('GET', `/api/v1/subscriptions/${badSubscription}`);
      // The devices were created all at once: their ids are in no order of ours.
      const seen: Body[] = badIds.map((id) => status.find((each: Body) => each['device-id'] === id));
      await check('each fault stands under its code in the status of its device alone', () => {
        const codes = seen.map((each) => each['last-error']?.code ?? '');
        const isSilenceSeen = seconds > 2 * SILENCE_SECONDS;
        deepEqual(
          codes,
          BAD.map(([, code]) => (code === 'no-updates' && !isSilenceSeen ? '' : code)),
        );
      });
      await check(`${seconds} s beside them cost the good device no cycle`, () => {
        const rows = [...rowsByTime(recordsOf(receiver.requests))].filter(([name]) =>
          name.startsWith(`${goodId} `),
        );
        equal(rows.length, 2);
        for (const [name, row] of rows) {
          const { cycles, missed, doubled } = countPolls(row, pollId, INTERVAL);
          log(`${name}: ${cycles} cycles`);
          deepEqual({ missed, doubled }, { missed: [], doubled: [] });
        }
        equal(good.log.filter(({ event }) => event === 'connection').length, 1);
      });
      await check(
        'what never ends is held back: a few cycles an interval, the rest counted as dropped',
        () => {
          const flood = seen[BAD.findIndex(([habits]) => habits.garbage === 'endless')];
          log(`the flood: ${flood.updates} updates, ${flood.records} records, ${flood.drops} superseded`);
          ok(flood.drops > 0);
          ok(flood.records <= 2 * 12 * (seconds + 10), `${flood.records} records`);
        },
      );
      await check('devices that refuse are asked later each time, with jitter', () => {
        for (const [index, target] of bad.entries()) {
          const at = target.log
            .filter(({ event }) => event === 'rpc')
            .map(({ milliseconds }) => milliseconds);
          const gaps = at.slice(1).map((time, position) => Math.round(time - (at[position] as number)));
          log(`${JSON.stringify(BAD[index]?.[0])}: ${at.length} RPCs, gaps ${gaps.join(' ')} ms`);
          // Ceilings of 1, 2, 4, 8 … s, of which on average half is waited.
          ok(at.length < 8 + seconds, `asked ${at.length} times`);
        }
      });
    } finally {
      await stack.stop();
      await receiver.stop();
      for (const target of [good, ...bad]) await target.stop();
    }
  },
};
