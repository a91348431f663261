import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeleteMessageCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENV } from '../../contract/env.ts';
import { LIMITS } from '../../contract/limits.ts';
import { sqs } from '../../store/clients.ts';
import { putObject, readObject } from '../../store/object-store.ts';
import { type Emulators, runAs, startEmulators } from '../support/stack.ts';

const dataDirectory = mkdtempSync(join(tmpdir(), 'graticule-test-'));
let emulators: Emulators;

beforeAll(async () => {
  emulators = await startEmulators({ dataDirectory, empty: true });
});

afterAll(async () => {
  await emulators.stop();
  rmSync(dataDirectory, { recursive: true });
});

const queue = () => process.env[ENV.deliveriesQueue] as string;
const send = (body: string) =>
  runAs('worker', () => sqs().send(new SendMessageCommand({ QueueUrl: queue(), MessageBody: body })));
const receive = async () =>
  (
    await runAs('deliver-webhook', () =>
      sqs().send(new ReceiveMessageCommand({ QueueUrl: queue(), WaitTimeSeconds: 1 })),
    )
  ).Messages?.[0];

describe('the SQS and S3 of the local run', () => {
  it('keep messages and objects over a restart', async () => {
    const object = { bucket: process.env[ENV.payloadsBucket] as string, key: 'a/b' };
    await runAs('worker', () => putObject(object, Buffer.from([0, 255])));
    await send('kept');
    await emulators.stop();
    emulators = await startEmulators({ dataDirectory, empty: true });
    const message = await receive();
    expect(message?.Body).toBe('kept');
    const read = await runAs('deliver-webhook', () => readObject(object));
    expect(read).toEqual(new Uint8Array([0, 255]));
    await runAs('deliver-webhook', () =>
      sqs().send(new DeleteMessageCommand({ QueueUrl: queue(), ReceiptHandle: message?.ReceiptHandle })),
    );
  });

  it('refuse a message over the limit and a caller without a grant', async () => {
    await expect(send('x'.repeat(LIMITS.messageBytes + 1))).rejects.toThrow('must be shorter');
    const call = () => sqs().send(new SendMessageCommand({ QueueUrl: queue(), MessageBody: 'x' }));
    await expect(runAs('peers', call)).rejects.toThrow('not authorized to perform: sqs:SendMessage');
    const object = { bucket: process.env[ENV.payloadsBucket] as string, key: 'a' };
    const put = () => putObject(object, Buffer.from('x'));
    await expect(runAs('peers', put)).rejects.toThrow('not authorized to perform: s3:PutObject');
  });

  it('listen on loopback alone', async () => {
    const { port } = new URL(process.env['AWS_ENDPOINT_URL_SQS'] as string);
    const outside = Object.values(networkInterfaces())
      .flat()
      .filter((address) => address !== undefined && !address.internal && address.family === 'IPv4');
    for (const address of outside) {
      const reached = await new Promise<boolean>((resolve) => {
        const connection = createConnection({ host: address?.address as string, port: Number(port) });
        connection.once('connect', () => resolve(connection.destroy() && true));
        connection.once('error', () => resolve(false));
      });
      expect(reached).toBe(false);
    }
  });
});
