import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { goCommand } from './install.ts';

/** The version that figures and cases speak of. */
export const GOBGP_VERSION = 'v4.8.0';

export interface Gobgpd {
  /** Runs the `gobgp` command line against it and returns what it printed. */
  gobgp(...words: string[]): string;
  /** Sends a signal, e.g. SIGSTOP to freeze it. */
  signal(signal: NodeJS.Signals): void;
  stop(): Promise<void>;
}

/** What a gobgpd is started with; it waits passively for one neighbour and speaks link state with it. */
export interface GobgpdOptions {
  readonly directory: string;
  readonly address: string;
  readonly port: number;
  readonly apiPort: number;
  readonly as: number;
  readonly neighborAddress: string;
  readonly neighborAs: number;
  readonly password?: string;
  readonly routerId?: string;
  /** A second neighbour, which it connects to: both are clients of its route reflection. */
  readonly reflected?: { readonly address: string; readonly port: number };
}

/** Starts gobgpd and waits until it takes commands. */
export async function startGobgpd(options: GobgpdOptions): Promise<Gobgpd> {
  const gobgpd = goCommand(`github.com/osrg/gobgp/v4/cmd/gobgpd@${GOBGP_VERSION}`);
  const gobgp = goCommand(`github.com/osrg/gobgp/v4/cmd/gobgp@${GOBGP_VERSION}`);
  const file = join(options.directory, `gobgpd-${options.port}.toml`);
  writeFileSync(file, configurationOf(options));
  const process = spawn(
    gobgpd,
    ['-f', file, '--api-hosts', `127.0.0.1:${options.apiPort}`, '--pprof-disable', '--log-level', 'warn'],
    { stdio: 'ignore' },
  );
  await untilListening(options.apiPort, 10_000);
  return {
    gobgp: (...words) => execFileSync(gobgp, ['-p', String(options.apiPort), ...words], { encoding: 'utf8' }),
    signal: (signal) => process.kill(signal),
    stop: async () => {
      if (process.exitCode !== null || process.signalCode !== null) return;
      process.kill('SIGKILL');
      await once(process, 'exit');
    },
  };
}

function configurationOf(options: GobgpdOptions): string {
  return `
[global.config]
  as = ${options.as}
  router-id = "${options.routerId ?? '10.0.0.3'}"
  port = ${options.port}
  local-address-list = ["${options.address}"]
[[neighbors]]
  [neighbors.config]
    neighbor-address = "${options.neighborAddress}"
    peer-as = ${options.neighborAs}
    ${options.password === undefined ? '' : `auth-password = "${options.password}"`}
  [neighbors.timers.config]
    idle-hold-time-after-reset = 1
  [neighbors.transport.config]
    passive-mode = true
    local-address = "${options.address}"
  [[neighbors.afi-safis]]
    [neighbors.afi-safis.config]
      afi-safi-name = "ls"
${options.reflected === undefined ? '' : reflection(options, options.reflected)}`;
}

/** Ends the first neighbour's configuration as a client, and adds the second. */
function reflection(
  options: GobgpdOptions,
  feed: { readonly address: string; readonly port: number },
): string {
  const client = `
  [neighbors.route-reflector.config]
    route-reflector-client = true
    route-reflector-cluster-id = "${options.routerId ?? '10.0.0.3'}"
`;
  return `${client}[[neighbors]]
  [neighbors.config]
    neighbor-address = "${feed.address}"
    peer-as = ${options.as}
  [neighbors.timers.config]
    connect-retry = 1
    idle-hold-time-after-reset = 1
  [neighbors.transport.config]
    remote-port = ${feed.port}
    local-address = "${options.address}"
  [[neighbors.afi-safis]]
    [neighbors.afi-safis.config]
      afi-safi-name = "ls"
${client}`;
}

async function untilListening(port: number, withinMilliseconds: number): Promise<void> {
  const deadline = performance.now() + withinMilliseconds;
  while (!(await accepts(port))) {
    if (performance.now() > deadline) throw new Error(`nothing listens on 127.0.0.1 port ${port}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
