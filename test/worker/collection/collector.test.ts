import { describe, expect, it } from 'vitest';
import { nextDueAt, planDevice, type StreamPlan } from '../../../core/collection-plan.ts';
import type { Device } from '../../../core/device.ts';
import type { Model } from '../../../core/model.ts';
import type { Subscription } from '../../../core/subscription.ts';
import { Collector } from '../../../worker/collection/collector.ts';
import type { StreamPorts } from '../../../worker/collection/stream.ts';
import { Random, testSeed } from '../../support/random.ts';

const GNMI = {
  port: 0,
  tls: '',
  ca: '',
  'client-certificate': '',
  'client-key': '',
  'server-name': '',
  username: '',
  password: '',
  target: '',
} as const;

function device(id: number, members: Partial<Device['configuration']> = {}): Device {
  const configuration = {
    name: `leaf${id}`,
    address: `192.0.2.${id}`,
    netos: 'eos',
    labels: [],
    enabled: true,
    gnmi: GNMI,
    snmp: null,
    ...members,
  };
  return { id, revision: 1, configuration, encryptedSecrets: {} };
}

function model(id: number, members: Partial<Model> = {}): Model {
  return {
    id,
    revision: 1,
    name: 'interfaces',
    version: `1.${id}.0`,
    description: '',
    active: true,
    activatedAt: null,
    activation: id,
    fields: [{ id: 1, name: 'in', type: 'counter64' }],
    mappings: [{ id: id * 10, protocol: 'gnmi', netos: '*', fieldMappings: [['in', `/interface/in${id}`]] }],
    createdAt: '',
    updatedAt: '',
    ...members,
  };
}

function subscription(
  id: number,
  ids: readonly number[],
  members: Partial<Subscription['configuration']> = {},
  pinnedModelId: number | null = null,
): Subscription {
  const configuration = {
    name: `s${id}`,
    description: '',
    enabled: true,
    'model-name': 'interfaces',
    'model-version': pinnedModelId === null ? 'latest' : '1.1.0',
    devices: { ids: [...ids], labels: [] },
    protocol: '' as const,
    mode: 'sample' as const,
    'interval-ms': 1_000,
    'heartbeat-ms': 0,
    ...members,
  };
  return { id, revision: 1, configuration, pinnedModelId };
}

/** A protocol without a wire: each stream delivers one record a cycle, when its schedule says so. */
class FakeNetwork {
  now = 0;
  readonly opened: string[] = [];
  readonly stopped: string[] = [];
  /** What consumers got: stream, time, model. */
  readonly delivered: Array<{ stream: string; at: number; modelId: number }> = [];
  private readonly streams = new Set<{ plan: StreamPlan; ports: StreamPorts; dueAt: number }>();
  private collecting: { stream: string; modelId: number } | undefined;
  readonly collector = new Collector({
    open: {
      gnmi: (plan, ports) => {
        const name = nameOf(plan);
        this.opened.push(name);
        const dueAt = nextDueAt(name, plan.intervalMilliseconds, this.now);
        const stream = { plan, ports, dueAt };
        this.streams.add(stream);
        return {
          figures: () => ({ ...FIGURES, state: 'streaming' }),
          latest: () => ({ bytes: new Uint8Array(0), ends: [] }),
          stop: async () => {
            this.streams.delete(stream);
            this.stopped.push(name);
          },
        };
      },
    },
    monotonic: () => this.now,
    collect: () =>
      this.delivered.push({ ...(this.collecting as { stream: string; modelId: number }), at: this.now }),
    statusChanged: () => undefined,
  });

  /** Runs the clock to `until`, delivering every cycle on the way. */
  run(until: number): void {
    for (;;) {
      const next = [...this.streams].toSorted((a, b) => a.dueAt - b.dueAt)[0];
      if (next === undefined || next.dueAt > until) break;
      this.now = next.dueAt;
      next.dueAt += next.plan.intervalMilliseconds;
      this.collecting = { stream: nameOf(next.plan), modelId: next.plan.model.id };
      next.ports.deliver({ bytes: Buffer.from('{}'), ends: [2] });
    }
    this.now = until;
  }

  /** The stream that was opened last has nothing to tell. */
  settleLast(): void {
    [...this.streams].at(-1)?.ports.settled();
  }

  get openStreams(): number {
    return this.streams.size;
  }
}

const FIGURES = {
  encoding: '',
  lastSuccess: null,
  lastError: null,
  updates: 0,
  rows: 0,
  drops: 0,
  coercionErrors: 0,
  cycleIncomplete: 0,
  clockSkew: 0,
  unmatchedPaths: [],
} as const;

function nameOf({ subscriptionId, device: { id } }: StreamPlan): string {
  return `${subscriptionId}/${id}`;
}

describe('what a device is collected for', () => {
  it('prefers gNMI and the own netos, falls back to SNMP and *, and says what it looked for in vain', () => {
    const mappings: Model['mappings'] = [
      { id: 1, protocol: 'snmp', netos: '*', fieldMappings: [] },
      { id: 2, protocol: 'gnmi', netos: '*', fieldMappings: [] },
      { id: 3, protocol: 'gnmi', netos: 'eos', fieldMappings: [] },
      { id: 4, protocol: 'snmp', netos: 'junos', fieldMappings: [] },
    ];
    const choose = (members: Partial<Device['configuration']>, protocol: '' | 'gnmi' | 'snmp' = '') => {
      const plan = planDevice(
        device(1, members),
        [subscription(1, [1], { protocol })],
        [model(1, { mappings })],
      );
      return plan.streams[0]?.mapping.id ?? plan.idle[0]?.reason;
    };
    const snmp = {} as Device['configuration']['snmp'];
    expect(choose({ snmp })).toBe(3);
    expect(choose({ netos: 'junos', snmp })).toBe(2);
    expect(choose({ netos: 'junos', snmp }, 'snmp')).toBe(4);
    expect(choose({ gnmi: null, snmp })).toBe(1);
    expect(choose({}, 'snmp')).toBe('looked for snmp settings of the device');
  });

  it('idles with the reason: disabled, no active version, an inactive pin, no mapping', () => {
    const reason = (
      models: Model[],
      members: Partial<Subscription['configuration']> = {},
      pinned: number | null = null,
    ) => planDevice(device(1), [subscription(1, [1], members, pinned)], models).idle[0]?.reason;
    expect(reason([model(1)], { enabled: false })).toBe('disabled');
    expect(reason([model(1, { active: false })])).toBe('no-active-version');
    expect(reason([model(1, { active: false })], {}, 1)).toBe('model-inactive');
    expect(reason([model(1, { mappings: [] })])).toBe(
      'looked for a mapping for gnmi and eos or * and snmp settings of the device',
    );
  });

  it('signs a stream by what it depends on and by nothing else', () => {
    const signature = (d: Device, s: Subscription, m: Model) => planDevice(d, [s], [m]).streams[0]?.signature;
    const base = signature(device(1), subscription(1, [1]), model(1));
    const same = [
      signature(device(1, { labels: [['site', 'ber']] }), subscription(1, [1]), model(1)),
      signature(device(1), subscription(1, [1], { description: 'x', name: 'y' }), model(1)),
      signature(
        device(1),
        subscription(1, [1, 2]),
        model(1, { description: 'x', revision: 9, activation: 5 }),
      ),
    ];
    expect(new Set([base, ...same]).size).toBe(1);
    const other = [
      signature(device(1, { name: 'spine' }), subscription(1, [1]), model(1)),
      signature(device(1, { address: '192.0.2.9' }), subscription(1, [1]), model(1)),
      signature({ ...device(1), encryptedSecrets: { 'gnmi/password': 'x' } }, subscription(1, [1]), model(1)),
      signature(device(1), subscription(1, [1], { 'interval-ms': 2_000 }), model(1)),
      signature(
        device(1),
        subscription(1, [1]),
        model(1, { fields: [{ id: 1, name: 'in', type: 'string' }] }),
      ),
      signature(device(1), subscription(1, [1]), model(2)),
    ];
    expect(new Set([base, ...other]).size).toBe(other.length + 1);
    const snmpOnly = { ...device(1), encryptedSecrets: { 'snmp/community': 'x' } };
    expect(signature(snmpOnly, subscription(1, [1]), model(1))).toBe(base);
  });
});

describe('schedules', () => {
  it('keep their phase whatever happens, and spread streams over the interval', () => {
    for (const now of [0, 1, 999, 1_000, 1_234_567]) {
      const due = nextDueAt('5/3', 1_000, now);
      expect(due).toBeGreaterThan(now);
      expect(due).toBeLessThanOrEqual(now + 1_000);
      expect(due % 1_000).toBe(nextDueAt('5/3', 1_000, 0) % 1_000);
    }
    const tenths = new Set(
      Array.from({ length: 200 }, (_, id) => Math.floor((nextDueAt(`1/${id}`, 1_000, 0) % 1_000) / 100)),
    );
    expect(tenths.size).toBe(10);
  });
});

describe('activation and edits under load', () => {
  it('1,000 of them touch only the streams concerned, miss no cycle, double none, and move trackers at once', () => {
    const random = new Random(testSeed('activations'));
    const network = new FakeNetwork();
    const devices = Array.from({ length: 20 }, (_, index) => device(index + 1));
    const ids = devices.map(({ id }) => id);
    const tracking = subscription(1, ids);
    const pinned = subscription(2, ids, {}, 1);
    const models = new Map([1, 2, 3].map((id) => [id, model(id)]));
    let activation = 3;
    const apply = () =>
      network.collector.apply(
        devices.map((each) => planDevice(each, [tracking, pinned], [...models.values()])),
      );
    apply();
    network.run(2_500);
    const changes: Array<{ at: number; latest: number }> = [];
    for (let edit = 0; edit < 1_000; edit += 1) {
      const id = random.pick([2, 3]);
      const before = network.opened.length;
      const current = models.get(id) as Model;
      const isEdit = random.chance(0.5);
      activation += 1;
      models.set(
        id,
        isEdit
          ? { ...current, revision: current.revision + 1, description: `edit ${edit}` }
          : { ...current, active: true, activation },
      );
      apply();
      const opened = network.opened.slice(before);
      expect(opened.every((name) => name.startsWith('1/'))).toBe(true);
      if (isEdit) expect(opened).toEqual([]);
      const latest = [...models.values()].toSorted((a, b) => a.activation - b.activation).at(-1) as Model;
      changes.push({ at: network.now, latest: latest.id });
      network.run(network.now + random.below(400));
    }
    network.run(network.now + 3_000);

    expect(network.opened.filter((name) => name.startsWith('2/'))).toHaveLength(devices.length);
    expect(network.stopped.filter((name) => name.startsWith('2/'))).toEqual([]);
    for (const [name, cycles] of Map.groupBy(network.delivered, ({ stream }) => stream)) {
      const gaps = cycles.slice(1).map(({ at }, index) => at - (cycles[index] as { at: number }).at);
      expect(new Set(gaps), name).toEqual(new Set([1_000]));
    }
    for (const { stream, at, modelId } of network.delivered.filter((cycle) =>
      cycle.stream.startsWith('1/'),
    )) {
      // Whatever was latest two seconds before may be the oldest that is still collected.
      const allowed = changes
        .filter((change) => change.at <= at && change.at > at - 2_000)
        .map(({ latest }) => latest);
      const before = changes.filter((change) => change.at <= at - 2_000).at(-1)?.latest ?? 3;
      expect([...allowed, before], `${stream} at ${at}`).toContain(modelId);
    }
    expect(network.openStreams).toBe(devices.length * 2);
  });

  it('a successor that brings nothing ends its predecessor once it is settled', () => {
    const network = new FakeNetwork();
    const plan = (m: Model) => planDevice(device(1), [subscription(1, [1])], [m]);
    network.collector.apply([plan(model(1))]);
    network.run(2_500);
    const before = network.delivered.length;
    network.collector.apply([plan(model(2))]);
    expect(network.openStreams).toBe(2);
    network.settleLast();
    expect(network.openStreams).toBe(1);
    expect(network.delivered.length).toBe(before);
  });

  it('a device that samples by its own clock gives no two cycles within half an interval, however often is edited', () => {
    const random = new Random(testSeed('own-clock'));
    let open: { plan: StreamPlan; ports: StreamPorts; firstAt: number }[] = [];
    let now = 0;
    const delivered: number[] = [];
    const collector = new Collector({
      open: {
        gnmi: (plan, ports) => {
          const stream = { plan, ports, firstAt: now };
          open.push(stream);
          return {
            figures: () => ({ ...FIGURES, state: 'streaming' }),
            latest: () => ({ bytes: new Uint8Array(0), ends: [] }),
            stop: async () => {
              open = open.filter((each) => each !== stream);
            },
          };
        },
      },
      monotonic: () => now,
      collect: () => delivered.push(now),
      statusChanged: () => undefined,
    });
    const record = { bytes: Buffer.from('{}'), ends: [2] };
    const apply = (field: string) => {
      const changed = model(1, { fields: [{ id: 1, name: field, type: 'counter64' }] });
      collector.apply([planDevice(device(1), [subscription(1, [1])], [changed])]);
    };
    let edits = 0;
    apply('in');
    for (now = 0; now < 2_000_000; now += 10) {
      // What it has is told at once, and then with each of its own ticks, which all streams share.
      for (const { ports, firstAt } of [...open]) {
        if (now === firstAt + 10 || (now > firstAt + 10 && now % 1_000 === 0)) ports.deliver(record);
      }
      if (random.chance(0.01)) {
        edits += 1;
        apply(`in${edits}`);
      }
    }
    expect(edits).toBeGreaterThan(1_000);
    const gaps = delivered.slice(1).map((at, index) => at - (delivered[index] as number));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(500);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(1_500);
  });

  it('ends what is no longer planned, and its late cycles reach nobody', async () => {
    const network = new FakeNetwork();
    const plan = planDevice(device(1), [subscription(1, [1])], [model(1)]);
    network.collector.apply([plan]);
    network.run(2_500);
    const count = network.delivered.length;
    network.collector.apply([]);
    network.run(5_000);
    expect(network.delivered.length).toBe(count);
    expect(network.openStreams).toBe(0);
    await network.collector.stop();
  });

  it('a protocol that the worker does not speak leaves its streams idle and says so', () => {
    const collector = new Collector({
      open: {},
      monotonic: () => 0,
      collect: () => undefined,
      statusChanged: () => undefined,
    });
    collector.apply([planDevice(device(1), [subscription(1, [1])], [model(1)])]);
    expect(collector.statuses(1)).toMatchObject([
      { subscriptionId: 1, state: 'idle', reason: 'this worker does not speak gnmi' },
    ]);
  });
});
