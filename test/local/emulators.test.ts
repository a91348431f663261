import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TABLES } from '../../contract/tables.ts';
import { dynamodb } from '../../store/clients.ts';
import { decryptSecret, encryptSecret } from '../../store/keyring.ts';
import { type Emulators, runAs, startEmulators } from '../support/stack.ts';

const dataDirectory = mkdtempSync(join(tmpdir(), 'graticule-test-'));
let emulators: Emulators;

beforeAll(async () => {
  emulators = await startEmulators({ dataDirectory });
});

afterAll(async () => {
  await emulators.stop();
  rmSync(dataDirectory, { recursive: true });
});

describe('the emulators of the tests', () => {
  it('answer the API through the real handlers, each in its own name', async () => {
    const answer = await emulators.send({
      method: 'GET',
      path: '/api/engine',
      headers: { authorization: `Bearer ${emulators.token}` },
    });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject({ 'router-id': '10.0.0.1', workers: [] });
    expect(new Set(emulators.guard.counts().map((count) => count.principal))).toEqual(new Set(['engine']));
  });

  it('refuse a call that nobody makes', async () => {
    const call = new PutItemCommand({
      TableName: TABLES.config.name,
      Item: { pk: { S: 'A' }, sk: { S: 'B' } },
    });
    await expect(dynamodb().send(call)).rejects.toThrow('called by nobody');
  });

  it('keep what was written over a restart on the same directory', async () => {
    const place = { owner: 'peer/1', field: 'auth-password' };
    const sealed = await runAs('peers', () => encryptSecret('hunter22', place));
    const key = { pk: { S: 'A' }, sk: { S: 'B' } };
    const written = { TableName: TABLES.config.name, Item: { ...key, sealed: { S: sealed } } };
    await runAs('setup', () => dynamodb().send(new PutItemCommand(written)));
    await emulators.stop();
    emulators = await startEmulators({ as: 'setup', dataDirectory, empty: true });
    const read = await dynamodb().send(new GetItemCommand({ TableName: TABLES.config.name, Key: key }));
    expect(read.Item?.['sealed']?.S).toBe(sealed);
    await expect(runAs('worker', () => decryptSecret(sealed, place))).resolves.toBe('hunter22');
  });

  it('refuse an update that would make an item longer than 400 KB, which the guard cannot foresee', async () => {
    const Key = { pk: { S: 'LONG' }, sk: { S: 'S' } };
    const append = (bytes: number) =>
      runAs('setup', () =>
        dynamodb().send(
          new UpdateItemCommand({
            TableName: TABLES.config.name,
            Key,
            UpdateExpression: 'SET #part = :part',
            ExpressionAttributeNames: { '#part': `part${bytes}` },
            ExpressionAttributeValues: { ':part': { S: 'x'.repeat(bytes) } },
          }),
        ),
      );
    await append(200_000);
    await append(200_001);
    await expect(append(10_000)).rejects.toMatchObject({ name: 'ValidationException' });
  });

  it('are fresh once a process, since handlers and clients remember', async () => {
    await expect(startEmulators()).rejects.toThrow('one data directory');
  });
});
