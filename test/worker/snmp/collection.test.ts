import { afterEach, describe, expect, it } from 'vitest';
import { planDevice, type StreamPlan } from '../../../core/collection-plan.ts';
import type { Device } from '../../../core/device.ts';
import { deviceConfiguration } from '../../../core/device-request.ts';
import type { Model } from '../../../core/model.ts';
import { type RecordBatch, rowTexts } from '../../../core/record.ts';
import type { Subscription } from '../../../core/subscription.ts';
import type { Stream } from '../../../worker/collection/stream.ts';
import { SnmpCollection } from '../../../worker/snmp/collection.ts';
import type { AgentFaults } from '../../support/snmp-agent/agent.ts';
import { interfaceObjects } from '../../support/snmp-agent/tables.ts';
import { UdpAgent } from '../../support/snmp-agent/udp-agent.ts';
import { until } from '../../support/until.ts';

const MODEL: Model = {
  id: 1,
  revision: 1,
  name: 'interfaces',
  version: '1.0.0',
  description: '',
  active: true,
  activatedAt: null,
  activation: 1,
  fields: [
    { id: 1, name: 'name', type: 'string' },
    { id: 2, name: 'in-octets', type: 'counter64' },
    { id: 3, name: 'absent', type: 'counter64' },
  ],
  mappings: [
    {
      id: 9,
      protocol: 'snmp',
      netos: '*',
      fieldMappings: [
        ['name', 'IF-MIB::ifName'],
        ['in-octets', 'IF-MIB::ifHCInOctets'],
        ['absent', 'NO-MIB::thing | 1.3.6.1.2.1.31.1.1.1.99'],
      ],
    },
  ],
  createdAt: '',
  updatedAt: '',
};

const open: { stop?(): unknown; close?(): void }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) {
    await one.stop?.();
    one.close?.();
  }
});

async function startAgent(faults: AgentFaults = {}, interfaces = 2): Promise<UdpAgent> {
  const agent = await new UdpAgent({ objects: interfaceObjects('leaf', interfaces) }).start();
  agent.agent.faults = faults;
  open.push(agent);
  return agent;
}

function planFor(
  port: number,
  options: {
    address?: string;
    subscriptionId?: number;
    model?: Model;
    secrets?: Record<string, string>;
  } = {},
): StreamPlan {
  const device: Device = {
    id: 3,
    revision: 1,
    configuration: deviceConfiguration.parse({
      name: 'leaf3',
      address: options.address ?? '127.0.0.1',
      netos: 'eos',
      enabled: true,
      snmp: { port, 'timeout-ms': 300 },
    }),
    encryptedSecrets: options.secrets ?? { 'snmp/community': 'public' },
  };
  const subscription: Subscription = {
    id: options.subscriptionId ?? 5,
    revision: 1,
    configuration: {
      name: 's',
      description: '',
      enabled: true,
      'model-name': 'interfaces',
      'model-version': 'latest',
      devices: { ids: [3], labels: [] },
      protocol: '',
      mode: 'poll',
      'interval-ms': 1_000,
      'heartbeat-ms': 0,
    },
    pinnedModelId: null,
  };
  const { streams } = planDevice(device, [subscription], [options.model ?? MODEL]);
  return streams[0] as StreamPlan;
}

function newCollection(allowLoopback = true): SnmpCollection {
  const decrypt = async (stored: string) => {
    if (stored === 'damaged') throw new Error('unsupported state or unable to authenticate data');
    return stored;
  };
  const collection = new SnmpCollection({ decrypt, allowLoopback });
  open.push(collection);
  return collection;
}

function start(collection: SnmpCollection, plan: StreamPlan) {
  const cycles: string[][] = [];
  const changes = { count: 0 };
  const stream: Stream = collection.open(plan, {
    deliver: (records: RecordBatch) => cycles.push(rowTexts(records)),
    changed: () => {
      changes.count += 1;
    },
    settled: () => undefined,
  });
  open.push(stream);
  return { stream, cycles, changes };
}

describe('an SNMP stream', () => {
  it('delivers a cycle a poll and says which paths brought nothing', async () => {
    const agent = await startAgent();
    const { stream, cycles, changes } = start(newCollection(), planFor(agent.port));
    expect(stream.figures()).toMatchObject({ state: 'connecting', lastSuccess: null, lastError: null });
    await until(
      'two cycles',
      () => cycles.length,
      (count) => count >= 2,
    );
    expect(cycles[0]?.[1]).toMatch(
      /^\{"path":"1\.3\.6\.1\.2\.1\.2\.2\.1\.2","key":"2","timestamp":"[^"]{24}","data":\{"name":"eth2","in-octets":\d+\}\}$/,
    );
    expect(stream.figures()).toMatchObject({
      state: 'polling',
      encoding: 'v2c',
      rows: 2,
      cycleIncomplete: 0,
      unmatchedPaths: ['NO-MIB::thing', '1.3.6.1.2.1.31.1.1.1.99'],
    });
    expect(changes.count).toBe(1);
  });

  it('asks one device one thing at a time, whatever subscribes to it', async () => {
    const agent = await startAgent();
    const collection = newCollection();
    const streams = [5, 6, 7].map((subscriptionId) =>
      start(collection, planFor(agent.port, { subscriptionId })),
    );
    await until(
      'a cycle of each',
      () => streams.map(({ cycles }) => cycles.length),
      (counts) => counts.every((count) => count > 0),
    );
    expect(streams.map(({ stream }) => stream.figures().cycleIncomplete)).toEqual([0, 0, 0]);
  });

  it('speaks v1 with a device that answers nothing newer', async () => {
    const agent = await startAgent({ onlyV1: true });
    const { stream, cycles } = start(newCollection(), planFor(agent.port));
    await until(
      'a cycle',
      () => cycles.length,
      (count) => count > 0,
    );
    expect(stream.figures()).toMatchObject({ state: 'polling', encoding: 'v1' });
    // v1 has no Counter64 (RFC 3584 §4.2.2.1).
    expect(cycles[0]?.[0]).toContain('"data":{"name":"eth1"}');
    expect(stream.figures().unmatchedPaths).toContain('IF-MIB::ifHCInOctets');
  });

  it('stays with v2c where a device was only away', async () => {
    const agent = await startAgent({ frozen: true });
    const { stream, cycles } = start(newCollection(), planFor(agent.port));
    await until(
      'silence',
      () => stream.figures().lastError,
      (error) => error !== null,
    );
    agent.agent.faults = {};
    await until(
      'a cycle',
      () => cycles.length,
      (count) => count > 0,
    );
    expect(stream.figures().encoding).toBe('v2c');
  });

  it('ends a walk under way when it is stopped: no record, no further request', async () => {
    const agent = await startAgent({ endlessAt: [1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 6] });
    const { stream, cycles } = start(newCollection(), planFor(agent.port));
    const asked = () => agent.agent.requests['get-bulk-request'] ?? 0;
    await until('the walk', asked, (count) => count > 3);
    await stream.stop();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const before = asked();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect([cycles, asked()]).toEqual([[], before]);
  });

  it('names what an agent does wrong in a poll that is whole all the same', async () => {
    for (const [faults, named] of [
      [{ copies: 2 }, 'late or duplicate answers'],
      [{ longIntegers: true }, 'values that their type does not allow'],
      [{}, undefined],
    ] as const) {
      // Several answers a poll: the copy of the last one belongs to no walk.
      const agent = await startAgent(faults, 200);
      const fields = [
        { id: 1, name: 'in-octets', type: 'counter64' as const },
        { id: 2, name: 'oper', type: 'int32' as const },
      ];
      const fieldMappings = [
        ['in-octets', 'IF-MIB::ifHCInOctets'],
        ['oper', 'IF-MIB::ifOperStatus'],
      ] as const;
      const mappings = [{ id: 9, protocol: 'snmp' as const, netos: '*', fieldMappings }];
      const { stream, cycles } = start(
        newCollection(),
        planFor(agent.port, { model: { ...MODEL, fields, mappings } }),
      );
      await until(
        'two cycles',
        () => cycles.length,
        (count) => count >= 2,
      );
      const { state, lastError } = stream.figures();
      expect([state, lastError?.code]).toEqual(['polling', named && 'protocol-error']);
      if (named !== undefined) expect(lastError?.detail).toContain(named);
    }
  });

  it('names what keeps it from asking: secrets, address, paths', async () => {
    const agent = await startAgent();
    const secrets = { 'snmp/community': 'damaged' };
    const unreadable = {
      ...MODEL,
      mappings: [
        { id: 9, protocol: 'snmp' as const, netos: '*', fieldMappings: [['name', 'NO-MIB::x'] as const] },
      ],
    };
    const cases = [
      ['authentication', newCollection(), planFor(agent.port, { secrets })],
      ['blocked-address', newCollection(false), planFor(agent.port)],
      ['blocked-address', newCollection(false), planFor(agent.port, { address: 'localhost' })],
      ['invalid-path', newCollection(), planFor(agent.port, { model: unreadable })],
    ] as const;
    for (const [code, collection, plan] of cases) {
      const { stream, cycles } = start(collection, plan);
      const figures = await until(
        code,
        () => stream.figures(),
        ({ lastError }) => lastError !== null,
      );
      expect([figures.lastError?.code, cycles]).toEqual([code, []]);
    }
    expect(agent.agent.requests).toEqual({});
  });
});
