/** Three routers that stream their interfaces over gNMI, and a receiver that shows what the webhook brings it. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { InterfaceLife } from '../../support/gnmi-target/interface-life.ts';
import { GnmiTarget } from '../../support/gnmi-target/target.ts';
import { Random } from '../../support/random.ts';
import { startReceiver } from '../../support/receiver/receiver.ts';
import type { DemoPart, DemoStage } from '../demo.ts';

const ROUTERS = 3;
const INTERFACES = 4;
const SEED = 3;
const INTERVAL_MILLISECONDS = 5_000;
const STEP_MILLISECONDS = 1_000;
/** Every so many steps an interface fails or comes back. */
const FAILS_EVERY = 15;
/** One record out of so many is shown. */
const SHOWN_EVERY = 50;
const FIRST_RECORD_WITHIN_MILLISECONDS = 60_000;

interface ReceivedRecord {
  readonly device: string;
  readonly key: string;
  readonly timestamp: string;
  readonly data: { readonly 'oper-status'?: string; readonly 'in-octets'?: unknown };
}

export const part: DemoPart = {
  name: `telemetry of ${ROUTERS} routers`,
  async start(stage) {
    const random = new Random(SEED);
    const counted = { records: 0 };
    const statuses = new Map<string, string>();
    const receiver = await startReceiver({
      onRequest: ({ body }) => {
        const text = body.toString();
        const record = JSON.parse(text) as ReceivedRecord;
        counted.records += 1;
        const name = `${record.device} ${record.key}`;
        const status = record.data['oper-status'] ?? '';
        if ((statuses.get(name) ?? status) !== status) {
          stage.happened(`the receiver hears that ${name} is ${status} (record of ${record.timestamp})`);
        } else if (counted.records % SHOWN_EVERY === 1) {
          // Digits as they came: reading them as a number here would round them.
          const octets = /"in-octets":(\d+)/.exec(text)?.[1];
          stage.happened(
            `the receiver has ${counted.records} records, the last of ${name}: in-octets ${octets}`,
          );
        }
        statuses.set(name, status);
      },
    });
    const routers = await Promise.all(
      Array.from({ length: ROUTERS }, async (_, index) => {
        const password = `secret-${index}`;
        const target = await GnmiTarget.start({ habits: { username: 'admin', password } });
        return {
          name: `leaf${index + 1}`,
          password,
          target,
          life: new InterfaceLife(target.tree, random, INTERFACES),
        };
      }),
    );
    const stop = async () => {
      await Promise.all([receiver.stop(), ...routers.map(({ target }) => target.stop())]);
    };
    try {
      const { modelId, subscriptionId } = await configure(
        stage,
        routers,
        receiver.url('/status/204', '127.0.0.1'),
      );
      const milliseconds = await firstRecord(stage, counted);
      const life = live(routers, random, stage);
      return {
        sentence: `${ROUTERS} routers stream ${INTERFACES} interfaces each over gNMI; the first record was at the receiver ${(milliseconds / 1000).toFixed(1)} s after the subscription:`,
        requests: [
          {
            shows: 'how the subscription goes on each router',
            path: `/api/v1/subscriptions/${subscriptionId}`,
          },
          { shows: 'the newest rows, as a table', path: `/api/v1/models/${modelId}/snapshot?format=csv` },
          { shows: 'what became of the records', path: '/api/v1/outputs/metrics' },
        ],
        async stop() {
          await life;
          await stop();
        },
      };
    } catch (error) {
      await stop();
      throw error;
    }
  },
};

interface DemoRouter {
  readonly name: string;
  readonly password: string;
  readonly target: GnmiTarget;
  readonly life: InterfaceLife;
}

/** The webhook, the ready-made model of interfaces, the routers, and a subscription for them. */
async function configure({ call }: DemoStage, routers: readonly DemoRouter[], url: string) {
  await call('PUT', '/api/v1/outputs/webhook', { enabled: true, config: { url } });
  const library = resolve(import.meta.dirname, '../../../core/model-library/interfaces.json');
  const model = await call(
    'POST',
    '/api/v1/models/import',
    JSON.parse(readFileSync(library, 'utf8')) as object,
  );
  await call('PUT', `/api/v1/models/${model.id}`, { active: true });
  for (const { name, password, target } of routers) {
    await call('POST', '/api/v1/devices', {
      name,
      address: '127.0.0.1',
      netos: 'eos',
      labels: { role: 'leaf' },
      enabled: true,
      gnmi: { port: target.port, tls: 'off', username: 'admin', password },
    });
  }
  const subscription = await call('POST', '/api/v1/subscriptions', {
    name: 'interfaces of every leaf',
    enabled: true,
    'model-name': model.name,
    'model-version': 'latest',
    mode: 'sample',
    'interval-ms': INTERVAL_MILLISECONDS,
    devices: { labels: { role: 'leaf' } },
  });
  return { modelId: model.id as number, subscriptionId: subscription.id as number };
}

async function firstRecord({ ending }: DemoStage, counted: { readonly records: number }): Promise<number> {
  const begun = performance.now();
  while (counted.records === 0) {
    ending.throwIfAborted();
    if (performance.now() - begun > FIRST_RECORD_WITHIN_MILLISECONDS) {
      throw new Error('no record has arrived at the receiver');
    }
    await delay(50);
  }
  return performance.now() - begun;
}

/** Traffic flows all the time, and now and then an interface fails. */
async function live(
  routers: readonly DemoRouter[],
  random: Random,
  { happened, ending }: DemoStage,
): Promise<void> {
  for (let step = 1; ; step += 1) {
    await delay(STEP_MILLISECONDS, undefined, { signal: ending }).catch(() => {});
    if (ending.aborted) return;
    for (const { life } of routers) life.flow(1);
    if (step % FAILS_EVERY !== 0) continue;
    const router = random.pick(routers);
    const { name, status } = router.life.fail();
    happened(`interface ${name} of ${router.name} ${status === 'DOWN' ? 'fails' : 'comes back'}`);
  }
}
