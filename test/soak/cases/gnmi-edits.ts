import { deepEqual, equal, ok } from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { TestCase } from '../../harness.ts';
import { contractClient } from '../../support/contract-client.ts';
import { countPolls, gapsOf, recordsOf, rowsByTime } from '../../support/gnmi-target/cycles.ts';
import { addInterfaces } from '../../support/gnmi-target/interfaces.ts';
import { GnmiTarget } from '../../support/gnmi-target/target.ts';
import { Random } from '../../support/random.ts';
import { startReceiver } from '../../support/receiver/receiver.ts';
import { startStack } from '../../support/stack.ts';
import { until } from '../../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: the case looks into bodies member by member.
type Body = any;

const AT = '/interfaces/interface[name=*]/state';
const INTERFACES = 2;
/** Long beside what a busy machine is late by, so that no count depends on where a tick falls. */
const INTERVAL = 2_000;
const PACE_MILLISECONDS = 60;
/** An edit is in force within 2 s; asserted at five times that. */
const IN_FORCE_MILLISECONDS = 10_000;
const EDITED_LEAVES = ['in-octets', 'out-octets', 'in-errors', 'out-errors'];

export const testCase: TestCase = {
  title:
    'edits of fields, mappings, versions, subscriptions and devices while gNMI devices stream, counted at the receiver',
  inCi: true,
  async run({ check, log, scale, seed }) {
    const edits = Math.max(50, Math.round(1_000 * scale));
    const random = new Random(seed);
    const targets = await Promise.all(Array.from({ length: 4 }, () => GnmiTarget.start()));
    for (const { tree } of targets) addInterfaces(tree, INTERFACES);
    const receiver = await startReceiver();
    const stack = await startStack();
    const api = contractClient(stack.send, stack.token);
    const call = async (method: string, path: string, body?: unknown): Promise<Body> => {
      const answer = await api.send({ method, path, ...(body === undefined ? {} : { body }) });
      ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
      return answer.json;
    };
    const lateness = monitorEventLoopDelay({ resolution: 20 });
    try {
      await call('PUT', '/api/v1/outputs/webhook', {
        enabled: true,
        config: { url: receiver.url('/status/204', '127.0.0.1') },
      });
      const devices: Body[] = [];
      for (const [index, { port }] of targets.entries()) {
        const gnmi = { port, tls: 'off', username: 'a' };
        const body = { name: `leaf${index + 1}`, address: '127.0.0.1', netos: 'eos', enabled: true, gnmi };
        devices.push(await call('POST', '/api/v1/devices', body));
      }
      const ids = devices.map(({ id }) => id);
      const makeModel = async (name: string, leaf: string): Promise<Body> => {
        const model = await call('POST', '/api/v1/models/import', {
          format: 'graticule-model/1',
          name,
          version: '1.0.0',
          description: '',
          fields: [{ name: 'value', type: 'string' }],
          mappings: [{ protocol: 'gnmi', netos: '*', field_mappings: { value: `${AT}/${leaf}` } }],
        });
        return call('PUT', `/api/v1/models/${model.id}`, { active: true });
      };
      const subscribe = (name: string, mode: string, deviceIds: number[]): Promise<Body> =>
        call('POST', '/api/v1/subscriptions', {
          name,
          enabled: true,
          'model-name': name,
          'model-version': 'latest',
          mode,
          'interval-ms': mode === 'on-change' ? 0 : INTERVAL,
          devices: { ids: deviceIds },
        });
      // The model of `kept` is never touched; each of the others is edited all the time.
      await makeModel('kept', 'mtu');
      await subscribe('kept', 'sample', ids);
      const edited: { name: string; versions: Body[]; subscription: Body; edit: number }[] = [];
      for (const mode of ['sample', 'poll', 'on-change']) {
        const leaf = mode === 'on-change' ? 'oper-status' : 'counters/in-octets';
        const versions = [await makeModel(mode, leaf)];
        edited.push({ name: mode, versions, subscription: await subscribe(mode, mode, ids), edit: 0 });
      }
      await until(
        'records of every model and device',
        () =>
          new Set(recordsOf(receiver.requests).map((each) => `${each['model-name']} ${each.device}`)).size,
        (size) => size === 16,
        60_000,
      );
      const askedFor = (target: GnmiTarget, leaf: string) =>
        target.log.filter(({ event, request }) => {
          const elem = request?.subscription[0]?.path?.elem;
          return event === 'rpc' && elem?.at(-1)?.name === leaf;
        }).length;
      const connected = () =>
        targets.map(({ log: entries }) => entries.filter(({ event }) => event === 'connection').length);
      const connectionsBefore = connected();

      /** Each gives a check that the edit is in force, where the target can see it. */
      const deviceEdits = targets.map(() => 0);
      const editModel = async (): Promise<(() => boolean) | undefined> => {
        const subject = random.pick(edited);
        const { versions, name } = subject;
        subject.edit += 1;
        const current = versions.at(-1);
        const kind = random.pick(['field', 'mapping', 'version', 'rollback', 'description'] as const);
        if (kind === 'field') {
          const field = current.fields[0];
          const renamed = { name: `value-${subject.edit}`, type: 'string' };
          await call('PUT', `/api/v1/models/${current.id}/fields/${field.id}`, renamed);
          field.name = renamed.name;
          return undefined;
        }
        if (kind === 'mapping') {
          if (name === 'on-change') return undefined;
          const { id, field_mappings: paths } = current.mappings[0];
          const [stored] = Object.values(paths) as string[];
          const leaf = random.pick(EDITED_LEAVES.filter((each) => !stored?.endsWith(each)));
          const before = targets.map((target) => askedFor(target, leaf));
          current.mappings[0] = await call('PUT', `/api/v1/models/${current.id}/mappings/${id}`, {
            protocol: 'gnmi',
            netos: '*',
            field_mappings: { [current.fields[0].name]: `${AT}/counters/${leaf}` },
          });
          return () => targets.every((target, index) => askedFor(target, leaf) > (before[index] as number));
        }
        if (kind === 'version') {
          const next = await call('POST', `/api/v1/models/${current.id}/new-version`);
          versions.push(await call('PUT', `/api/v1/models/${next.id}`, { active: true }));
          return undefined;
        }
        if (kind === 'rollback') {
          const [oldest] = versions;
          if (oldest === current) return undefined;
          await call('PUT', `/api/v1/models/${current.id}`, { active: false });
          versions.pop();
          return undefined;
        }
        await call('PUT', `/api/v1/models/${current.id}`, { description: `edit ${subject.edit}` });
        return undefined;
      };
      const editDevice = async (): Promise<undefined> => {
        // Those of the first two devices are never touched: their `kept` streams run through.
        const index = 2 + random.below(2);
        const device = await call('GET', `/api/v1/devices/${ids[index]}`);
        if (random.chance(0.5)) {
          await call('PUT', `/api/v1/devices/${device.id}`, {
            ...device,
            labels: { edit: `${random.below(99)}` },
          });
          return undefined;
        }
        deviceEdits[index] = (deviceEdits[index] as number) + 1;
        const gnmi = { ...device.gnmi, username: `a${deviceEdits[index]}` };
        await call('PUT', `/api/v1/devices/${device.id}`, { ...device, gnmi });
        return undefined;
      };
      const editSubscription = async (): Promise<undefined> => {
        const { subscription } = random.pick(edited);
        const stored = await call('GET', `/api/v1/subscriptions/${subscription.id}`);
        const isEffective = random.chance(0.5);
        const heartbeat = isEffective ? 60_000 + random.below(1_000) : stored['heartbeat-ms'];
        const body = { ...stored, description: `${random.below(99)}`, 'heartbeat-ms': heartbeat };
        await call('PUT', `/api/v1/subscriptions/${subscription.id}`, body);
        return undefined;
      };

      const begun = performance.now();
      const delays: number[] = [];
      let change = 0;
      let arrived = 0;
      let longestChange = 0;
      let isEditing = true;
      /** A change at a time: the next is made when the one before has arrived, so that none can hide another. */
      const changing = (async () => {
        while (isEditing) {
          change += 1;
          const value = `change-${change}`;
          const made = performance.now();
          targets[0]?.tree.set(`${AT.replace('*', 'ethernet-1/1')}/oper-status`, value);
          const seen = receiver.requests.length;
          await until(
            `the change ${value} at the receiver`,
            () =>
              receiver.requests.slice(Math.max(0, seen - 50)).some(({ body }) => body.includes(`"${value}"`)),
            (isThere) => isThere,
            30_000,
          );
          longestChange = Math.max(longestChange, performance.now() - made);
          arrived += 1;
          await new Promise((done) => setTimeout(done, 300));
        }
      })();
      // Its failure is told by the check that awaits it.
      changing.catch(() => undefined);
      lateness.enable();
      for (let edit = 0; edit < edits; edit += 1) {
        const which = random.below(10);
        const isInForce = await (which < 6 ? editModel() : which < 8 ? editDevice() : editSubscription());
        if (isInForce !== undefined && delays.length < edits / 10) {
          const from = performance.now();
          await until('the edit at the target', isInForce, (isThere) => isThere, 20_000);
          delays.push(performance.now() - from);
        } else await new Promise((done) => setTimeout(done, PACE_MILLISECONDS));
      }
      isEditing = false;
      const seconds = (performance.now() - begun) / 1_000;
      await new Promise((done) => setTimeout(done, 3 * INTERVAL));
      lateness.disable();
      const late = lateness.max / 1e6;
      const records = recordsOf(receiver.requests);
      log(
        `${edits} edits in ${seconds.toFixed(0)} s, ${records.length} records; this process was late by at most ${late.toFixed(0)} ms`,
      );

      await check('an edit is in force at the target within 2 s (asserted: 10 s)', () => {
        const slowest = Math.max(...delays);
        log(`${delays.length} edits timed, the slowest in force after ${slowest.toFixed(0)} ms`);
        ok(delays.length > 0 && slowest < IN_FORCE_MILLISECONDS);
      });
      await check(
        'streams that no edit concerns keep their RPC, their connection, and each of their cycles',
        () => {
          for (const index of [0, 1]) {
            equal(askedFor(targets[index] as GnmiTarget, 'mtu'), 1);
            equal(connected()[index], connectionsBefore[index]);
          }
          log(
            `connections made: ${connected().join(', ')}; effective edits of devices: ${deviceEdits.join(', ')}`,
          );
          for (const index of [2, 3]) {
            // One for each edit of the device's settings that a round of the worker saw.
            const opened = askedFor(targets[index] as GnmiTarget, 'mtu');
            ok(opened <= 1 + (deviceEdits[index] as number), `${opened} RPCs`);
          }
        },
      );
      const rows = [...rowsByTime(records)];
      await check('of each polled row no cycle is missed and none is doubled', () => {
        const id = edited.find(({ name }) => name === 'poll')?.subscription.id;
        const polled = rows.filter(([name]) => name.includes(' poll '));
        equal(polled.length, targets.length * INTERFACES);
        let cycles = 0;
        for (const [name, row] of polled) {
          const count = countPolls(row, id, INTERVAL);
          cycles += count.cycles;
          deepEqual(
            { name, missed: count.missed, doubled: count.doubled },
            { name, missed: [], doubled: [] },
          );
        }
        log(`${cycles} polled cycles, none missed, none doubled`);
      });
      await check(
        'of each sampled row every interval has its cycle: between a half and one and a half apart',
        () => {
          const all = rows.filter(([name]) => / (sample|kept) /.test(name));
          equal(all.length, 2 * targets.length * INTERFACES);
          const gaps = all.flatMap(([, row]) => gapsOf(row));
          const least = Math.min(...gaps);
          const most = Math.max(...gaps);
          log(`${gaps.length} gaps of ${INTERVAL} ms: ${least} to ${most} ms`);
          ok(least >= INTERVAL / 4, `two cycles ${least} ms apart`);
          ok(most <= 2 * INTERVAL + 2 * late, `no cycle for ${most} ms`);
        },
      );
      await check('every change of an ON_CHANGE leaf arrives', async () => {
        await changing;
        log(`${arrived} changes, the slowest there after ${longestChange.toFixed(0)} ms`);
        equal(arrived, change);
      });
    } finally {
      lateness.disable();
      await stack.stop();
      await receiver.stop();
      for (const target of targets) await target.stop();
    }
  },
};
