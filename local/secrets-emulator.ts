import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { LIMITS } from '../contract/limits.ts';
import { writeDurably } from './durable-file.ts';

/**
 * A stand-in for AWS Secrets Manager: the four calls that the product makes, over the same wire (AWS JSON 1.1), kept in
 * one file. DynamoDB's emulator keeps only what was encrypted; the keys are here and nowhere else.
 */
export interface SecretsEmulator {
  /** For AWS_ENDPOINT_URL_SECRETS_MANAGER. */
  readonly endpoint: string;
  /**
   * The access key id that callers must sign with. Made once a data directory and readable by its owner alone, so that
   * other users of this machine, who can reach the port, still cannot read the keys.
   */
  readonly accessKeyId: string;
  stop(): Promise<void>;
}

interface SecretVersion {
  readonly id: string;
  readonly string?: string;
  /** Base64, as on the wire. */
  readonly binary?: string;
  /** Seconds since 1970, as on the wire. */
  readonly created: number;
}

interface Secret {
  readonly current: SecretVersion;
  readonly previous: SecretVersion | null;
}

interface SecretsFile {
  readonly v: 1;
  readonly accessKeyId: string;
  secrets: Record<string, Secret>;
}

type Input = Readonly<Record<string, unknown>>;

class SecretsError extends Error {
  readonly type: string;
  constructor(type: string, message: string) {
    super(message);
    this.type = type;
  }
}

/** Reads or begins the file and listens on a free port of 127.0.0.1. */
export async function startSecretsEmulator(path: string, port = 0): Promise<SecretsEmulator> {
  const file = readSecretsFile(path);
  const server = createServer((request, response) => {
    void (async () => {
      let status = 200;
      let answer: unknown;
      try {
        authorize(request, file.accessKeyId);
        const operation = String(request.headers['x-amz-target'] ?? '').replace(/^secretsmanager\./, '');
        answer = operate(file, operation, JSON.parse(await bodyOf(request)) as Input, () =>
          writeDurably(path, `${JSON.stringify(file)}\n`),
        );
      } catch (error) {
        const known = error instanceof SecretsError;
        status = known ? 400 : 500;
        answer = {
          __type: known ? error.type : 'InternalServiceError',
          message: known ? error.message : 'the stand-in failed',
        };
      }
      response.writeHead(status, {
        'content-type': 'application/x-amz-json-1.1',
        'x-amzn-requestid': randomUUID(),
      });
      response.end(JSON.stringify(answer));
    })();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the secrets stand-in has no port');
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    accessKeyId: file.accessKeyId,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function readSecretsFile(path: string): SecretsFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    // Upper-case hexadecimal: a DynamoDB emulator named by the user may ask for letters and digits alone.
    const made: SecretsFile = {
      v: 1,
      accessKeyId: `LOCAL${randomBytes(16).toString('hex').toUpperCase()}`,
      secrets: {},
    };
    writeDurably(path, `${JSON.stringify(made)}\n`);
    return made;
  }
  const file = JSON.parse(text) as SecretsFile;
  if (file.v !== 1) throw new Error(`${path} is of version ${file.v}; this program reads version 1`);
  return file;
}

function operate(file: SecretsFile, operation: string, input: Input, save: () => void): unknown {
  switch (operation) {
    case 'CreateSecret':
      return createSecret(file, input, save);
    case 'PutSecretValue':
      return putSecretValue(file, input, save);
    case 'GetSecretValue':
      return getSecretValue(file, input);
    case 'DescribeSecret':
      return describeSecret(file, input);
    default:
      throw new SecretsError('InvalidRequestException', `the stand-in has no ${operation}`);
  }
}

function createSecret(file: SecretsFile, input: Input, save: () => void): unknown {
  const name = text(input, 'Name');
  const version = versionOf(input);
  const existing = file.secrets[name];
  if (existing !== undefined && !sameVersion(existing.current, version)) {
    throw new SecretsError(
      'ResourceExistsException',
      `The operation failed because the secret ${name} already exists.`,
    );
  }
  if (existing === undefined) {
    file.secrets[name] = { current: version, previous: null };
    save();
  }
  return { ARN: arn(name), Name: name, VersionId: version.id };
}

function putSecretValue(file: SecretsFile, input: Input, save: () => void): unknown {
  const { name, secret } = find(file, input);
  const version = versionOf(input);
  const known = [secret.current, secret.previous].find((other) => other?.id === version.id);
  if (known != null && !sameVersion(known, version)) {
    throw new SecretsError('ResourceExistsException', `The version ${version.id} exists with another value.`);
  }
  // The same token with the same value is a retry of a call that was done: Secrets Manager answers it again.
  if (known == null) {
    file.secrets[name] = { current: version, previous: secret.current };
    save();
  }
  return { ARN: arn(name), Name: name, VersionId: version.id, VersionStages: ['AWSCURRENT'] };
}

function getSecretValue(file: SecretsFile, input: Input): unknown {
  const { name, secret } = find(file, input);
  const wantsPrevious =
    input['VersionStage'] === 'AWSPREVIOUS' ||
    (secret.previous !== null && input['VersionId'] === secret.previous.id);
  const version = wantsPrevious ? secret.previous : secret.current;
  if (version === null || (input['VersionId'] !== undefined && input['VersionId'] !== version.id)) {
    throw new SecretsError(
      'ResourceNotFoundException',
      "Secrets Manager can't find the specified secret value.",
    );
  }
  return {
    ARN: arn(name),
    Name: name,
    VersionId: version.id,
    VersionStages: [wantsPrevious ? 'AWSPREVIOUS' : 'AWSCURRENT'],
    CreatedDate: version.created,
    ...(version.string === undefined ? {} : { SecretString: version.string }),
    ...(version.binary === undefined ? {} : { SecretBinary: version.binary }),
  };
}

function describeSecret(file: SecretsFile, input: Input): unknown {
  const { name, secret } = find(file, input);
  const stages: Record<string, string[]> = { [secret.current.id]: ['AWSCURRENT'] };
  if (secret.previous !== null) stages[secret.previous.id] = ['AWSPREVIOUS'];
  return { ARN: arn(name), Name: name, VersionIdsToStages: stages };
}

function versionOf(input: Input): SecretVersion {
  const string = input['SecretString'];
  const binary = input['SecretBinary'];
  if ((typeof string === 'string') === (typeof binary === 'string')) {
    throw new SecretsError('InvalidParameterException', 'Give SecretString or SecretBinary, one of them.');
  }
  const bytes =
    typeof string === 'string' ? Buffer.byteLength(string) : Buffer.from(String(binary), 'base64').length;
  if (bytes > LIMITS.secretBytes) {
    throw new SecretsError(
      'ValidationException',
      `The secret value is longer than ${LIMITS.secretBytes} bytes.`,
    );
  }
  return {
    id: typeof input['ClientRequestToken'] === 'string' ? input['ClientRequestToken'] : randomUUID(),
    ...(typeof string === 'string' ? { string } : { binary: String(binary) }),
    created: Date.now() / 1000,
  };
}

function sameVersion(one: SecretVersion, other: SecretVersion): boolean {
  return one.id === other.id && one.string === other.string && one.binary === other.binary;
}

function find(file: SecretsFile, input: Input): { name: string; secret: Secret } {
  const id = text(input, 'SecretId');
  const name = Object.keys(file.secrets).find((known) => known === id || arn(known) === id);
  const secret = name === undefined ? undefined : file.secrets[name];
  if (name === undefined || secret === undefined) {
    throw new SecretsError('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
  }
  return { name, secret };
}

function text(input: Input, member: string): string {
  const value = input[member];
  if (typeof value === 'string' && value !== '') return value;
  throw new SecretsError('InvalidParameterException', `${member} is missing.`);
}

/** As AWS makes it: the name, then six characters (of its own choice there, always the same here). */
function arn(name: string): string {
  return `arn:aws:secretsmanager:local:000000000000:secret:${name}-local0`;
}

function authorize(request: IncomingMessage, accessKeyId: string): void {
  const credential = /Credential=([^/,]+)\//.exec(request.headers.authorization ?? '')?.[1];
  if (credential !== accessKeyId) {
    throw new SecretsError(
      'UnrecognizedClientException',
      'The security token included in the request is invalid.',
    );
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    // A secret in base64, its token and its name, with room to spare.
    if (length > 4 * LIMITS.secretBytes)
      throw new SecretsError('ValidationException', 'The request is too long.');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
