/** Net-SNMP beside the product: its agent as a peer, its walk as a second opinion. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { AuthProtocol, PrivProtocol } from '../../../protocols/snmp/usm-key.ts';
import { debianCommand } from '../../support/install.ts';

/** Net-SNMP's names for what its agent supports. */
export const AUTH_NAMES: Readonly<Record<AuthProtocol, string>> = {
  md5: 'MD5',
  'sha-1': 'SHA',
  'sha-224': 'SHA-224',
  'sha-256': 'SHA-256',
  'sha-384': 'SHA-384',
  'sha-512': 'SHA-512',
};

export const PRIV_NAMES: Readonly<Partial<Record<PrivProtocol, string>>> = {
  des: 'DES',
  'aes-128': 'AES',
  'aes-192': 'AES-192',
  'aes-256': 'AES-256',
};

export const AUTH_PASSWORD = 'authpass1';
export const PRIV_PASSWORD = 'privpass1';

export interface SnmpdUser {
  readonly name: string;
  readonly auth: AuthProtocol;
  readonly priv?: PrivProtocol;
}

export const USERS: readonly SnmpdUser[] = (Object.keys(AUTH_NAMES) as AuthProtocol[]).flatMap((auth) => [
  { name: `${auth}-none`, auth },
  ...(Object.keys(PRIV_NAMES) as PrivProtocol[]).map((priv) => ({ name: `${auth}-${priv}`, auth, priv })),
]);

/** Fixed: snmpd makes up a new one when it was killed before it could write its own down. */
const ENGINE_ID = 'exactEngineID 0x80001f8804677261746963756c65';

/** Without MIB files: names are ours to give, and Debian ships most MIB texts elsewhere. No configuration of the host. */
const ENVIRONMENT = { ...process.env, MIBS: '', SNMPCONFPATH: '/nonexistent' };

export class Snmpd {
  readonly port: number;
  private readonly directory: string;
  private process: ChildProcess | undefined;

  constructor(scratchDirectory: string, port: number) {
    this.port = port;
    this.directory = join(scratchDirectory, `snmpd-${port}`);
    mkdirSync(this.directory, { recursive: true });
    const users = USERS.flatMap(({ name, auth, priv }) => [
      `createUser ${name} ${AUTH_NAMES[auth]} ${AUTH_PASSWORD}${priv ? ` ${PRIV_NAMES[priv]} ${PRIV_PASSWORD}` : ''}`,
      `rouser ${name} ${priv ? 'priv' : 'auth'}`,
    ]);
    const lines = [
      `agentaddress udp:127.0.0.1:${port}`,
      'rocommunity public',
      'sysLocation interop',
      ENGINE_ID,
      ...users,
    ];
    writeFileSync(join(this.directory, 'snmpd.conf'), `${lines.join('\n')}\n`);
  }

  async start(): Promise<void> {
    const state = join(this.directory, 'var');
    const environment = { ...ENVIRONMENT, SNMP_PERSISTENT_DIR: state, SNMPCONFPATH: state };
    const snmpd = debianCommand('snmpd', 'snmpd');
    this.process = spawn(snmpd, ['-f', '-Lf', '/dev/null', '-c', join(this.directory, 'snmpd.conf')], {
      env: environment,
      stdio: 'ignore',
    });
    for (let attempt = 0; attempt < 100; attempt += 1) {
      const answers = await bulkwalk(`127.0.0.1:${port(this)}`, '1.3.6.1.2.1.1.3', [
        '-t',
        '0.3',
        '-r',
        '0',
      ]).catch(() => []);
      if (answers.length > 0) return;
      await delay(100);
    }
    throw new Error('snmpd does not answer');
  }

  signal(name: NodeJS.Signals): void {
    this.process?.kill(name);
  }

  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.process;
    this.process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    child.kill('SIGCONT');
    child.kill(signal);
    await once(child, 'exit');
  }
}

const port = (snmpd: Snmpd) => snmpd.port;

export interface WalkedVarbind {
  readonly oid: string;
  /** `Counter64: 12`, `Hex-STRING: 6C 6F`, as Net-SNMP prints with -Oxte. */
  readonly value: string;
}

/** What `snmpbulkwalk` says of a subtree, line by line. */
export async function bulkwalk(
  agent: string,
  oid: string,
  options: readonly string[] = [],
): Promise<WalkedVarbind[]> {
  const command = debianCommand('snmpbulkwalk', 'snmp');
  const { stdout } = await promisify(execFile)(
    command,
    ['-v2c', '-c', 'public', '-Onxte', '-Cr20', ...options, agent, oid],
    { env: ENVIRONMENT, maxBuffer: 64 * 1024 * 1024 },
  );
  const varbinds: WalkedVarbind[] = [];
  for (const line of stdout.split('\n')) {
    const match = /^\.([0-9.]+) = (.*)$/.exec(line);
    if (match !== null) varbinds.push({ oid: match[1] as string, value: (match[2] as string).trim() });
    // A long hex string goes on in the next line.
    else if (varbinds.length > 0 && line.trim() !== '') {
      const last = varbinds.at(-1) as WalkedVarbind;
      varbinds[varbinds.length - 1] = { oid: last.oid, value: `${last.value} ${line.trim()}` };
    }
  }
  return varbinds.filter(({ value }) => !/^No (Such|more)/.test(value));
}
