import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Plan, Step } from '../../cli/plan-steps.ts';
import { parseSecretReference } from '../../cli/secret-reference.ts';
import { resolveSecrets } from '../../cli/secret-values.ts';
import { readManagedSecret } from '../../cli/secrets-manager.ts';
import { startSecretsEmulator } from '../../local/secrets-emulator.ts';

let folder: string;
let emulator: Awaited<ReturnType<typeof startSecretsEmulator>>;
const NEVER = new AbortController().signal;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'graticule-secrets-'));
  emulator = await startSecretsEmulator(join(folder, 'secrets.json'));
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SECRETS_MANAGER: emulator.endpoint,
    AWS_REGION: 'local',
    AWS_ACCESS_KEY_ID: emulator.accessKeyId,
    AWS_SECRET_ACCESS_KEY: emulator.accessKeyId,
  });
  const client = new SecretsManagerClient({});
  const put = (Name: string, SecretString: string) =>
    client.send(new CreateSecretCommand({ Name, SecretString }));
  await put('plain', 'a-plain-secret');
  await put('members', '{"password":"a-member","port":161}');
});

afterAll(async () => {
  await emulator.stop();
  rmSync(folder, { recursive: true });
});

/** What a peer's password becomes from a reference, or what is wrong with it. */
async function resolved(value: object, environment: Record<string, string> = {}): Promise<string> {
  const reference = parseSecretReference(value);
  if (typeof reference === 'string') return reference;
  const place = { file: 'g.yaml', line: 1, column: 1 };
  const body = {
    name: 'a',
    'peer-address': '192.0.2.1',
    'user-peer-as': '65001',
    'auth-password': '********',
  };
  const secrets = new Map([['auth-password', { reference, place }]]);
  const step = { kind: 'peer', body, secrets } as unknown as Step;
  const { mistakes, fill } = await resolveSecrets({ steps: [step] } as unknown as Plan, {
    environment,
    readManaged: (id) => readManagedSecret(id, NEVER),
  });
  return mistakes[0]?.sentence ?? String(fill(step, body)['auth-password']);
}

describe('references to secrets', () => {
  it('are looked up in the environment', async () => {
    expect(await resolved({ env: 'KEY' }, { KEY: 'value' })).toBe('value');
    expect(await resolved({ env: 'KEY' })).toBe('the environment variable KEY is not set');
    expect(await resolved({ env: 'KEY' }, { KEY: '' })).toBe('the environment variable KEY is empty');
    expect(await resolved({ env: 'KEY' }, { KEY: 'x'.repeat(81) })).toBe(
      'what env KEY holds does not do: auth-password is at most 80 bytes (TCP-MD5)',
    );
  });

  it('are looked up in AWS Secrets Manager, whole or a member of their JSON', async () => {
    expect(await resolved({ 'secrets-manager': 'plain' })).toBe('a-plain-secret');
    expect(await resolved({ 'secrets-manager': 'members', key: 'password' })).toBe('a-member');
    expect(await resolved({ 'secrets-manager': 'members', key: 'port' })).toBe(
      'the secret members has no text under port',
    );
    expect(await resolved({ 'secrets-manager': 'plain', key: 'password' })).toBe(
      'the secret plain is not JSON, so it has no password',
    );
    expect(await resolved({ 'secrets-manager': 'absent' })).toBe(
      'there is no secret absent in this account and region',
    );
  });

  it('name one place, and nothing else', async () => {
    expect(await resolved({})).toContain('name one place');
    expect(await resolved({ env: 'A', 'secrets-manager': 'b' })).toContain('name one place');
    expect(await resolved({ env: 'A', key: 'b' })).toBe('key belongs to secrets-manager');
    expect(await resolved({ env: 'not a name' })).toContain('letters, digits and _');
    expect(await resolved({ 'secrets-manager': 'a', kye: 'b' })).toContain('kye is no member of a reference');
  });
});
