/**
 * One cycle of one device as a machine: datagrams in, datagrams and rows out, the clock an argument.
 *
 * A step answers what to do next. Rows go out as they become whole; what they are worth is known only at the end:
 * an outcome with a fault means that the table was cut short, and its rows are to be thrown away.
 */
import { type BerWriter, Tag } from './ber.ts';
import {
  type AnomalyCounts,
  countAnomaly,
  type SnmpAnomaly,
  type SnmpFault,
  type SnmpFaultCode,
} from './fault.ts';
import { ERROR_STATUS, ErrorStatus } from './pdu.ts';
import type { WalkRow } from './row-join.ts';
import { ScalarRead } from './scalar-read.ts';
import type { SnmpSession } from './session.ts';
import { type Progress, TableWalk } from './table-walk.ts';
import type { VarbindTable } from './varbind-table.ts';
import type { WalkLimits, WalkPlan } from './walk-plan.ts';
import { SYS_UP_TIME_INSTANCE, writeAsk } from './walk-request.ts';

export interface WalkOutcome {
  /** Absent when the walk saw every group to its end. */
  readonly fault?: SnmpFault;
  readonly rows: number;
  /** Varbinds received that were asked for, sysUpTime and what lies past a table's end not counted. */
  readonly values: number;
  readonly requests: number;
  readonly anomalies: AnomalyCounts;
  /** Values by group and column: a zero is a path that matched nothing. */
  readonly valueCounts: readonly (readonly number[])[];
}

export type WalkStep =
  | {
      readonly kind: 'send';
      readonly datagram: Uint8Array;
      readonly requestId: number;
      readonly wakeAt: number;
    }
  | { readonly kind: 'wait'; readonly wakeAt: number }
  | { readonly kind: 'done'; readonly outcome: WalkOutcome };

/** What a walk is given by the one who runs it. */
export interface WalkPort {
  /** A new request id, 1 to 2³¹−1; the answer to it comes to this walk. */
  requestId(): number;
  row(group: number, row: WalkRow): void;
}

/** How often one request may be sent again because the engine's id or clock was learnt. */
const MAX_RESYNCS = 3;

/** sysUpTime wraps after 497 days; a fall from its last ten minutes is a wrap, not a restart. */
const WRAPPING_FROM = 2 ** 32 - 60_000;

/** Why no good answer came, by the last bad one. */
const SILENCE: Partial<Record<SnmpAnomaly, readonly [SnmpFaultCode, string]>> = {
  'wrong-digest': [
    'snmp-wrong-digest',
    'the answers do not carry the digest of this authentication password',
  ],
  undecipherable: ['snmp-decryption', 'the answers cannot be decrypted with this privacy password'],
  'outside-time-window': ['snmp-not-in-time-window', 'the answers are older than the engine’s clock allows'],
  'unauthenticated-report': [
    'snmp-not-in-time-window',
    'the agent reports its clock, but does not sign the report',
  ],
  'wrong-security-level': ['authentication', 'the answers come below the security level of the request'],
  malformed: ['protocol-error', 'the answers are no SNMP messages of this version'],
  'wrong-source': [
    'snmp-no-response',
    'answers came, but from another address than the one asked: an agent that does so has to be marked unconnected',
  ],
};

export class Walk {
  private readonly session: SnmpSession;
  private readonly plan: WalkPlan;
  private readonly limits: WalkLimits;
  private readonly deadline: number;
  private readonly port: WalkPort;
  private readonly table: VarbindTable;
  private readonly writer: BerWriter;
  private readonly anomalies: AnomalyCounts = {};
  private readonly valueCounts: number[][] = [];
  private group = -1;
  private progress: TableWalk | ScalarRead | undefined;
  private bulk: boolean;
  private upTimeAsked = true;
  private upTime = -1;
  private requestId = 0;
  private datagram: Uint8Array = NOTHING;
  private discovering = false;
  private attempts = 0;
  private resyncs = 0;
  private wakeAt = 0;
  private requests = 0;
  private answers = 0;
  private rows = 0;
  private lastIgnored: SnmpAnomaly | undefined;

  /**
   * `deadline` is absolute, on the clock of every `now`. `table` and `writer` may serve many walks: nothing in them
   * outlives a call.
   */
  constructor(
    session: SnmpSession,
    plan: WalkPlan,
    limits: WalkLimits,
    deadline: number,
    port: WalkPort,
    table: VarbindTable,
    writer: BerWriter,
  ) {
    this.session = session;
    this.plan = plan;
    this.limits = limits;
    this.deadline = deadline;
    this.port = port;
    this.table = table;
    this.writer = writer;
    this.bulk = session.settings.version !== 'v1';
  }

  start(now: number): WalkStep {
    return this.nextGroup() ? this.send(now) : this.finish(undefined);
  }

  /**
   * Takes a datagram that carries the id of the open request (`requestIdOf`). One that does not answer it is counted
   * and changes nothing.
   */
  receive(datagram: Uint8Array, now: number): WalkStep {
    const opened = this.session.open(datagram, now, this.anomalies);
    switch (opened.kind) {
      case 'ignored':
        this.lastIgnored = opened.anomaly;
        return this.wait();
      case 'fault':
        return this.finish(opened.fault);
      case 'again':
        return this.resync(opened.restarted, now);
      case 'pdu':
        return this.answer(opened.bytes, opened.start, opened.end, now);
    }
  }

  /** Ends the walk for a reason that the driver knows, such as a network without route. */
  abandon(fault: SnmpFault): WalkStep {
    return this.finish(fault);
  }

  /** Counts a datagram that the driver recognised as not meant for the open request. */
  ignore(anomaly: SnmpAnomaly): void {
    countAnomaly(this.anomalies, anomaly);
    if (SILENCE[anomaly] !== undefined) this.lastIgnored = anomaly;
  }

  /** The time that the last step named has come. */
  expire(now: number): WalkStep {
    if (now < this.wakeAt) return this.wait();
    if (now >= this.deadline || this.attempts > this.limits.retries) return this.finish(this.silence(now));
    this.attempts += 1;
    countAnomaly(this.anomalies, 'retransmission');
    return this.transmit(now);
  }

  private answer(bytes: Uint8Array, start: number, end: number, now: number): WalkStep {
    const { table } = this;
    if (table.decode(bytes, start, end) !== undefined) return this.ignored('malformed');
    if (table.isReport || this.discovering || table.requestId !== this.requestId) {
      return this.ignored('late-or-duplicate');
    }
    this.answers += 1;
    if (table.errorStatus !== ErrorStatus.noError)
      return this.refused(table.errorStatus, table.errorIndex, now);
    const first = this.upTimeAsked ? 1 : 0;
    if (this.upTimeAsked && this.restarted()) {
      return this.finish({
        code: 'snmp-agent-restarted',
        detail: 'sysUpTime went back: the agent restarted meanwhile',
      });
    }
    if (this.session.settings.version === 'v1') this.countCounter64();
    for (let count = 0; count < table.unreadable; count += 1) this.ignore('unreadable-value');
    return this.proceed(this.progress?.accept(table, first) ?? 'done', now);
  }

  private refused(status: number, index: number, now: number): WalkStep {
    if (status === ErrorStatus.authorizationError || status === ErrorStatus.noAccess) {
      return this.finish({ code: 'permission', detail: `the agent answered ${ERROR_STATUS[status]}` });
    }
    if (this.upTimeAsked && index === 1) {
      this.upTimeAsked = false;
      return this.send(now);
    }
    const place = index - (this.upTimeAsked ? 2 : 1);
    countAnomaly(this.anomalies, status === ErrorStatus.tooBig ? 'too-big' : 'column-error');
    const bulkBefore = this.bulk;
    const progress = this.progress?.refuse(status, place) ?? 'done';
    if (this.progress instanceof TableWalk) this.bulk = this.progress.usesBulk;
    if (bulkBefore && !this.bulk) countAnomaly(this.anomalies, 'bulk-refused');
    return this.proceed(progress, now);
  }

  private proceed(progress: Progress, now: number): WalkStep {
    if (typeof progress === 'object') {
      if (progress.code !== 'too-large' || !this.upTimeAsked) return this.finish(progress);
      // One value and sysUpTime are too much for the agent: the value alone may not be.
      this.upTimeAsked = false;
      return this.send(now);
    }
    if (this.rows > this.limits.maxRows) {
      return this.finish({
        code: 'too-large',
        detail: `the table did not end within ${this.limits.maxRows} rows`,
      });
    }
    if (progress === 'done' && !this.nextGroup()) return this.finish(undefined);
    return this.send(now);
  }

  private nextGroup(): boolean {
    this.group += 1;
    const group = this.plan.groups[this.group];
    if (group === undefined) return false;
    const index = this.group;
    const emit = (row: WalkRow) => {
      this.rows += 1;
      this.port.row(index, row);
    };
    this.progress =
      group.kind === 'table'
        ? new TableWalk(group, this.limits, this.session.overheadBytes, this.bulk, emit)
        : new ScalarRead(group, this.limits, emit);
    this.valueCounts.push(this.progress.valueCounts);
    return true;
  }

  /** Asks for what comes next, under a new id. */
  private send(now: number): WalkStep {
    this.attempts = 1;
    this.resyncs = 0;
    return this.compose(now);
  }

  private resync(restarted: boolean, now: number): WalkStep {
    if (restarted && this.answers > 0) {
      return this.finish({
        code: 'snmp-agent-restarted',
        detail: 'engine boots went up: the agent restarted meanwhile',
      });
    }
    this.resyncs += 1;
    if (this.resyncs > MAX_RESYNCS) {
      this.session.forgetEngine();
      return this.finish({
        code: 'snmp-not-in-time-window',
        detail: 'the agent keeps refusing the clock that it reports itself',
      });
    }
    return this.compose(now);
  }

  private compose(now: number): WalkStep {
    const { writer } = this;
    this.requestId = this.port.requestId();
    this.discovering = this.session.needsDiscovery;
    if (this.discovering) {
      this.datagram = this.session.sealDiscovery(this.requestId);
    } else {
      writer.reset();
      writeAsk(writer, (this.progress as TableWalk | ScalarRead).next(), this.requestId, this.upTimeAsked);
      this.datagram = this.session.seal(writer, this.requestId, now);
    }
    return this.transmit(now);
  }

  private transmit(now: number): WalkStep {
    this.requests += 1;
    this.wakeAt = Math.min(now + this.limits.timeoutMilliseconds, this.deadline);
    return { kind: 'send', datagram: this.datagram, requestId: this.requestId, wakeAt: this.wakeAt };
  }

  private wait(): WalkStep {
    return { kind: 'wait', wakeAt: this.wakeAt };
  }

  private ignored(anomaly: SnmpAnomaly): WalkStep {
    this.ignore(anomaly);
    return this.wait();
  }

  private finish(fault: SnmpFault | undefined): WalkStep {
    const outcome: WalkOutcome = {
      ...(fault === undefined ? {} : { fault }),
      rows: this.rows,
      values: this.valueCounts.reduce(
        (sum, counts) => sum + counts.reduce((total, count) => total + count, 0),
        0,
      ),
      requests: this.requests,
      anomalies: this.anomalies,
      valueCounts: this.valueCounts,
    };
    return { kind: 'done', outcome };
  }

  private silence(now: number): SnmpFault {
    const known = this.lastIgnored === undefined ? undefined : SILENCE[this.lastIgnored];
    if (known !== undefined) return { code: known[0], detail: known[1] };
    if (this.answers === 0 && (this.session.needsDiscovery || this.session.settings.version !== 'v3')) {
      const causes =
        this.session.settings.version === 'v3'
          ? 'the device is away or no SNMPv3 agent, or its UDP port is closed'
          : 'the device is away, its UDP port is closed, or the community is wrong, which agents meet with silence';
      return {
        code: 'snmp-no-response',
        detail: `no answer to ${this.requests === 1 ? '1 request' : `${this.requests} requests`}: ${causes}`,
      };
    }
    if (this.answers === 0) {
      return {
        code: 'timeout',
        detail:
          'the agent told its engine id and then nothing: a wrong privacy password is often met with silence',
      };
    }
    return now >= this.deadline
      ? {
          code: 'timeout',
          detail: `the walk was not at its end after ${this.rows} rows when its time was over`,
        }
      : { code: 'timeout', detail: `the agent stopped answering after ${this.rows} rows` };
  }

  /** Reads sysUpTime, where it is; an agent that shows none is not asked again. */
  private restarted(): boolean {
    const { table } = this;
    if (table.count === 0 || table.kinds[0] !== Tag.timeTicks || !this.isUpTime()) {
      this.upTimeAsked = false;
      return false;
    }
    const upTime = table.lo[0] as number;
    const wentBack = upTime < this.upTime && this.upTime < WRAPPING_FROM;
    this.upTime = upTime;
    return wentBack;
  }

  private isUpTime(): boolean {
    const { bytes, nameStart, nameEnd } = this.table;
    const start = nameStart[0] as number;
    if ((nameEnd[0] as number) - start !== SYS_UP_TIME_INSTANCE.length) return false;
    for (let at = 0; at < SYS_UP_TIME_INSTANCE.length; at += 1) {
      if (bytes[start + at] !== SYS_UP_TIME_INSTANCE[at]) return false;
    }
    return true;
  }

  private countCounter64(): void {
    for (let at = 0; at < this.table.count; at += 1) {
      if (this.table.kinds[at] === Tag.counter64) this.ignore('counter64-in-v1');
    }
  }
}

const NOTHING = new Uint8Array(0);
