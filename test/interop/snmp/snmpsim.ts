/** snmpsim beside the product: an agent that is not ours, with tables of ours. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { compareOids, formatOid, parseOid } from '../../../protocols/snmp/oid.ts';
import { pythonEnvironment } from '../../support/install.ts';
import type { AgentUser } from '../../support/snmp-agent/agent.ts';
import { bulkwalk } from './net-snmp.ts';

/** snmpsim does not name pysmi, which it needs, nor cryptography, without which it has no privacy. */
const REQUIREMENTS = ['snmpsim==1.2.2', 'pysmi==2.0.0', 'cryptography==48.0.0'];

/** A user of the responder. What pysnmp calls AES192 and AES256 lengthens keys as Reeder's draft does. */
export interface SimulatedUser {
  readonly user: AgentUser;
  readonly authProtocol: string;
  readonly privProtocol: string;
}

export const SIMULATED_USERS: readonly SimulatedUser[] = (
  [
    ['md5', 'MD5', 'des', 'DES'],
    ['sha-1', 'SHA', 'aes-192-reeder', 'AES192'],
    ['sha-1', 'SHA', 'aes-256-reeder', 'AES256'],
    ['sha-1', 'SHA', 'aes-192', 'AES192BLMT'],
    ['sha-1', 'SHA', 'aes-256', 'AES256BLMT'],
    ['sha-512', 'SHA512', 'aes-128', 'AES'],
  ] as const
).map(([auth, authProtocol, priv, privProtocol]) => ({
  user: {
    name: `${auth}-${priv}`,
    auth: { protocol: auth, password: 'authpass1' },
    priv: { protocol: priv, password: 'privpass1' },
  },
  authProtocol,
  privProtocol,
}));

/** The name of the data file, which is the community of v1 and v2c and the context of v3. */
export const SIMULATED_CONTEXT = 'public';

const userOptions = ({ user, authProtocol, privProtocol }: SimulatedUser): string[] => [
  `--v3-user=${user.name}`,
  `--v3-auth-key=${user.auth?.password}`,
  `--v3-auth-proto=${authProtocol}`,
  `--v3-priv-key=${user.priv?.password}`,
  `--v3-priv-proto=${privProtocol}`,
];

interface Line {
  readonly oid: string;
  /** The tag's number, `x` behind it for hex (snmprec). */
  readonly tag: string;
  readonly value: string;
}

/** Tables of every kind of index and type, in the order of their OIDs. */
export function tableLines(interfaces: number): Line[] {
  const lines: Line[] = [{ oid: '1.3.6.1.2.1.1.3.0', tag: '67', value: '123456' }];
  const add = (oid: string, tag: string, value: string | number | bigint) =>
    lines.push({ oid, tag, value: `${value}` });
  const hex = (text: string) => Buffer.from(text).toString('hex');
  for (let row = 1; row <= interfaces; row += 1) {
    add(`1.3.6.1.2.1.2.2.1.1.${row}`, '2', row);
    add(`1.3.6.1.2.1.2.2.1.2.${row}`, '4x', hex(`ethernet-1/${row}`));
    add(`1.3.6.1.2.1.2.2.1.5.${row}`, '66', 4_294_967_295);
    add(`1.3.6.1.2.1.2.2.1.6.${row}`, '4x', `0011223344${(row % 256).toString(16).padStart(2, '0')}`);
    // A hole in every fifth row.
    if (row % 5 !== 0) add(`1.3.6.1.2.1.2.2.1.10.${row}`, '65', (row * 65_537) % 4_294_967_296);
    add(`1.3.6.1.2.1.31.1.1.1.1.${row}`, '4x', hex(`eth${row}`));
    for (const column of [6, 7, 8, 9, 10, 11, 12, 13]) {
      add(`1.3.6.1.2.1.31.1.1.1.${column}.${row}`, '70', 18_446_744_073_709_551_615n - BigInt(row * column));
    }
  }
  for (let entity = 1; entity <= 40; entity += 1) {
    const index = entity * 1_000_003;
    add(`1.3.6.1.2.1.47.1.1.1.1.2.${index}`, '4x', hex(`entity ${entity}`));
    add(`1.3.6.1.2.1.47.1.1.1.1.3.${index}`, '6', `1.3.6.1.4.1.9.${entity * 70_000}`);
    add(`1.3.6.1.2.1.47.1.1.1.1.4.${index}`, '2', entity - 1);
    if (entity % 3 === 0) add(`1.3.6.1.2.1.99.1.1.1.4.${index}`, '2', -entity * 1_000);
    add(`1.3.6.1.2.1.47.1.1.1.1.7.${index}`, '4x', '');
  }
  for (let address = 1; address <= 30; address += 1) {
    add(`1.3.6.1.2.1.4.20.1.1.10.0.0.${address}`, '64', `10.0.0.${address}`);
    add(`1.3.6.1.2.1.4.20.1.2.10.0.0.${address}`, '2', address);
    add(`1.3.6.1.2.1.4.34.1.3.1.4.10.0.0.${address}`, '2', address);
    add(`1.3.6.1.2.1.4.34.1.3.2.16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.${address}`, '2', address);
    add(`1.3.6.1.2.1.25.2.3.1.3.${address}`, '4x', hex(`/mnt/${address}`));
    add(`1.3.6.1.2.1.25.2.3.1.5.${address}`, '2', 2_147_483_647);
    add(`1.3.6.1.2.1.25.2.3.1.6.${address}`, '2', -address);
  }
  return lines.sort((left, right) => compareOids(parseOid(left.oid) ?? [], parseOid(right.oid) ?? []));
}

/** Starts a responder on the loopback for the community `public` and the users above; the result stops it. */
export async function startSnmpsim(
  scratchDirectory: string,
  port: number,
  lines: readonly Line[],
): Promise<() => Promise<void>> {
  const bin = pythonEnvironment(REQUIREMENTS);
  const [data, cache] = [join(scratchDirectory, 'data'), join(scratchDirectory, 'cache')];
  for (const directory of [data, cache]) mkdirSync(directory, { recursive: true });
  const text = lines
    .map(({ oid, tag, value }) => `${formatOid(parseOid(oid) ?? [])}|${tag}|${value}`)
    .join('\n');
  writeFileSync(join(data, `${SIMULATED_CONTEXT}.snmprec`), `${text}\n`);
  const child = spawn(
    join(bin, 'snmpsim-command-responder'),
    [
      '--v3-engine-id=auto',
      ...SIMULATED_USERS.flatMap(userOptions),
      `--data-dir=${data}`,
      `--cache-dir=${cache}`,
      `--agent-udpv4-endpoint=127.0.0.1:${port}`,
      '--process-user=root',
      '--process-group=root',
      '--logging-method=null',
    ],
    { stdio: 'ignore', env: { ...process.env, HOME: scratchDirectory } },
  );
  const stop = async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const answers = await bulkwalk(`127.0.0.1:${port}`, '1.3.6.1.2.1.1.3', ['-t', '0.5', '-r', '0']).catch(
      () => [],
    );
    if (answers.length > 0) return stop;
    await delay(200);
  }
  await stop();
  throw new Error('snmpsim does not answer');
}
