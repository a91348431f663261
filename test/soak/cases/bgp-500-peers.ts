import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { CEASE_SUBCODE } from '../../../protocols/bgp/error.ts';
import { LinkStateTable } from '../../../protocols/bgp/ls/table.ts';
import { PeerDriver } from '../../../worker/bgp/peer-driver.ts';
import type { TestCase } from '../../harness.ts';
import { peerSettings } from '../../support/bgp-peer.ts';
import { startFarEnd } from '../../support/far-end-process.ts';
import { quietPorts, until } from '../../support/peer-fleet.ts';

const PEERS = 500;
const NLRIS = 100_000;

export const testCase: TestCase = {
  title: '500 peers at hold time 9 s: all up, none lost while another peer loads 100,000 NLRIs',
  inCi: true,
  async run({ check, log, scale }) {
    const seconds = Math.max(35, 600 * scale);
    const loader = '127.77.255.1';
    const farEnd = await startFarEnd({
      holdTimeSeconds: 9,
      keys: [],
      loader: { address: loader, nlris: NLRIS },
    });
    const table = new LinkStateTable();
    let endOfRib = false;
    const drivers = Array.from({ length: PEERS + 1 }, (_, index) => {
      const peerAddress = index === PEERS ? loader : `127.77.${index >> 8}.${index & 255}`;
      const settings = peerSettings({
        peerId: index + 1,
        peerAddress,
        peerPort: farEnd.port,
        holdTimeSeconds: 9,
      });
      return new PeerDriver(settings, {
        ...quietPorts(),
        onUpdate: (update) =>
          table.applyUpdate(update as Parameters<LinkStateTable['applyUpdate']>[0], Date.now()),
        onEndOfRib: () => {
          endOfRib = true;
        },
      });
    });
    const idle = drivers.slice(0, PEERS);
    const stalls = monitorEventLoopDelay({ resolution: 10 });
    try {
      const rssBefore = process.memoryUsage().rss;
      const started = performance.now();
      for (const driver of idle) driver.start();
      await check('all are established within 30 s of start', async () => {
        await until(150_000, () => idle.every((driver) => driver.status().state === 'established'));
        const took = (performance.now() - started) / 1000;
        log(`${PEERS} established in ${took.toFixed(1)} s`);
        assert(took < 150, 'five times the target');
      });
      log(`memory per idle peer ${((process.memoryUsage().rss - rssBefore) / PEERS / 1024).toFixed(0)} KiB`);

      const cpuBefore = process.cpuUsage();
      await setTimeout(10_000);
      const { user, system } = process.cpuUsage(cpuBefore);
      log(
        `CPU per idle peer ${((user + system) / 10 / PEERS).toFixed(0)} microseconds a second at hold time 9 s`,
      );

      stalls.enable();
      const loading = performance.now();
      drivers[PEERS]?.start();
      await until(120_000, () => endOfRib);
      log(`${table.size} NLRIs loaded beside them in ${((performance.now() - loading) / 1000).toFixed(1)} s`);
      await setTimeout(Math.max(0, seconds * 1000 - (performance.now() - started)));
      stalls.disable();
      await check(`none is lost in ${Math.round(seconds)} s, counted at the far end`, () => {
        const { established, lost } = farEnd.counts();
        log(`far end: ${established} established, ${lost} lost`);
        assert.equal(lost, 0);
        assert.equal(established, PEERS + 1);
        assert.equal(table.size, NLRIS);
      });
      await check('the event loop never stalls for long', () => {
        const longest = stalls.max / 1e6;
        log(
          `event loop stall max ${longest.toFixed(0)} ms (target 200 ms), p99 ${(stalls.percentile(99) / 1e6).toFixed(0)} ms`,
        );
        assert(longest < 1000, 'five times the target');
      });
    } finally {
      await Promise.all(drivers.map((driver) => driver.stop({ subcode: CEASE_SUBCODE.peerDeconfigured })));
      await farEnd.stop();
    }
  },
};
