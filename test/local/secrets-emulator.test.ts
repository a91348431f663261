import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateSecretCommand,
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  ResourceExistsException,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../../contract/limits.ts';
import { type SecretsEmulator, startSecretsEmulator } from '../../local/secrets-emulator.ts';

let directory: string;
let path: string;
let emulator: SecretsEmulator;
let client: SecretsManagerClient;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'graticule-secrets-'));
  path = join(directory, 'secrets.json');
  emulator = await startSecretsEmulator(path);
  client = clientOf(emulator, emulator.accessKeyId);
});

afterEach(async () => {
  client.destroy();
  await emulator.stop();
  rmSync(directory, { recursive: true });
});

function clientOf({ endpoint }: SecretsEmulator, accessKeyId: string): SecretsManagerClient {
  return new SecretsManagerClient({
    endpoint,
    region: 'local',
    credentials: { accessKeyId, secretAccessKey: 'x' },
    maxAttempts: 1,
  });
}

const create = (Name: string, SecretString: string) =>
  client.send(new CreateSecretCommand({ Name, SecretString }));
const get = (SecretId: string, VersionStage?: string) =>
  client.send(
    new GetSecretValueCommand({ SecretId, ...(VersionStage === undefined ? {} : { VersionStage }) }),
  );

describe('the stand-in for Secrets Manager', () => {
  it('gives back a secret by its name and by its ARN', async () => {
    const { ARN } = await create('ring', 'one');
    expect((await get('ring')).SecretString).toBe('one');
    const byArn = await get(ARN ?? '');
    expect(byArn).toMatchObject({ Name: 'ring', SecretString: 'one', VersionStages: ['AWSCURRENT'] });
    expect(byArn.CreatedDate).toBeInstanceOf(Date);
  });

  it('gives back bytes', async () => {
    const SecretBinary = new Uint8Array([0, 255, 128]);
    await client.send(new CreateSecretCommand({ Name: 'bytes', SecretBinary }));
    expect((await get('bytes')).SecretBinary).toEqual(SecretBinary);
  });

  it('does not make a secret twice, and answers a retry of the same call again', async () => {
    const call = { Name: 'ring', SecretString: 'one', ClientRequestToken: 'a'.repeat(32) };
    const first = await client.send(new CreateSecretCommand(call));
    const again = await client.send(new CreateSecretCommand(call));
    expect(again.VersionId).toBe(first.VersionId);
    await expect(create('ring', 'two')).rejects.toBeInstanceOf(ResourceExistsException);
    expect((await get('ring')).SecretString).toBe('one');
  });

  it('keeps the version before the current one', async () => {
    await create('ring', 'one');
    await client.send(new PutSecretValueCommand({ SecretId: 'ring', SecretString: 'two' }));
    expect((await get('ring')).SecretString).toBe('two');
    expect((await get('ring', 'AWSPREVIOUS')).SecretString).toBe('one');
    const { VersionIdsToStages } = await client.send(new DescribeSecretCommand({ SecretId: 'ring' }));
    expect(
      Object.values(VersionIdsToStages ?? {})
        .flat()
        .sort(),
    ).toEqual(['AWSCURRENT', 'AWSPREVIOUS']);
  });

  it('says that it has no such secret as the service does', async () => {
    await expect(get('none')).rejects.toBeInstanceOf(ResourceNotFoundException);
  });

  it('takes 65,536 bytes and no more', async () => {
    await create('long', 'x'.repeat(LIMITS.secretBytes));
    await expect(create('longer', 'x'.repeat(LIMITS.secretBytes + 1))).rejects.toMatchObject({
      name: 'ValidationException',
    });
  });

  it('tells nothing to a caller without the key of this data directory', async () => {
    await create('ring', 'one');
    const stranger = clientOf(emulator, 'AKIAIOSFODNN7EXAMPLE');
    await expect(stranger.send(new GetSecretValueCommand({ SecretId: 'ring' }))).rejects.toMatchObject({
      name: 'UnrecognizedClientException',
    });
    stranger.destroy();
  });

  it('has everything on the disk, for its owner alone, before it answers', async () => {
    await create('ring', 'one');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toContain('"one"');
    expect(readdirSync(directory)).toEqual(['secrets.json']);
    await emulator.stop();
    emulator = await startSecretsEmulator(path);
    client.destroy();
    client = clientOf(emulator, emulator.accessKeyId);
    expect((await get('ring')).SecretString).toBe('one');
  });
});
