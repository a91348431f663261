import { toBinary } from '@bufbuild/protobuf';
import { afterEach, describe, expect, it } from 'vitest';
import { decodeSubscribeResponse } from '../../../protocols/gnmi/notification.ts';
import { SubscribeResponseSchema } from '../../../protocols/gnmi/schema.ts';
import { encodeSubscribeRequest, groupSubscriptions } from '../../../protocols/gnmi/subscribe.ts';
import { type Channel, type ChannelOptions, openChannel } from '../../../worker/gnmi/channel.ts';
import type { RpcEnd } from '../../../worker/gnmi/grpc-call.ts';
import { responseOf } from '../../protocols/gnmi/full-decoder.ts';
import { readCaptures } from '../../support/gnmi-captures.ts';
import { allowAll, endpointOf } from '../../support/gnmi-target/endpoint.ts';
import { addInterfaces } from '../../support/gnmi-target/interfaces.ts';
import { GnmiTarget, type TargetOptions } from '../../support/gnmi-target/target.ts';
import { pathOf } from '../../support/gnmi-target/tree.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function connect(options: TargetOptions = {}, channelOptions: Partial<ChannelOptions> = {}) {
  const target = await GnmiTarget.start(options);
  stops.push(() => target.stop());
  addInterfaces(target.tree, 3);
  const opened = await openChannel(endpointOf(target.port), {
    guard: allowAll,
    connectMilliseconds: 2_000,
    ...channelOptions,
  });
  if ('fault' in opened) throw new Error(opened.fault.detail);
  stops.push(() => opened.channel.close());
  return { target, channel: opened.channel };
}

function subscribe(
  channel: Channel,
  listMode: 'stream' | 'once' | 'poll',
  onMessage: (bytes: Uint8Array) => void,
  deadlineMilliseconds = 0,
) {
  const [group] = groupSubscriptions(
    [{ path: pathOf('/interfaces'), mode: 'on-change', intervalMilliseconds: 0, heartbeatMilliseconds: 0 }],
    listMode,
    'srlinux',
  );
  if (group === undefined) throw new Error('no group');
  let rpc = undefined as unknown as ReturnType<Channel['start']>;
  const ended = new Promise<RpcEnd>((done) => {
    rpc = channel.start('Subscribe', deadlineMilliseconds, {
      onMessage: (bytes, _view, start, end) => onMessage(bytes.slice(start, end)),
      onEnd: done,
    });
  });
  rpc.send(encodeSubscribeRequest(group, 'proto', ''));
  return { rpc, ended };
}

const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await new Promise((done) => setImmediate(done));
};

describe('a channel', () => {
  const captures = readCaptures();
  if (captures === undefined) console.log('skipped: GRATICULE_VECTORS is not set, no captures to replay');

  it.skipIf(captures === undefined)('brings the public captures over gRPC as they were sent', async () => {
    const { target, channel } = await connect();
    for (const capture of captures ?? []) {
      target.habits.replay = capture.responses.map((message) => toBinary(SubscribeResponseSchema, message));
      const got: unknown[] = [];
      const { ended } = subscribe(channel, 'once', (bytes) => got.push(decodeSubscribeResponse(bytes)));
      expect((await ended).fault, capture.name).toBeUndefined();
      expect(got, capture.name).toEqual(capture.responses.map(responseOf));
    }
  });

  it('carries POLL: one set of values and a sync for each poll', async () => {
    const { channel, target } = await connect();
    const kinds: string[] = [];
    const { rpc } = subscribe(channel, 'poll', (bytes) => kinds.push(decodeSubscribeResponse(bytes).kind));
    await until(() => kinds.at(-1) === 'sync');
    target.tree.remove('/interfaces/interface[name=ethernet-1/2]');
    kinds.length = 0;
    const { encodePoll } = await import('../../../protocols/gnmi/subscribe.ts');
    rpc.send(encodePoll());
    await until(() => kinds.at(-1) === 'sync');
    expect(kinds).toEqual(['notification', 'notification', 'sync']);
  });

  it('carries ON_CHANGE: updates and deletes as they happen', async () => {
    const { channel, target } = await connect();
    const seen: ReturnType<typeof decodeSubscribeResponse>[] = [];
    subscribe(channel, 'stream', (bytes) => seen.push(decodeSubscribeResponse(bytes)));
    await until(() => seen.at(-1)?.kind === 'sync');
    seen.length = 0;
    target.tree.set('/interfaces/interface[name=ethernet-1/1]/state/oper-status', 'DOWN');
    target.tree.remove('/interfaces/interface[name=ethernet-1/2]');
    await until(() => seen.length === 2);
    expect(seen).toMatchObject([
      { notification: { updates: [{ value: { kind: 'string', value: 'DOWN' } }] } },
      { notification: { updates: [], deletes: [{ elem: [{}, { keys: [['name', 'ethernet-1/2']] }] }] } },
    ]);
  });

  it('stops an endless target by not reading, and holds no more than its window meanwhile', async () => {
    const { channel } = await connect({ habits: { garbage: 'endless' } });
    let received = 0;
    const { rpc, ended } = subscribe(channel, 'stream', (bytes) => {
      received += bytes.length;
    });
    await until(() => received > 2 * 1024 * 1024);
    rpc.pause();
    const paused = received;
    // Everything that is still under way arrives while other work goes on for a while.
    for (let turn = 0; turn < 3_000; turn += 1) await new Promise((done) => setImmediate(done));
    expect(received - paused).toBeLessThanOrEqual(1024 * 1024);
    rpc.resume();
    await until(() => received > paused + 4 * 1024 * 1024);
    rpc.cancel();
    expect((await ended).status).toBe(1);
  });

  it('keeps what comes while it is paused, and the end of it', async () => {
    const { target, channel } = await connect();
    let messages = 0;
    const { rpc, ended } = subscribe(channel, 'once', () => {
      messages += 1;
      // Whoever takes a message may pause again.
      if (messages === 2) rpc.pause();
    });
    let isEnded = false;
    void ended.then(() => {
      isEnded = true;
    });
    const quiet = async () => {
      for (let turn = 0; turn < 200; turn += 1) await new Promise((done) => setImmediate(done));
    };
    rpc.pause();
    await until(() => target.log.some(({ event }) => event === 'rpc'));
    await quiet();
    expect([messages, isEnded]).toEqual([0, false]);
    rpc.resume();
    await quiet();
    expect(isEnded).toBe(false);
    rpc.resume();
    expect((await ended).fault).toBeUndefined();
    expect(messages).toBe(4);
  });

  it('does not let one paused stream stop another', async () => {
    const { target, channel } = await connect({ habits: { garbage: 'endless' } });
    let received = 0;
    const first = subscribe(channel, 'stream', (bytes) => {
      received += bytes.length;
    });
    await until(() => received > 100_000);
    first.rpc.pause();
    target.habits.garbage = 'none';
    let updates = 0;
    const second = subscribe(channel, 'once', () => {
      updates += 1;
    });
    expect((await second.ended).fault).toBeUndefined();
    expect(updates).toBe(4);
    first.rpc.cancel();
  });

  it('ends an RPC at its deadline', async () => {
    const { channel } = await connect({ habits: { frozen: true } });
    const { ended } = subscribe(channel, 'stream', () => undefined, 100);
    expect((await ended).fault?.code).toBe('timeout');
  });

  it('ends its RPCs when the target goes, and is not usable then', async () => {
    const { target, channel } = await connect();
    const { ended } = subscribe(channel, 'stream', () => undefined);
    await until(() => target.log.some(({ event }) => event === 'rpc'));
    target.disconnect();
    expect((await ended).fault?.code).toBe('unreachable');
    expect(channel.isUsable).toBe(false);
  });

  it('lets running RPCs end after a GOAWAY without error, and starts none', async () => {
    const { target, channel } = await connect();
    let seen = 0;
    subscribe(channel, 'stream', () => {
      seen += 1;
    });
    await until(() => seen === 4);
    target.goAway(0);
    await until(() => !channel.isUsable);
    target.tree.set('/interfaces/interface[name=ethernet-1/1]/state/oper-status', 'DOWN');
    await until(() => seen === 5);
  });

  it('says that it was told to calm down', async () => {
    const { target, channel } = await connect();
    const { ended } = subscribe(channel, 'stream', () => undefined);
    await until(() => target.log.some(({ event }) => event === 'rpc'));
    target.goAway(11);
    expect((await ended).fault).toMatchObject({
      code: 'unreachable',
      detail: expect.stringContaining('calm'),
    });
  });

  it('gives up a target that answers no PING', async () => {
    const { target, channel } = await connect(
      {},
      { pingAfterQuietMilliseconds: 50, pingAnswerMilliseconds: 1 },
    );
    // A PING is answered by the HTTP/2 layer; here its answer only comes too late.
    const gone = new Promise<void>((done) => {
      channel.onClose = done;
    });
    expect(target.connections).toBe(1);
    const blocked = performance.now() + 120;
    while (performance.now() < blocked);
    await gone;
    expect(channel.isUsable).toBe(false);
  });
});
