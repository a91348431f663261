import { create, toBinary } from '@bufbuild/protobuf';
import { encodeFrame } from '../../../protocols/gnmi/grpc-frame.ts';
import { GrpcStatus } from '../../../protocols/gnmi/grpc-status.ts';
import { joinPaths, type Path } from '../../../protocols/gnmi/path.ts';
import { pathFromMessage, pathToMessage } from '../../../protocols/gnmi/path-message.ts';
import {
  ListMode,
  type NotificationMessage,
  type SubscribeRequestMessage,
  SubscribeResponseSchema,
  type SubscriptionListMessage,
  SubscriptionMode,
} from '../../../protocols/gnmi/schema.ts';
import { ENCODING_BY_NUMBER, type Habits } from './habits.ts';
import { notificationOf, notificationsOf } from './notifications.ts';
import type { ServerCall } from './server-call.ts';
import type { LeafValue, TargetEncoding, Tree } from './tree.ts';

/** What a Subscribe RPC needs of its target. */
export interface SubscribedTarget {
  readonly tree: Tree;
  readonly habits: Habits;
}

/** One Subscribe RPC. */
export class Subscribing {
  readonly #target: SubscribedTarget;
  readonly #call: ServerCall;
  readonly #stops: Set<() => void>;
  readonly #timestamp: () => bigint;
  readonly #undo: (() => void)[] = [];
  #list: SubscriptionListMessage | undefined;

  constructor(target: SubscribedTarget, call: ServerCall, stops: Set<() => void>, timestamp: () => bigint) {
    this.#target = target;
    this.#call = call;
    this.#stops = stops;
    this.#timestamp = timestamp;
    stops.add(this.#stop);
  }

  readonly #stop = (): void => this.stop();

  stop(): void {
    for (const undo of this.#undo.splice(0)) undo();
    this.#stops.delete(this.#stop);
  }

  request({ request }: SubscribeRequestMessage): void {
    if (request.case === 'poll') {
      if (this.#list?.mode === ListMode.POLL) this.#sendAll(this.#list);
      else this.#call.end(GrpcStatus.invalidArgument, 'poll without a POLL subscription');
      return;
    }
    if (request.case !== 'subscribe' || this.#list !== undefined) {
      this.#call.end(GrpcStatus.invalidArgument, 'one subscription list, then polls');
      return;
    }
    this.#subscribe(request.value);
  }

  #subscribe(list: SubscriptionListMessage): void {
    const { habits } = this.#target;
    this.#list = list;
    const encoding = ENCODING_BY_NUMBER[list.encoding];
    const wanted = this.#wanted(list);
    if (habits.refusedOrigin !== '' && wanted.some(({ path }) => path.origin === habits.refusedOrigin)) {
      this.#call.end(GrpcStatus.invalidArgument, `unknown origin ${habits.refusedOrigin}`);
      return;
    }
    if (encoding === undefined || !habits.encodings.includes(encoding)) {
      this.#call.end(GrpcStatus.unimplemented, `unsupported encoding ${list.encoding}`);
      return;
    }
    if (habits.withoutOnce && list.mode === ListMode.ONCE) {
      this.#call.end(GrpcStatus.unimplemented, 'ONCE is not supported');
      return;
    }
    if (habits.garbage !== 'none') {
      this.#sendGarbage();
      return;
    }
    if (habits.replay.length > 0) {
      for (const message of habits.replay) this.#call.send(message);
      if (list.mode === ListMode.ONCE && !habits.keepOnceOpen) this.#call.end(GrpcStatus.ok, '');
      return;
    }
    if (list.mode === ListMode.POLL) {
      this.#sendAll(list);
      return;
    }
    this.#sendAll(list);
    if (list.mode === ListMode.ONCE) {
      if (!habits.keepOnceOpen) this.#call.end(GrpcStatus.ok, '');
      return;
    }
    this.#stream(list, wanted);
  }

  #stream(
    list: SubscriptionListMessage,
    wanted: readonly { path: Path; mode: number; interval: number }[],
  ): void {
    const onChange = wanted.filter(({ mode }) => mode !== SubscriptionMode.SAMPLE);
    if (onChange.length > 0) {
      this.#undo.push(
        this.#target.tree.watch((path, value) => {
          if (onChange.some((each) => coversEither(each.path, path))) this.#change(list, path, value);
        }),
      );
    }
    // One timer an interval: what is sampled together is sent together, however late this process is.
    const sampled = wanted.filter(({ mode }) => mode === SubscriptionMode.SAMPLE);
    for (const [interval, paths] of Map.groupBy(sampled, (each) => Math.max(1, each.interval))) {
      const timer = setInterval(() => {
        for (const { path } of paths) this.#send(list, this.#target.tree.below(path));
      }, interval);
      this.#undo.push(() => clearInterval(timer));
    }
  }

  #wanted(list: SubscriptionListMessage): { path: Path; mode: number; interval: number }[] {
    return list.subscription.map((each) => ({
      path: joinPaths(pathFromMessage(list.prefix), pathFromMessage(each.path)),
      mode: each.mode,
      interval: each.sampleInterval === 0n ? 1_000 : Number(each.sampleInterval / 1_000_000n),
    }));
  }

  #sendAll(list: SubscriptionListMessage): void {
    const { habits } = this.#target;
    const encoding = ENCODING_BY_NUMBER[list.encoding] as TargetEncoding;
    if (!habits.silentEncodings.includes(encoding) && !list.updatesOnly) {
      for (const { path } of this.#wanted(list)) this.#send(list, this.#target.tree.below(path));
    }
    if (!habits.omitSync) {
      this.#call.send(
        toBinary(
          SubscribeResponseSchema,
          create(SubscribeResponseSchema, { response: { case: 'syncResponse', value: true } }),
        ),
      );
    }
  }

  #send(list: SubscriptionListMessage, leaves: ReadonlyArray<{ path: Path; value: LeafValue }>): void {
    const encoding = ENCODING_BY_NUMBER[list.encoding] as TargetEncoding;
    if (this.#target.habits.silentEncodings.includes(encoding)) return;
    const target = list.prefix?.target ?? '';
    for (const each of notificationsOf(leaves, encoding, this.#target.habits, target, this.#timestamp())) {
      this.#sendNotification(each);
    }
  }

  #change(list: SubscriptionListMessage, path: Path, value: LeafValue | undefined): void {
    if (value !== undefined) {
      this.#send(list, [{ path, value }]);
      return;
    }
    this.#sendNotification(
      notificationOf({ timestamp: this.#timestamp(), delete: [pathToMessage({ ...path, origin: '' })] }),
    );
  }

  #sendNotification(notification: NotificationMessage): void {
    this.#call.send(
      toBinary(
        SubscribeResponseSchema,
        create(SubscribeResponseSchema, { response: { case: 'update', value: notification } }),
      ),
    );
  }

  #sendGarbage(): void {
    const { garbage, blobBytes } = this.#target.habits;
    if (garbage === 'bytes') this.#call.send(Uint8Array.from([0xff, 0x00, 0xff, 0x13, 0x37]));
    if (garbage === 'compressed') this.#call.sendRaw(Uint8Array.from([1, 0, 0, 0, 1, 0]));
    if (garbage === 'half-frame') {
      this.#call.sendRaw(Uint8Array.from([0, 0, 0, 1, 0, 0x0a, 0x10]));
      this.#call.end(GrpcStatus.ok, '');
    }
    if (garbage === 'blob') {
      const blob = new Uint8Array(5 + blobBytes);
      new DataView(blob.buffer).setUint32(1, blobBytes);
      this.#call.sendRaw(blob);
    }
    if (garbage === 'endless') {
      const { tree, habits } = this.#target;
      const leaves = tree.below({ origin: '', target: '', elem: [] });
      const frames = notificationsOf(leaves, 'proto', habits, '', this.#timestamp()).map((each) =>
        encodeFrame(
          toBinary(
            SubscribeResponseSchema,
            create(SubscribeResponseSchema, { response: { case: 'update', value: each } }),
          ),
        ),
      );
      const burst = Buffer.concat(Array.from({ length: 50 }, () => frames).flat());
      const pour = (): void => {
        while (this.#call.sendRaw(burst));
        if (!this.#call.isEnded) this.#call.stream.once('drain', pour);
      };
      pour();
    }
  }
}

function coversEither(wanted: Path, changed: Path): boolean {
  const shorter = Math.min(wanted.elem.length, changed.elem.length);
  return wanted.elem.slice(0, shorter).every((elem, depth) => {
    const other = changed.elem[depth];
    if (elem.name !== '*' && elem.name !== other?.name) return false;
    return elem.keys.every(
      ([name, value]) =>
        value === '*' || other?.keys.length === 0 || other?.keys.some(([n, v]) => n === name && v === value),
    );
  });
}
