/** SNMP as the worker's frame runs it: streams and live tests over one driver and one schedule. */
import { performance } from 'node:perf_hooks';
import type { StreamPlan } from '../../core/collection-plan.ts';
import type { LiveTester } from '../collection/jobs.ts';
import { PollSchedule } from '../collection/poll-schedule.ts';
import type { OpenStream } from '../collection/stream.ts';
import { DeviceLink, type LinkPorts, type SnmpConfiguration } from './device-link.ts';
import { SnmpDriver } from './driver.ts';
import { snmpTester } from './live-tester.ts';
import { PollStream } from './poll-stream.ts';

interface SharedLink {
  readonly link: DeviceLink;
  users: number;
}

export class SnmpCollection {
  readonly test: LiveTester;
  private readonly driver = new SnmpDriver();
  private readonly schedule = new PollSchedule();
  /** By device and settings: streams of one device share a session, so that its agent gets one walk at a time. */
  private readonly links = new Map<string, SharedLink>();
  private readonly ports: LinkPorts;

  constructor(ports: Omit<LinkPorts, 'monotonic'>) {
    this.ports = { ...ports, monotonic: () => performance.now() };
    this.test = snmpTester(this.driver, this.ports);
  }

  readonly open: OpenStream = (plan, ports) => {
    const { link, release } = this.linkFor(plan);
    return new PollStream(plan, ports, { link, driver: this.driver, schedule: this.schedule, release });
  };

  /** Ends all walks and closes the sockets. */
  close(): void {
    this.driver.close();
  }

  private linkFor({ device }: StreamPlan): { link: DeviceLink; release: () => void } {
    const { address, snmp } = device.configuration;
    const name = JSON.stringify([device.id, address, snmp, Object.entries(device.encryptedSecrets).sort()]);
    const shared = this.links.get(name) ?? {
      link: new DeviceLink(device, snmp as SnmpConfiguration, this.ports),
      users: 0,
    };
    shared.users += 1;
    this.links.set(name, shared);
    const release = () => {
      shared.users -= 1;
      if (shared.users === 0) this.links.delete(name);
    };
    return { link: shared.link, release };
  }
}
