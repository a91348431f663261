import type { Socket } from 'node:net';
import { toBinary } from '@bufbuild/protobuf';
import { afterEach, describe, expect, it } from 'vitest';
import { decodeSubscribeResponse } from '../../../protocols/gnmi/notification.ts';
import { SubscribeResponseSchema } from '../../../protocols/gnmi/schema.ts';
import { encodeSubscribeRequest, groupSubscriptions } from '../../../protocols/gnmi/subscribe.ts';
import { ErrorCode, FrameType, FrameWriter } from '../../../protocols/http2/frame.ts';
import { type Channel, type ChannelOptions, openChannel } from '../../../worker/gnmi/channel.ts';
import type { RpcEnd } from '../../../worker/gnmi/grpc-call.ts';
import { responseOf } from '../../protocols/gnmi/full-decoder.ts';
import { readCaptures } from '../../support/gnmi-captures.ts';
import { makeCertificates } from '../../support/gnmi-target/certificates.ts';
import { allowAll, endpointOf } from '../../support/gnmi-target/endpoint.ts';
import { addInterfaces } from '../../support/gnmi-target/interfaces.ts';
import { GnmiTarget, type TargetOptions } from '../../support/gnmi-target/target.ts';
import { startTcpStub } from '../../support/gnmi-target/tcp-stub.ts';
import { pathOf } from '../../support/gnmi-target/tree.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** A server by hand: what it says first, and what it says when a request has come. */
async function openTo(first: Uint8Array, then: (socket: Socket) => void = () => undefined) {
  const stub = await startTcpStub((socket) => {
    socket.write(first);
    let received = '';
    socket.on('data', (chunk) => {
      const hasAsked = received.includes('/gnmi.gNMI/');
      received += chunk.toString('latin1');
      if (!hasAsked && received.includes('/gnmi.gNMI/')) then(socket);
    });
  });
  stops.push(stub.stop);
  const opened = await openChannel(endpointOf(stub.port), { guard: allowAll, connectMilliseconds: 2_000 });
  if ('channel' in opened) stops.push(() => opened.channel.close());
  return opened;
}

function framesOf(write: (writer: FrameWriter) => void): Uint8Array {
  const writer = new FrameWriter();
  write(writer);
  return writer.take() ?? new Uint8Array(0);
}

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

  it('closes its connection behind the last RPC after a GOAWAY', async () => {
    const { target, channel } = await connect();
    let seen = 0;
    const { rpc } = subscribe(channel, 'stream', () => {
      seen += 1;
    });
    await until(() => seen === 4);
    target.goAway(0);
    await until(() => !channel.isUsable);
    const gone = new Promise<void>((done) => {
      channel.onClose = done;
    });
    rpc.cancel();
    await gone;
    await until(() => target.connections === 0);
  });

  it('carries what a stream has over TLS, and stops it by its window there too', async () => {
    const { ca, server } = makeCertificates();
    const target = await GnmiTarget.start({ tls: server, habits: { garbage: 'endless' } });
    stops.push(() => target.stop());
    addInterfaces(target.tree, 3);
    const endpoint = endpointOf(target.port, { tls: 'verify', ca });
    const opened = await openChannel(endpoint, { guard: allowAll, connectMilliseconds: 5_000 });
    if ('fault' in opened) throw new Error(opened.fault.detail);
    stops.push(() => opened.channel.close());
    let received = 0;
    const { rpc } = subscribe(opened.channel, 'stream', (bytes) => {
      received += bytes.length;
    });
    await until(() => received > 4 * 1024 * 1024);
    rpc.pause();
    const paused = received;
    for (let turn = 0; turn < 2_000; turn += 1) await new Promise((done) => setImmediate(done));
    expect(received - paused).toBeLessThanOrEqual(1024 * 1024);
    rpc.resume();
    await until(() => received > paused + 2 * 1024 * 1024);
    rpc.cancel();
  });

  it('sends no request whose password cannot be in a header', async () => {
    const target = await GnmiTarget.start();
    stops.push(() => target.stop());
    const endpoint = endpointOf(target.port, { username: 'admin', password: 'läß\u2020' });
    const opened = await openChannel(endpoint, { guard: allowAll, connectMilliseconds: 2_000 });
    if ('fault' in opened) throw new Error(opened.fault.detail);
    stops.push(() => opened.channel.close());
    const { ended } = subscribe(opened.channel, 'once', () => undefined);
    expect((await ended).fault).toEqual({
      code: 'authentication',
      detail: 'user name or password cannot be sent in a header',
    });
    expect(opened.channel.running).toBe(0);
    expect(target.log.filter(({ event }) => event === 'rpc')).toEqual([]);
  });

  it('says that what answers does not speak HTTP/2', async () => {
    const opened = await openTo(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(opened).toMatchObject({
      fault: {
        code: 'protocol-error',
        detail: expect.stringMatching(/does not speak HTTP\/2: .*SETTINGS; does it want TLS\?$/),
      },
    });
  });

  it.each([
    ['unreachable', ErrorCode.refusedStream, 'takes no more streams (RST_STREAM REFUSED_STREAM)'],
    ['unreachable', ErrorCode.cancel, 'cancelled the RPC'],
    ['protocol-error', ErrorCode.internalError, 'without a status (RST_STREAM INTERNAL_ERROR)'],
  ])('is %s for RST_STREAM %i', async (code, reset, detail) => {
    const opened = await openTo(
      framesOf((writer) => writer.settings([])),
      (socket) => socket.write(framesOf((writer) => writer.resetStream(1, reset))),
    );
    if ('fault' in opened) throw new Error(opened.fault.detail);
    const { ended } = subscribe(opened.channel, 'stream', () => undefined);
    expect((await ended).fault).toMatchObject({ code, detail: expect.stringContaining(detail) });
    expect(opened.channel.isUsable).toBe(true);
  });

  it('ends the connection, and says why, when what comes later is no HTTP/2', async () => {
    const opened = await openTo(
      framesOf((writer) => writer.settings([])),
      (socket) => socket.write(framesOf((writer) => writer.frame(FrameType.data, 0, 0, Uint8Array.of(1)))),
    );
    if ('fault' in opened) throw new Error(opened.fault.detail);
    const { ended } = subscribe(opened.channel, 'stream', () => undefined);
    expect((await ended).fault).toMatchObject({
      code: 'protocol-error',
      detail: expect.stringContaining('PROTOCOL_ERROR: DATA on stream 0'),
    });
    expect(opened.channel.isUsable).toBe(false);
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
