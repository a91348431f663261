import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Receiver, startReceiver } from '../support/receiver/receiver.ts';

const CA = join(import.meta.dirname, '../vectors/tls/ca.pem');
const DIAL = join(import.meta.dirname, '../../functions/webhook-dial.ts');

let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver({ certificate: 'localhost' });
});

afterAll(() => receiver.stop());

/** What a fresh process, whose trust stores are read once at its start, says of the receiver's certificate. */
function dialled(environment: Record<string, string>): Promise<string> {
  const script = `
    const { dial } = await import(${JSON.stringify(DIAL)});
    const options = { rules: { isLocalRun: true, allow: [] }, resolve: async () => ['127.0.0.1'] };
    const said = await dial(new URL('https://localhost:${receiver.port}/'), options, () => {}).connected.then(
      () => 'connected',
      (failure) => failure.reason + ' ' + failure.message,
    );
    console.log(said);
    process.exit();`;
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env['PATH'], ...environment };
    execFile(process.execPath, ['--input-type=module', '-e', script], { env }, (error, output) =>
      error === null ? resolve(output.trim()) : reject(error),
    );
  });
}

it('trusts a CA that is only in the system store or only in NODE_EXTRA_CA_CERTS, and no other', async () => {
  expect(await dialled({})).toMatch(/^tls /);
  expect(await dialled({ SSL_CERT_FILE: CA })).toBe('connected');
  expect(await dialled({ NODE_EXTRA_CA_CERTS: CA })).toBe('connected');
});
