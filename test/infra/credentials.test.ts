import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { defaultProvider } from '../../store/credentials.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('the credentials of a bundle', () => {
  it('are those in the environment, as Lambda gives them', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'id-of-the-role');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
    vi.stubEnv('AWS_SESSION_TOKEN', 'session');
    expect(await defaultProvider()()).toMatchObject({
      accessKeyId: 'id-of-the-role',
      secretAccessKey: 'secret',
      sessionToken: 'session',
    });
  });

  it('else come over HTTP, as Fargate gives them, with their end', async () => {
    const expiration = new Date(Date.now() + 3_600_000).toISOString();
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          AccessKeyId: 'id-of-the-task',
          SecretAccessKey: 'secret',
          Token: 'session',
          Expiration: expiration,
        }),
      );
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
    vi.stubEnv(
      'AWS_CONTAINER_CREDENTIALS_FULL_URI',
      `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/credentials`,
    );
    const credentials = await defaultProvider()();
    server.close();
    expect(credentials).toMatchObject({ accessKeyId: 'id-of-the-task', sessionToken: 'session' });
    expect(credentials.expiration?.toISOString()).toBe(expiration);
  });

  it('are nowhere else looked for', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
    vi.stubEnv('AWS_PROFILE', 'somebody');
    await expect(defaultProvider()()).rejects.toThrow('AWS_CONTAINER_CREDENTIALS');
  });
});
