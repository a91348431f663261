import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createConnection, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { startLeashed } from './leash.ts';

export interface DynamodbEmulator {
  /** For AWS_ENDPOINT_URL_DYNAMODB. */
  readonly endpoint: string;
  /** Settles if the emulator ends, with its exit code. */
  readonly ended: Promise<number>;
  stop(): Promise<void>;
}

/** The installed emulator's program, or undefined where its package does not exist (anything but Linux on x64). */
export function dynamodbEmulatorPath(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve('@dynoxide/linux-x64/package.json');
    const path = join(dirname(manifest), 'dynoxide');
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Starts DynamoDB on an SQLite file, on a free port of 127.0.0.1, and resolves once it takes connections.
 * Each write is in the file (write-ahead log) before it is answered; `kill -9` loses nothing.
 */
export async function startDynamodbEmulator(databasePath: string, port?: number): Promise<DynamodbEmulator> {
  const program = dynamodbEmulatorPath();
  if (program === undefined) throw new Error('the package @dynoxide/linux-x64 is not installed');
  const chosen = port ?? (await freePort());
  const command = [
    program,
    'serve',
    '--host',
    '127.0.0.1',
    '--port',
    String(chosen),
    '--db-path',
    databasePath,
  ];
  const emulator = startLeashed(command, {
    environment: {},
    graceSeconds: 0.5,
    output: 'pipe',
    // Ctrl-C ends the workers first: they still write their last words to the emulator.
    ownGroup: true,
  });
  let printed = '';
  const keep = (text: string) => {
    printed = (printed + text).slice(-2_000);
  };
  emulator.stdout?.setEncoding('utf8').on('data', keep);
  emulator.stderr?.setEncoding('utf8').on('data', keep);
  let endedWith: number | undefined;
  emulator.ended.then(
    (code) => {
      endedWith = code;
    },
    () => {
      endedWith = -1;
    },
  );
  while (!(await acceptsConnections(chosen))) {
    if (endedWith !== undefined) {
      throw new Error(`the DynamoDB emulator ended with ${endedWith}: ${printed.trim()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return {
    endpoint: `http://127.0.0.1:${chosen}`,
    ended: emulator.ended,
    async stop() {
      await emulator.stop();
    },
  };
}

/** A port of 127.0.0.1 that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() =>
        typeof address === 'object' && address !== null
          ? resolve(address.port)
          : reject(new Error('no port')),
      );
    });
  });
}

/** Whether something listens on a port of 127.0.0.1. */
export function acceptsConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = createConnection({ host: '127.0.0.1', port });
    connection.once('connect', () => {
      connection.destroy();
      resolve(true);
    });
    connection.once('error', () => resolve(false));
  });
}
