/** Runs a walk against an agent with no network and no waiting: the clock is a number that this moves. */
import { BerWriter, Tag } from '../../../protocols/snmp/ber.ts';
import { formatArcs, type Oid } from '../../../protocols/snmp/oid.ts';
import type { WalkRow } from '../../../protocols/snmp/row-join.ts';
import { SnmpSession } from '../../../protocols/snmp/session.ts';
import { kindOfTag } from '../../../protocols/snmp/value.ts';
import { isByteKind, VarbindTable } from '../../../protocols/snmp/varbind-table.ts';
import { Walk, type WalkOutcome, type WalkStep } from '../../../protocols/snmp/walk.ts';
import {
  compileWalkPlan,
  DEFAULT_WALK_LIMITS,
  type WalkGroup,
  type WalkLimits,
} from '../../../protocols/snmp/walk-plan.ts';
import { type AgentUser, keyOf, type SimulatedAgent } from './agent.ts';

export interface WalkedRow {
  readonly group: number;
  readonly index: string;
  /** By column: `kind digits`, `kind text`, or empty where the row has none. */
  readonly values: readonly string[];
}

export interface WalkResult {
  readonly outcome: WalkOutcome;
  readonly rows: readonly WalkedRow[];
  /** The longest answer that was accepted. */
  readonly largestAnswer: number;
  readonly tookMilliseconds: number;
}

/** Every datagram takes a millisecond each way. */
const TRANSIT = 1;

export class Clock {
  now = 1_000_000;
}

export interface WalkRun {
  readonly agent: SimulatedAgent;
  readonly session: SnmpSession;
  readonly groups: readonly WalkGroup[];
  readonly limits?: Partial<WalkLimits>;
  readonly budgetMilliseconds?: number;
  readonly clock?: Clock;
  /** Hears each row as a collector would: a view that is gone after the call. */
  readonly onRow?: (group: number, row: WalkRow) => void;
  /** Called before each request reaches the agent, with its number from 0. */
  readonly beforeRequest?: (request: number) => void;
}

export function runWalk(run: WalkRun): WalkResult {
  const clock = run.clock ?? new Clock();
  const started = clock.now;
  const rows: WalkedRow[] = [];
  let requestId = 1;
  let largestAnswer = 0;
  const walk = new Walk(
    run.session,
    compileWalkPlan(run.groups),
    { ...DEFAULT_WALK_LIMITS, ...run.limits },
    clock.now + (run.budgetMilliseconds ?? 60_000),
    {
      requestId: () => requestId++,
      row: (group, row) => {
        run.onRow?.(group, row);
        rows.push(shownRow(group, row, columnsOf(run.groups[group]).length));
      },
    },
    new VarbindTable(),
    new BerWriter(),
  );
  let step: WalkStep = walk.start(clock.now);
  for (let request = 0; step.kind !== 'done'; request += 1) {
    if (request > 100_000) throw new Error('the walk does not end');
    let { wakeAt } = step;
    const answers: Uint8Array[] = [];
    if (step.kind === 'send') {
      run.beforeRequest?.(request);
      clock.now += TRANSIT;
      answers.push(...run.agent.handle(step.datagram, clock.now));
      clock.now += TRANSIT;
    }
    let answered = false;
    for (const answer of answers) {
      if (answered) {
        // What a driver does with an answer whose request is closed.
        walk.ignore('late-or-duplicate');
        continue;
      }
      largestAnswer = Math.max(largestAnswer, answer.length);
      step = walk.receive(answer, clock.now);
      answered = step.kind !== 'wait';
      if (step.kind !== 'done') wakeAt = step.wakeAt;
    }
    if (!answered) {
      clock.now = wakeAt;
      step = walk.expire(clock.now);
    }
  }
  return { outcome: step.outcome, rows, largestAnswer, tookMilliseconds: clock.now - started };
}

export function communitySession(version: 'v1' | 'v2c', community = 'public'): SnmpSession {
  return new SnmpSession({ version, community: new TextEncoder().encode(community) });
}

export function v3Session(
  user: AgentUser,
  engineId: Uint8Array = new Uint8Array(0),
  context = '',
): SnmpSession {
  const text = (value: string) => new TextEncoder().encode(value);
  const { auth, priv } = user;
  return new SnmpSession({
    version: 'v3',
    contextName: text(context),
    engineId,
    salt: 1n,
    user: {
      name: text(user.name),
      ...(auth === undefined
        ? {}
        : { auth: { protocol: auth.protocol, key: keyOf(auth.protocol, auth.password) } }),
      ...(auth === undefined || priv === undefined
        ? {}
        : { priv: { protocol: priv.protocol, key: keyOf(auth.protocol, priv.password) } }),
    },
  });
}

function columnsOf(group: WalkGroup | undefined): readonly Oid[] {
  if (group === undefined) return [];
  return group.kind === 'table' ? group.columns : group.instances;
}

function shownRow(group: number, row: WalkRow, columns: number): WalkedRow {
  const values = Array.from({ length: columns }, (_, column) => shownCell(row, row.base + column));
  return { group, index: formatArcs(row.indexBytes, row.indexStart, row.indexEnd), values };
}

function shownCell(row: WalkRow, at: number): string {
  const kind = row.kinds[at] as number;
  const hi = row.hi[at] as number;
  const lo = row.lo[at] as number;
  if (kind === 0) return '';
  if (isByteKind(kind))
    return `${kindOfTag(kind)} ${Buffer.from(row.bytes.subarray(hi, hi + lo)).toString()}`;
  const bits = (BigInt(hi) << 32n) | BigInt(lo);
  return `${kindOfTag(kind)} ${kind === Tag.integer ? BigInt.asIntN(64, bits) : bits}`;
}
