/** One question to one device, answered within a deadline: what a model's live test runs on. */
import { decodeCapabilityResponse, encodeCapabilityRequest } from '../../protocols/gnmi/capabilities.ts';
import type { GnmiFault } from '../../protocols/gnmi/grpc-status.ts';
import { type EncodingName, habitsOf } from '../../protocols/gnmi/netos.ts';
import {
  decodeGetResponse,
  decodeSubscribeResponse,
  type Notification,
} from '../../protocols/gnmi/notification.ts';
import { formatElems, type Path, withoutModule } from '../../protocols/gnmi/path.ts';
import {
  encodeGetRequest,
  encodeSubscribeRequest,
  groupSubscriptions,
  type SubscriptionGroup,
} from '../../protocols/gnmi/subscribe.ts';
import { type Channel, callUnary, openChannel } from './channel.ts';
import type { DialGuard, GnmiEndpoint } from './endpoint.ts';

export type TestRpc = 'subscribe-once' | 'subscribe-stream' | 'get';

export interface GnmiTestDevice {
  readonly endpoint: GnmiEndpoint;
  readonly netos: string;
}

export interface GnmiTestOptions {
  readonly guard: DialGuard;
  /** For everything together. */
  readonly deadlineMilliseconds: number;
  /** More updates than this are counted and not kept. */
  readonly maximumUpdates?: number;
}

/** What explains the answer, or why there is none. */
export interface GnmiTestExplanation {
  /** The last that was tried; null when none was reached. */
  readonly rpc: TestRpc | null;
  readonly encoding: EncodingName | null;
  /** What the target says it can do; empty when it says nothing. */
  readonly advertisedEncodings: readonly EncodingName[];
  readonly sync: boolean;
  readonly updates: number;
  readonly milliseconds: number;
  /** More came than was kept. */
  readonly truncated: boolean;
  /** Updates at or below each path asked for, in the order asked. */
  readonly updatesByPath: readonly number[];
  /** Each way that was tried and gave nothing, with why. */
  readonly attempts: ReadonlyArray<{
    readonly rpc: TestRpc;
    readonly encoding: EncodingName;
    readonly reason: string;
  }>;
}

export interface GnmiTestResult {
  readonly notifications: readonly Notification[];
  readonly explanation: GnmiTestExplanation;
  /** Undefined when values came, or when the target answered in order that it has none. */
  readonly fault: GnmiFault | undefined;
}

const DEFAULT_MAXIMUM_UPDATES = 10_000;
/** A STREAM or ONCE that says nothing for this part of the time left is given up, so that another way has a chance. */
const PART_OF_TIME_LEFT = 0.5;
/** How long after a sync_response without values a ONCE may take to send some, or to close. */
const EMPTY_GRACE_MILLISECONDS = 1_000;
/** Faults after which another encoding or RPC cannot help. */
const FINAL: ReadonlySet<GnmiFault['code']> = new Set([
  'authentication',
  'permission',
  'unknown-origin',
  'unreachable',
  'too-large',
  'protocol-error',
]);

/** What one RPC gave. */
interface Answer {
  readonly notifications: Notification[];
  readonly updates: number;
  readonly sync: boolean;
  readonly fault: GnmiFault | undefined;
}

/**
 * Asks for the paths once: ONCE with the NOS's encodings in order, else STREAM until sync, else Get, whatever first
 * gives values. An answer without values is no fault when the target closed it in order; when nothing at all was said
 * it is `no-updates`. Never rejects.
 */
export async function testGnmi(
  device: GnmiTestDevice,
  paths: readonly Path[],
  options: GnmiTestOptions,
): Promise<GnmiTestResult> {
  const started = performance.now();
  const left = (): number => options.deadlineMilliseconds - (performance.now() - started);
  const attempts: { rpc: TestRpc; encoding: EncodingName; reason: string }[] = [];
  let advertisedEncodings: readonly EncodingName[] = [];
  let rpc: TestRpc | null = null;
  let encoding: EncodingName | null = null;
  const result = (answer: Answer): GnmiTestResult => ({
    notifications: answer.notifications,
    fault: answer.fault,
    explanation: {
      rpc,
      encoding,
      advertisedEncodings,
      sync: answer.sync,
      updates: answer.updates,
      milliseconds: Math.round(performance.now() - started),
      truncated: answer.updates > countUpdates(answer.notifications),
      updatesByPath: updatesByPath(paths, answer.notifications),
      attempts,
    },
  });
  const failed = (fault: GnmiFault): Answer => ({ notifications: [], updates: 0, sync: false, fault });

  const opened = await openChannel(device.endpoint, { guard: options.guard, connectMilliseconds: left() });
  if ('fault' in opened) return result(failed(opened.fault));
  const { channel } = opened;
  try {
    const capabilities = await callUnary(channel, 'Capabilities', encodeCapabilityRequest(), left() / 4);
    if (capabilities.response !== undefined) {
      advertisedEncodings = decodeCapabilityResponse(capabilities.response)?.encodings ?? [];
    } else if (capabilities.fault !== undefined && FINAL.has(capabilities.fault.code)) {
      return result(failed(capabilities.fault));
    }
    let best: Answer | undefined;
    for (const way of waysFor(device.netos, advertisedEncodings)) {
      if (left() <= 0) break;
      // A way that was never implemented is not tried again in another encoding.
      if (attempts.some((each) => each.rpc === way.rpc && each.reason.startsWith('unimplemented'))) continue;
      rpc = way.rpc;
      encoding = way.encoding;
      const answer = await ask(channel, device, paths, way, Math.max(1, left()), options);
      if (answer.updates > 0) return result(answer);
      attempts.push({ ...way, reason: reasonOf(answer) });
      if (best === undefined || weightOf(answer) > weightOf(best)) best = answer;
      if (answer.fault !== undefined && FINAL.has(answer.fault.code)) return result(answer);
      if (!channel.isUsable) break;
    }
    return result(best ?? failed({ code: 'timeout', detail: 'no time was left to ask anything' }));
  } finally {
    channel.close();
  }
}

/** Every way worth trying, best first. An encoding that the NOS is known for comes before what it advertises. */
function waysFor(
  netos: string,
  advertised: readonly EncodingName[],
): ReadonlyArray<{ rpc: TestRpc; encoding: EncodingName }> {
  const { encodings, noGet } = habitsOf(netos);
  const known = encodings.filter((each) => advertised.length === 0 || advertised.includes(each));
  const ordered = [...known, ...encodings.filter((each) => !known.includes(each))];
  const ways: { rpc: TestRpc; encoding: EncodingName }[] = ordered.map((each) => ({
    rpc: 'subscribe-once',
    encoding: each,
  }));
  const first = ordered[0] as EncodingName;
  ways.push({ rpc: 'subscribe-stream', encoding: first });
  if (noGet !== true) ways.push({ rpc: 'get', encoding: first });
  return ways;
}

async function ask(
  channel: Channel,
  device: GnmiTestDevice,
  paths: readonly Path[],
  way: { rpc: TestRpc; encoding: EncodingName },
  millisecondsLeft: number,
  options: GnmiTestOptions,
): Promise<Answer> {
  const maximum = options.maximumUpdates ?? DEFAULT_MAXIMUM_UPDATES;
  const { target } = device.endpoint;
  if (way.rpc === 'get') {
    const end = await callUnary(
      channel,
      'Get',
      encodeGetRequest(paths, way.encoding, target),
      millisecondsLeft,
    );
    if (end.response === undefined) return { notifications: [], updates: 0, sync: false, fault: end.fault };
    const notifications = decodeGetResponse(end.response);
    if (notifications === undefined) {
      const fault: GnmiFault = { code: 'protocol-error', detail: 'the answer to Get is no GetResponse' };
      return { notifications: [], updates: 0, sync: false, fault };
    }
    return { ...keep(notifications, maximum), sync: false, fault: undefined };
  }
  const groups = groupSubscriptions(
    paths.map((path) => ({
      path,
      mode: 'sample',
      intervalMilliseconds: 10_000,
      heartbeatMilliseconds: 0,
    })),
    way.rpc === 'subscribe-once' ? 'once' : 'stream',
    device.netos,
  );
  const notifications: Notification[] = [];
  let updates = 0;
  let sync = groups.length > 0;
  let fault: GnmiFault | undefined;
  for (const group of groups) {
    const answer = await subscribeOnce(
      channel,
      group,
      way.encoding,
      target,
      (millisecondsLeft * PART_OF_TIME_LEFT) / groups.length,
      maximum - countUpdates(notifications),
    );
    notifications.push(...answer.notifications);
    updates += answer.updates;
    sync &&= answer.sync;
    fault ??= answer.fault;
  }
  return { notifications, updates, sync, fault };
}

/** Runs one Subscribe RPC until it closes, until sync when it is a STREAM, or until the time is over. */
function subscribeOnce(
  channel: Channel,
  group: SubscriptionGroup,
  encoding: EncodingName,
  target: string,
  milliseconds: number,
  maximumUpdates: number,
): Promise<Answer> {
  return new Promise((done) => {
    const notifications: Notification[] = [];
    let updates = 0;
    let kept = 0;
    let sync = false;
    let isDone = false;
    let emptyTimer: NodeJS.Timeout | undefined;
    const finish = (fault: GnmiFault | undefined): void => {
      if (isDone) return;
      isDone = true;
      clearTimeout(emptyTimer);
      done({ notifications, updates, sync, fault });
    };
    const end = (): void => {
      finish(undefined);
      rpc.cancel();
    };
    const rpc = channel.start('Subscribe', milliseconds, {
      onMessage: (bytes, _view, from, to) => {
        const response = decodeSubscribeResponse(bytes.subarray(from, to));
        if (response.kind === 'malformed') {
          const detail = `${to - from} bytes that are no SubscribeResponse`;
          rpc.cancel({ code: 'protocol-error', detail });
        } else if (response.kind === 'sync') {
          sync = true;
          if (group.mode !== 'once' || updates > 0) end();
          // A target that says sync first may still have something; one that never closes has not.
          else emptyTimer = setTimeout(end, Math.min(milliseconds / 2, EMPTY_GRACE_MILLISECONDS));
        } else if (response.kind === 'notification') {
          const { notification } = response;
          updates += notification.updates.length;
          if (kept >= maximumUpdates) return;
          kept += notification.updates.length;
          notifications.push(notification);
        }
      },
      onEnd: ({ fault }) => {
        if (fault?.code === 'timeout' && updates > 0) {
          finish({
            code: 'stream-not-closed',
            detail: 'values came, but neither sync_response nor the end: there may be more of them',
          });
        } else if (fault?.code === 'timeout') {
          const detail = `neither values nor sync_response within ${Math.round(milliseconds)} ms`;
          finish({ code: 'no-updates', detail });
        } else if (fault === undefined && !sync && updates === 0) {
          finish({ code: 'no-updates', detail: 'the target closed the RPC without values or sync_response' });
        } else finish(fault);
      },
    });
    rpc.send(encodeSubscribeRequest(group, encoding, target));
  });
}

/** How much an answer without values says: an orderly end more than a refusal, a refusal more than silence. */
function weightOf({ fault }: Answer): number {
  if (fault === undefined) return 3;
  if (fault.code === 'timeout' || fault.code === 'unimplemented') return 0;
  return fault.code === 'no-updates' ? 1 : 2;
}

function keep(
  notifications: readonly Notification[],
  maximum: number,
): Pick<Answer, 'notifications' | 'updates'> {
  const kept: Notification[] = [];
  let count = 0;
  for (const notification of notifications) {
    if (count < maximum) kept.push(notification);
    count += notification.updates.length;
  }
  return { notifications: kept, updates: count };
}

function reasonOf(answer: Answer): string {
  if (answer.fault !== undefined) return `${answer.fault.code}: ${answer.fault.detail}`;
  return answer.sync ? 'sync_response and no values' : 'no values';
}

function countUpdates(notifications: readonly Notification[]): number {
  return notifications.reduce((sum, { updates }) => sum + updates.length, 0);
}

/** An update counts for a path when it is at, below or (a JSON subtree) above it. Modules and origins do not count. */
function updatesByPath(paths: readonly Path[], notifications: readonly Notification[]): readonly number[] {
  const counts = paths.map(() => 0);
  for (const { updates } of notifications) {
    for (const { path } of updates) {
      for (const [index, wanted] of paths.entries()) {
        if (meets(wanted, path)) counts[index] = (counts[index] as number) + 1;
      }
    }
  }
  return counts;
}

function meets(wanted: Path, sent: Path): boolean {
  const shared = Math.min(wanted.elem.length, sent.elem.length);
  for (let depth = 0; depth < shared; depth += 1) {
    const want = wanted.elem[depth];
    const have = sent.elem[depth];
    if (want === undefined || have === undefined) return false;
    if (want.name !== '*' && withoutModule(want.name) !== withoutModule(have.name)) return false;
    for (const [name, value] of want.keys) {
      const key = have.keys.find(([each]) => withoutModule(each) === withoutModule(name));
      if (key !== undefined && !value.includes('*') && key[1] !== value) return false;
    }
  }
  return true;
}

/** For `raw-updates`: an update's path as text, keys and module prefixes as sent. */
export function formatUpdatePath(path: Path): string {
  return formatElems(path.elem);
}
