/**
 * The standing Subscribe RPCs of one device: one connection, one RPC a group, kept up for as long as they are wanted.
 * Reconnecting wraps the channel, which knows nothing of it.
 */
import type { GnmiFault } from '../../protocols/gnmi/grpc-status.ts';
import { type EncodingName, habitsOf } from '../../protocols/gnmi/netos.ts';
import type { PathArena } from '../../protocols/gnmi/path-arena.ts';
import {
  encodePoll,
  encodeSubscribeRequest,
  type SubscriptionGroup,
} from '../../protocols/gnmi/subscribe.ts';
import { type NotificationSink, SubscribeResponseDecoder } from '../../protocols/gnmi/subscribe-response.ts';
import { Allowance } from './allowance.ts';
import { Backoff } from './backoff.ts';
import { type Channel, openChannel } from './channel.ts';
import type { DialGuard, GnmiEndpoint } from './endpoint.ts';
import type { Rpc, RpcEnd } from './grpc-call.ts';

/** A group with what takes its data. */
export interface WantedStream {
  readonly group: SubscriptionGroup;
  readonly sink: NotificationSink;
  /** POLL: how often `DeviceStreams.poll` is called for it, in milliseconds. */
  readonly pollMilliseconds: number;
  /** Before the notifications of each read from the socket, which are all there at one time. */
  readonly onRead?: () => void;
  /** An RPC has begun: what it brings is told from the beginning. */
  readonly onBegin?: () => void;
  /** The RPC is over: `inOrder` when the target said that it had told everything. */
  readonly onEnd?: (inOrder: boolean) => void;
}

export type StreamState = 'connecting' | 'streaming' | 'polling' | 'backoff';

export interface StreamStatus {
  readonly state: StreamState;
  readonly encoding: EncodingName;
  readonly lastMessageAt: number | undefined;
  readonly lastFault: { readonly fault: GnmiFault; readonly at: number } | undefined;
}

export interface DeviceStreamsOptions {
  /** Asked for each connection: secrets are in clear no longer than one lasts. */
  readonly endpoint: () => Promise<GnmiEndpoint>;
  readonly netos: string;
  /** Shared by all streams of a worker. */
  readonly arena: PathArena;
  readonly guard: DialGuard;
  readonly random: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly connectMilliseconds?: number;
  readonly firstBackoffMilliseconds?: number;
  readonly longestBackoffMilliseconds?: number;
  /** What one RPC may bring in a second on the long run; a target that sends more is made to wait. Absent: no bound. */
  readonly bytesPerSecond?: number;
  /** Told when the status of the group with this key changes in kind. */
  readonly onStatus?: (key: string, status: StreamStatus) => void;
}

/** So many seconds' worth may come at once: a large device's whole state, after a quiet time. */
const BURST_SECONDS = 1;
const CONNECT_MILLISECONDS = 15_000;
const FIRST_BACKOFF_MILLISECONDS = 1_000;
const LONGEST_BACKOFF_MILLISECONDS = 300_000;
/** A stream that lived so long had succeeded: its end starts the back-off from the beginning. */
const GOOD_MILLISECONDS = 60_000;
/** A SAMPLE or POLL stream that misses this many intervals is taken for dead, and no earlier than the second figure. */
const MISSED_INTERVALS = 3;
const SHORTEST_SILENCE_MILLISECONDS = 30_000;

export class DeviceStreams {
  readonly #options: DeviceStreamsOptions;
  readonly #streams = new Map<string, GroupStream>();
  #channel: Channel | undefined;
  #opening: Promise<Channel | GnmiFault> | undefined;
  #isPaused = false;
  #isClosed = false;

  constructor(options: DeviceStreamsOptions) {
    this.#options = options;
  }

  /** Makes the streams be these. A group whose key stayed keeps its RPC; new ones start before old ones end. */
  reconcile(wanted: readonly WantedStream[]): void {
    const keys = new Set(wanted.map(({ group }) => group.key));
    for (const each of wanted) {
      const running = this.#streams.get(each.group.key);
      if (running !== undefined) running.wanted = each;
      else {
        const stream = new GroupStream(
          each,
          this.#options,
          () => this.#useChannel(),
          () => this.#dropIdleChannel(),
        );
        this.#streams.set(each.group.key, stream);
        if (this.#isPaused) stream.pause();
        stream.start();
      }
    }
    for (const [key, stream] of this.#streams) {
      if (keys.has(key)) continue;
      this.#streams.delete(key);
      stream.stop();
    }
    if (this.#streams.size === 0) this.#dropChannel();
  }

  status(key: string): StreamStatus | undefined {
    return this.#streams.get(key)?.status();
  }

  /** Asks the POLL stream with this key for one round; false when it cannot be asked now. */
  poll(key: string): boolean {
    return this.#streams.get(key)?.poll() ?? false;
  }

  /** Stops reading from the device: its window fills, and then the device waits. For a queue that is full. */
  pause(): void {
    this.#isPaused = true;
    for (const stream of this.#streams.values()) stream.pause();
  }

  resume(): void {
    this.#isPaused = false;
    for (const stream of this.#streams.values()) stream.resume();
  }

  close(): void {
    this.#isClosed = true;
    for (const stream of this.#streams.values()) stream.stop();
    this.#streams.clear();
    this.#dropChannel();
  }

  #dropChannel(): void {
    this.#channel?.close();
    this.#channel = undefined;
  }

  /**
   * While every stream backs off, the device keeps its session slot (some have eight), and the next attempt does
   * not meet what made this connection refuse.
   */
  #dropIdleChannel(): void {
    if (this.#channel?.running === 0) this.#dropChannel();
  }

  /** The device's one connection, opened when there is none. */
  async #useChannel(): Promise<Channel | GnmiFault> {
    if (this.#channel?.isUsable) return this.#channel;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #open(): Promise<Channel | GnmiFault> {
    let endpoint: GnmiEndpoint;
    try {
      endpoint = await this.#options.endpoint();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { code: 'authentication', detail: `the device's stored secrets could not be read: ${why}` };
    }
    const opened = await openChannel(endpoint, {
      guard: this.#options.guard,
      connectMilliseconds: this.#options.connectMilliseconds ?? CONNECT_MILLISECONDS,
    });
    if ('fault' in opened) return opened.fault;
    if (this.#isClosed || this.#streams.size === 0) {
      opened.channel.close();
      return { code: 'unreachable', detail: 'no longer wanted' };
    }
    // After a GOAWAY the old connection still carries what runs on it; it closes itself behind the last.
    this.#channel = opened.channel;
    return opened.channel;
  }
}

/** One group's RPC, again and again. */
class GroupStream {
  wanted: WantedStream;
  readonly #options: DeviceStreamsOptions;
  readonly #useChannel: () => Promise<Channel | GnmiFault>;
  readonly #dropIdleChannel: () => void;
  readonly #backoff: Backoff;
  readonly #encodings: readonly EncodingName[];
  #encodingIndex = 0;
  #state: StreamState = 'connecting';
  #rpc: Rpc | undefined;
  #timer: NodeJS.Timeout | undefined;
  #watch: NodeJS.Timeout | undefined;
  #lastMessageAt: number | undefined;
  #lastFault: StreamStatus['lastFault'];
  #isStopped = false;
  #isPaused = false;
  readonly #allowance: Allowance | undefined;
  /** While set, the target has sent more than it may, and waits. */
  #held: NodeJS.Timeout | undefined;

  constructor(
    wanted: WantedStream,
    options: DeviceStreamsOptions,
    useChannel: () => Promise<Channel | GnmiFault>,
    dropIdleChannel: () => void,
  ) {
    this.wanted = wanted;
    this.#options = options;
    this.#useChannel = useChannel;
    this.#dropIdleChannel = dropIdleChannel;
    this.#encodings = habitsOf(options.netos).encodings;
    const { bytesPerSecond } = options;
    if (bytesPerSecond !== undefined) this.#allowance = new Allowance(bytesPerSecond, BURST_SECONDS);
    this.#backoff = new Backoff({
      firstMilliseconds: options.firstBackoffMilliseconds ?? FIRST_BACKOFF_MILLISECONDS,
      longestMilliseconds: options.longestBackoffMilliseconds ?? LONGEST_BACKOFF_MILLISECONDS,
      random: options.random,
    });
  }

  status(): StreamStatus {
    return {
      state: this.#state,
      encoding: this.#encodings[this.#encodingIndex] as EncodingName,
      lastMessageAt: this.#lastMessageAt,
      lastFault: this.#lastFault,
    };
  }

  start(): void {
    void this.#run();
  }

  stop(): void {
    this.#isStopped = true;
    this.#clearTimers();
    clearTimeout(this.#timer);
    this.#rpc?.cancel();
  }

  pause(): void {
    this.#isPaused = true;
    this.#rpc?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (this.#held === undefined) this.#rpc?.resume();
    if (this.#rpc !== undefined) this.#expectMessage();
  }

  poll(): boolean {
    if (this.#rpc === undefined || this.#isPaused) return false;
    this.#rpc.send(encodePoll());
    return true;
  }

  async #run(): Promise<void> {
    this.#become('connecting');
    const channel = await this.#useChannel();
    if (this.#isStopped) return;
    if ('code' in channel) {
      this.#retry(channel);
      return;
    }
    const { group } = this.wanted;
    const decoder = new SubscribeResponseDecoder(this.#options.arena, this.wanted.sink);
    const started = this.#options.now();
    this.wanted.onBegin?.();
    // A look at the clock for each of many small messages took a tenth of all that they cost.
    let now = started;
    const rpc = channel.start('Subscribe', 0, {
      onRead: () => {
        now = this.#options.now();
        this.wanted.onRead?.();
      },
      onMessage: (bytes, view, start, end) => {
        this.#lastMessageAt = now;
        if (this.#state === 'connecting') this.#become(group.mode === 'poll' ? 'polling' : 'streaming');
        if (!decoder.decode(bytes, view, start, end)) {
          const detail = `${end - start} bytes that are no SubscribeResponse`;
          rpc.cancel({ code: 'protocol-error', detail });
        }
        const wait = this.#allowance?.take(end - start, now) ?? 0;
        if (wait > 0) this.#hold(rpc, wait);
      },
      onEnd: (end) => this.#ended(end, started),
    });
    this.#rpc = rpc;
    if (this.#isPaused) rpc.pause();
    rpc.send(
      encodeSubscribeRequest(group, this.#encodings[this.#encodingIndex] as EncodingName, channel.target),
    );
    this.#expectMessage();
  }

  #ended(end: RpcEnd, started: number): void {
    this.#rpc = undefined;
    this.#clearTimers();
    if (this.#isStopped) return;
    this.wanted.onEnd?.(end.fault === undefined);
    const fault = end.fault ?? { code: 'unreachable', detail: 'the target ended the stream in order' };
    if (fault.code === 'encoding-unsupported' && this.#encodingIndex + 1 < this.#encodings.length) {
      this.#encodingIndex += 1;
      this.#lastFault = { fault, at: this.#options.now() };
      void this.#run();
      return;
    }
    if (this.#options.now() - started >= GOOD_MILLISECONDS) this.#backoff.reset();
    this.#retry(fault);
  }

  #retry(fault: GnmiFault): void {
    this.#lastFault = { fault, at: this.#options.now() };
    // Another round may find an encoding that came back with new software.
    if (fault.code === 'encoding-unsupported') this.#encodingIndex = 0;
    this.#dropIdleChannel();
    this.#become('backoff');
    this.#timer = setTimeout(() => void this.#run(), this.#backoff.next());
  }

  /** SAMPLE and POLL have a rhythm: when it stops, the target is gone, frozen, or has forgotten us. */
  #expectMessage(): void {
    clearTimeout(this.#watch);
    const { group, pollMilliseconds } = this.wanted;
    // What changes rarely may be silent for days, once it has said how things are.
    const hasRhythm = group.mode === 'sample' || group.mode === 'poll';
    if (!hasRhythm && this.#state !== 'connecting') return;
    const intervals = group.paths.map(({ intervalMilliseconds }) => intervalMilliseconds);
    const longest = group.mode === 'poll' ? pollMilliseconds : Math.max(...intervals);
    const silence = Math.max(longest * MISSED_INTERVALS, SHORTEST_SILENCE_MILLISECONDS);
    const from = this.#options.now();
    this.#watch = setTimeout(() => {
      if (this.#isPaused) return;
      if ((this.#lastMessageAt ?? 0) >= from) {
        this.#expectMessage();
        return;
      }
      const detail = `nothing came for ${silence} ms`;
      this.#rpc?.cancel({ code: this.#lastMessageAt === undefined ? 'no-updates' : 'timeout', detail });
    }, silence);
  }

  /** Does not read on for a while: what an endless target sends is its own loss, and costs no other device its turn. */
  #hold(rpc: Rpc, milliseconds: number): void {
    if (this.#held !== undefined) return;
    rpc.pause();
    this.#held = setTimeout(() => {
      this.#held = undefined;
      if (!this.#isPaused) rpc.resume();
    }, milliseconds);
  }

  #clearTimers(): void {
    clearTimeout(this.#watch);
    clearTimeout(this.#held);
    this.#held = undefined;
  }

  #become(state: StreamState): void {
    if (this.#state === state && this.#lastFault === undefined) return;
    this.#state = state;
    this.#options.onStatus?.(this.wanted.group.key, this.status());
  }
}
