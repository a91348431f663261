import type { StreamPlan } from '../../core/collection-plan.ts';
import type { Fault } from '../../core/live-test.ts';
import { SnmpRows } from '../../core/mapping/snmp-rows.ts';
import type { RecordBatch } from '../../core/record.ts';
import { misbehaviourOf } from '../../protocols/snmp/fault.ts';
import type { WalkOutcome } from '../../protocols/snmp/walk.ts';
import type { PollSchedule } from '../collection/poll-schedule.ts';
import type { Stream, StreamFigures, StreamPorts } from '../collection/stream.ts';
import type { DeviceLink } from './device-link.ts';
import type { SnmpDriver, SnmpTarget } from './driver.ts';
import { type MappedWalk, mapWalk } from './mapped-walk.ts';

/** Rows of one device and model that are kept and sent; a device with more has those beyond counted as drops. */
const MAX_ROWS = 100_000;

/** A poll is over this long before the next is due, so that a slow one never costs the next its turn. */
const MARGIN_MILLISECONDS = 100;

/** However seldom a device is polled, one poll of it takes no longer than this. */
const LONGEST_POLL_MILLISECONDS = 300_000;

export interface PollStreamParts {
  readonly link: DeviceLink;
  readonly driver: SnmpDriver;
  readonly schedule: PollSchedule;
  /** Called once, when the stream has ended. */
  release(): void;
}

/**
 * One subscription on one device over SNMP: a walk at every due time, and its rows as the records of a cycle when it
 * is whole. A walk that was cut short sends nothing and counts.
 */
export class PollStream implements Stream {
  private readonly plan: StreamPlan;
  private readonly ports: StreamPorts;
  private readonly parts: PollStreamParts;
  private readonly walk: MappedWalk;
  private readonly rows: SnmpRows;
  private readonly unschedule: () => void;
  private state: StreamFigures['state'] = 'connecting';
  private lastSuccess: string | null = null;
  private lastError: StreamFigures['lastError'] = null;
  private isPolling = false;
  private isStopped = false;
  /** Due times that came while the poll before was still under way. */
  private skipped = 0;
  private cancelWalk: (() => void) | undefined;
  /** What of the figures was last told of: everything but counters and times. */
  private told = '';

  constructor(plan: StreamPlan, ports: StreamPorts, parts: PollStreamParts) {
    this.plan = plan;
    this.ports = ports;
    this.parts = parts;
    this.walk = mapWalk(plan.model, plan.mapping);
    this.rows = new SnmpRows({
      source: {
        device: plan.device.configuration.name,
        deviceId: plan.device.id,
        modelName: plan.model.name,
      },
      mapping: this.walk.mapping,
      maxRows: MAX_ROWS,
      deliver: (records) => ports.deliver(records),
    });
    if (this.walk.plan.groups.length === 0) {
      this.state = 'idle';
      this.lastError = errorOf(nothingToAsk(this.walk));
      this.unschedule = () => {};
      queueMicrotask(() => ports.settled());
      return;
    }
    this.unschedule = parts.schedule.every(
      `${plan.subscriptionId}/${plan.device.id}`,
      plan.intervalMilliseconds,
      (dueAt) => void this.poll(dueAt),
    );
  }

  figures(): StreamFigures {
    const { updates, rows, drops, cycleIncomplete, clockSkew } = this.rows.status();
    const coercionErrors = [...this.rows.coercionErrors().values()].reduce((sum, count) => sum + count, 0);
    return {
      state: this.state,
      encoding: this.parts.link.dialect,
      lastSuccess: this.lastSuccess,
      lastError: this.lastError,
      updates,
      rows,
      drops,
      coercionErrors,
      cycleIncomplete: cycleIncomplete + this.skipped,
      clockSkew,
      unmatchedPaths: this.unmatchedPaths(),
    };
  }

  latest(): RecordBatch {
    return this.rows.latest();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.unschedule();
    this.cancelWalk?.();
    this.parts.release();
  }

  private async poll(dueAt: number): Promise<void> {
    if (this.isStopped) return;
    if (this.isPolling) {
      this.skipped += 1;
      return;
    }
    this.isPolling = true;
    const { link, driver } = this.parts;
    const reached = await link.reach();
    if (this.isStopped) return;
    if ('fault' in reached) {
      this.ended(reached.fault);
      return;
    }
    const { groupIds, plan } = this.walk;
    this.cancelWalk = driver.walk({
      target: reached.target,
      plan,
      limits: link.limits,
      budgetMilliseconds: this.budgetLeft(dueAt),
      row: (group, row, arrivedAt) => this.rows.row(groupIds[group] as number, row, arrivedAt),
      done: (outcome) => this.walked(outcome, reached.target, dueAt),
    });
  }

  private budgetLeft(dueAt: number): number {
    const whole = Math.min(LONGEST_POLL_MILLISECONDS, this.plan.intervalMilliseconds - MARGIN_MILLISECONDS);
    return dueAt + whole - this.parts.schedule.now();
  }

  private walked({ fault, anomalies }: WalkOutcome, target: SnmpTarget, dueAt: number): void {
    const { link, driver } = this.parts;
    this.cancelWalk = undefined;
    if (fault !== undefined) link.forgetAddress();
    this.ended(fault, misbehaviourOf(anomalies));
    if (fault?.code === 'snmp-no-response') void link.fallBack(driver, target, this.budgetLeft(dueAt));
  }

  /** `misbehaviour`: what the agent did wrong in a poll that is whole all the same. */
  private ended(fault: Fault | undefined, misbehaviour?: Fault): void {
    this.isPolling = false;
    // What it takes over from would go on as it was configured before, behind a stream that fails or has no rows.
    this.ports.settled();
    if (fault === undefined) {
      this.state = 'polling';
      this.lastSuccess = new Date().toISOString();
      if (misbehaviour !== undefined) this.lastError = errorOf(misbehaviour);
      this.rows.close();
    } else {
      this.state = 'backoff';
      this.lastError = errorOf(fault);
      this.rows.abandon();
    }
    const tells = JSON.stringify([this.state, this.lastError?.code, this.unmatchedPaths()]);
    if (tells !== this.told) this.ports.changed();
    this.told = tells;
  }

  /** Before a first whole poll nothing can be said of paths, except of those that no poll can ask for. */
  private unmatchedPaths(): string[] {
    const unreadable = this.walk.mapping.skipped.map(({ path }) => path);
    return this.lastSuccess === null ? unreadable : [...unreadable, ...this.rows.unmatchedPaths()];
  }
}

/** Why a mapping leaves nothing to walk. */
export function nothingToAsk({ mapping }: MappedWalk): Fault {
  const detail =
    mapping.skipped.length === 0
      ? 'the mapping has no path that could be asked for'
      : `no path of the mapping can be read: ${mapping.skipped.map(({ path, fault }) => `${path} (${fault.detail})`).join(', ')}`;
  return { code: 'invalid-path', detail };
}

function errorOf({ code, detail }: Fault): NonNullable<StreamFigures['lastError']> {
  return { code, detail, at: new Date().toISOString() };
}
