import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { acceptsConnections, freePort } from './dynamodb-emulator.ts';
import { startLeashed } from './leash.ts';

export interface QueueEmulator {
  /** For AWS_ENDPOINT_URL_SQS and AWS_ENDPOINT_URL_S3. */
  readonly endpoint: string;
  /** Resolves once it takes connections; nothing that a start waits for needs it before. */
  readonly ready: Promise<void>;
  /** Settles if the emulator ends, with its exit code. */
  readonly ended: Promise<number>;
  stop(): Promise<void>;
}

/** Starts SQS and S3 on one SQLite file, in a process of their own. */
export async function startQueueEmulator(dataDirectory: string, port?: number): Promise<QueueEmulator> {
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  const chosen = port ?? (await freePort());
  const program = resolve(import.meta.dirname, 'queue-server.ts');
  const emulator = startLeashed([process.execPath, program, dataDirectory, String(chosen)], {
    environment: {
      PATH: process.env['PATH'],
      NODE_NO_WARNINGS: '1',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    },
    graceSeconds: 0.5,
    output: 'pipe',
    // Ctrl-C ends the workers first: they still send what they hold.
    ownGroup: true,
  });
  let printed = '';
  const keep = (text: string) => {
    printed = (printed + text).slice(-2_000);
  };
  emulator.stdout?.setEncoding('utf8').on('data', keep);
  emulator.stderr?.setEncoding('utf8').on('data', keep);
  let endedWith: number | undefined;
  void emulator.ended.then((code) => {
    endedWith = code;
  });
  const untilReady = async () => {
    while (!(await acceptsConnections(chosen))) {
      if (endedWith !== undefined) {
        throw new Error(`the SQS and S3 emulator ended with ${endedWith}: ${printed.trim()}`);
      }
      await new Promise((settle) => setTimeout(settle, 20));
    }
  };
  return {
    endpoint: `http://127.0.0.1:${chosen}`,
    ready: untilReady(),
    ended: emulator.ended,
    async stop() {
      await emulator.stop();
    },
  };
}
