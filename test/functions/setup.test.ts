import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  CreateSecretCommand,
  GetSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ENV } from '../../contract/env.ts';
import { handler } from '../../functions/setup.ts';
import { secretsManager } from '../../store/clients.ts';
import { type Emulators, runAs, startEmulators } from '../support/stack.ts';

let emulators: Emulators;
let cloudFormation: Server;
let answers: Record<string, unknown>[] = [];

beforeAll(async () => {
  emulators = await startEmulators({ empty: true });
  // As the infrastructure does: the secret is there, without a value. No principal of ours may make it.
  const infrastructure = new SecretsManagerClient({});
  await infrastructure.send(new CreateSecretCommand({ Name: 'graticule-token', SecretString: '' }));
  infrastructure.destroy();
  cloudFormation = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => {
      answers.push({ ...JSON.parse(text), contentType: request.headers['content-type'] });
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(cloudFormation, 'listening');
});

afterAll(async () => {
  cloudFormation.close();
  await emulators.stop();
});

/** Calls the handler as CloudFormation does; what it was answered. */
async function call(RequestType: 'Create' | 'Update' | 'Delete'): Promise<Record<string, unknown>> {
  answers = [];
  const event = {
    RequestType,
    StackId: 'a-stack',
    RequestId: 'a-request',
    LogicalResourceId: 'Written',
    ResponseURL: `http://127.0.0.1:${(cloudFormation.address() as AddressInfo).port}/answer`,
  };
  await runAs('setup', () => handler(event as unknown as CloudFormationCustomResourceEvent));
  expect(answers).toHaveLength(1);
  return answers[0] as Record<string, unknown>;
}

async function storedToken(): Promise<string> {
  const answer = await runAs('setup', () =>
    secretsManager().send(new GetSecretValueCommand({ SecretId: 'graticule-token' })),
  );
  return answer.SecretString ?? '';
}

async function statusWith(token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await emulators.send({ method: 'GET', path: '/api/v1/tokens', headers })).status;
}

describe('the set-up that CloudFormation calls', () => {
  it('gives an empty stack its keyring, settings and a token that the API takes', async () => {
    vi.stubEnv(ENV.tokenSecret, 'graticule-token');
    vi.stubEnv(ENV.routerId, '10.9.8.7');
    expect(await call('Create')).toEqual({
      Status: 'SUCCESS',
      Reason: '',
      PhysicalResourceId: 'graticule-first-values',
      StackId: 'a-stack',
      RequestId: 'a-request',
      LogicalResourceId: 'Written',
      contentType: undefined,
    });
    const token = await storedToken();
    expect(token).toMatch(/^grt_[A-Za-z0-9_-]{43}$/);
    expect(await statusWith(token)).toBe(200);
    const engine = await emulators.send({
      method: 'GET',
      path: '/api/engine',
      headers: { authorization: `Bearer ${token}` },
    });
    expect(JSON.parse(engine.text)['router-id']).toBe('10.9.8.7');
  });

  it('changes nothing when it runs again, nor when the stack goes', async () => {
    const token = await storedToken();
    vi.stubEnv(ENV.routerId, '10.1.1.1');
    for (const type of ['Update', 'Delete'] as const) {
      expect(await call(type)).toMatchObject({ Status: 'SUCCESS' });
      expect(await storedToken()).toBe(token);
      expect(await statusWith(token)).toBe(200);
    }
  });

  it('answers a failure, too, and tells nothing of its inside', async () => {
    vi.stubEnv(ENV.tokenSecret, 'a-secret-that-is-not-ours');
    const answer = await call('Update');
    expect(answer).toMatchObject({ Status: 'FAILED', PhysicalResourceId: 'graticule-first-values' });
    expect(answer['Reason']).toMatch(/^\w+: see the log of this function$/);
  });
});
