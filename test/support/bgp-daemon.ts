/** Other people's BGP speakers, as interop cases need them: one process in one folder, one neighbour, one address. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { debianCommand, goCommand, pythonEnvironment } from './install.ts';

/** What is asked of a daemon; each kind writes its own configuration from it. */
export interface DaemonSettings {
  readonly address: string;
  readonly port: number;
  readonly as: number;
  readonly routerId: string;
  readonly neighbor: {
    readonly address: string;
    readonly port: number;
    readonly as: number;
    /** It waits for us; otherwise it dials, every second or two where it can be told to. */
    readonly passive: boolean;
    readonly password?: string;
    readonly holdTimeSeconds?: number;
    readonly gracefulRestart?: boolean;
    readonly family: 'link-state' | 'ipv4';
  };
}

/** A kind of daemon: how to install it, configure it, start it and speak to it. */
export interface DaemonKind {
  readonly name: string;
  /** Installs what is missing, and says which version there is. */
  install(): string;
  /** Without one, the daemon only serves the test-only family 1/1. */
  readonly linkState: boolean;
  /** Cases that this daemon cannot take part in, with the reason that docs/interop.md shows. */
  readonly cannot: Readonly<Record<string, string>>;
  command(
    settings: DaemonSettings,
    folder: string,
  ): { file: string; arguments: string[]; env?: NodeJS.ProcessEnv };
  /** Shuts the neighbour down with a text, where the daemon's own tool can. */
  shutdown?(settings: DaemonSettings, folder: string, text: string): void;
}

export class Daemon {
  readonly settings: DaemonSettings;
  readonly folder: string;
  readonly kind: DaemonKind;
  #process: ChildProcess | undefined = undefined;

  constructor(kind: DaemonKind, settings: DaemonSettings, folder: string) {
    this.kind = kind;
    this.settings = settings;
    this.folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o755 });
  }

  start(): void {
    const { file, arguments: args, env } = this.kind.command(this.settings, this.folder);
    const child = spawn(file, args, {
      cwd: this.folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // Its own group, so that a signal reaches all of a daemon that is several processes.
      detached: true,
    });
    const log = createWriteStream(join(this.folder, 'log'), { flags: 'a' });
    child.stdout?.pipe(log, { end: false });
    child.stderr?.pipe(log, { end: false });
    this.#process = child;
  }

  signal(name: NodeJS.Signals): void {
    const pid = this.#process?.pid;
    if (pid === undefined) return;
    try {
      process.kill(-pid, name);
    } catch {
      // It has ended already.
    }
  }

  /** Ends it, also when it is frozen, and waits until the last of its processes has gone: their ports go with them. */
  async stop(): Promise<void> {
    const pid = this.#process?.pid;
    this.#process = undefined;
    while (pid !== undefined) {
      try {
        process.kill(-pid, 'SIGKILL');
      } catch {
        return;
      }
      await setTimeout(20);
    }
  }

  shutdown(text: string): void {
    this.kind.shutdown?.(this.settings, this.folder, text);
  }
}

function write(folder: string, name: string, text: string, mode = 0o644): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode });
  return path;
}

function firstLine(command: string, args: string[], env?: NodeJS.ProcessEnv): string {
  const { stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', env: { ...process.env, ...env } });
  return `${stdout}${stderr}`.trim().split('\n')[0]?.trim() ?? '';
}

const GOBGP_VERSION = 'v4.8.0';

export const gobgpd: DaemonKind = {
  name: 'GoBGP',
  linkState: true,
  cannot: { 'hold-zero': 'its configuration takes 0 for the default' },
  install() {
    goCommand(`github.com/osrg/gobgp/v4/cmd/gobgp@${GOBGP_VERSION}`);
    return firstLine(goCommand(`github.com/osrg/gobgp/v4/cmd/gobgpd@${GOBGP_VERSION}`), ['--version']);
  },
  command({ address, port, as, routerId, neighbor }, folder) {
    const config = write(
      folder,
      'gobgpd.toml',
      `[global.config]
  as = ${as}
  router-id = "${routerId}"
  port = ${port}
  local-address-list = ["${address}"]
[[neighbors]]
  [neighbors.config]
    neighbor-address = "${neighbor.address}"
    peer-as = ${neighbor.as}
    ${neighbor.password === undefined ? '' : `auth-password = "${neighbor.password}"`}
  [neighbors.transport.config]
    passive-mode = ${neighbor.passive}
    local-address = "${address}"
    remote-port = ${neighbor.port}
  [neighbors.timers.config]
    connect-retry = 1
    idle-hold-time-after-reset = 1
    hold-time = ${neighbor.holdTimeSeconds ?? 90}
    keepalive-interval = ${Math.max(1, Math.floor((neighbor.holdTimeSeconds ?? 90) / 3))}
  ${neighbor.gracefulRestart ? '[neighbors.graceful-restart.config]\n    enabled = true\n    restart-time = 30' : ''}
  [[neighbors.afi-safis]]
    [neighbors.afi-safis.config]
      afi-safi-name = "${neighbor.family === 'link-state' ? 'ls' : 'ipv4-unicast'}"
    ${neighbor.gracefulRestart ? '[neighbors.afi-safis.mp-graceful-restart.config]\n      enabled = true' : ''}
`,
    );
    return {
      file: goCommand(`github.com/osrg/gobgp/v4/cmd/gobgpd@${GOBGP_VERSION}`),
      arguments: ['-f', config, '--api-hosts', `unix://${join(folder, 'api')}`, '--pprof-disable'],
    };
  },
  shutdown({ neighbor }, folder, text) {
    spawnSync(goCommand(`github.com/osrg/gobgp/v4/cmd/gobgp@${GOBGP_VERSION}`), [
      '--target',
      `unix://${join(folder, 'api')}`,
      'neighbor',
      neighbor.address,
      'shutdown',
      '--reason',
      text,
    ]);
  },
};

const EXABGP = ['exabgp==5.0.15'];

export const exabgp: DaemonKind = {
  name: 'ExaBGP',
  linkState: true,
  cannot: { 'shutdown-received': 'it shuts a neighbor down only through the pipes of its command line' },
  install() {
    return firstLine(join(pythonEnvironment(EXABGP), 'exabgp'), ['version']);
  },
  command({ address, port, as, routerId, neighbor }, folder) {
    const config = write(
      folder,
      'exabgp.conf',
      `neighbor ${neighbor.address} {
  router-id ${routerId};
  local-address ${address};
  local-as ${as};
  peer-as ${neighbor.as};
  hold-time ${neighbor.holdTimeSeconds ?? 90};
  ${neighbor.passive ? `passive true;\n  listen ${port};` : `passive false;\n  connect ${neighbor.port};`}
  ${neighbor.password === undefined ? '' : `md5-password "${neighbor.password}";`}
  family { ${neighbor.family === 'link-state' ? 'bgp-ls bgp-ls;' : 'ipv4 unicast;'} }
  capability { route-refresh enable; ${neighbor.gracefulRestart ? 'graceful-restart 30;' : ''} }
}
`,
    );
    return {
      file: join(pythonEnvironment(EXABGP), 'exabgp'),
      arguments: ['server', config],
      env: {
        exabgp_daemon_drop: 'false',
        exabgp_api_cli: 'false',
        exabgp_log_level: 'DEBUG',
        exabgp_tcp_bind: '',
        PYTHONUNBUFFERED: '1',
      },
    };
  },
};

export const frr: DaemonKind = {
  name: 'FRR',
  linkState: false,
  cannot: {},
  install() {
    return firstLine(frrCommand('bgpd'), ['--version']);
  },
  command({ address, port, as, routerId, neighbor }, folder) {
    const hold = neighbor.holdTimeSeconds ?? 90;
    const peer = neighbor.address;
    const family = peer.includes(':') ? `\n  neighbor ${peer} activate` : '';
    const config = write(
      folder,
      'bgpd.conf',
      `log stdout
router bgp ${as}
 bgp router-id ${routerId}
 no bgp ebgp-requires-policy
 no bgp network import-check
 ${neighbor.gracefulRestart ? 'bgp graceful-restart' : ''}
 neighbor ${peer} remote-as ${neighbor.as}
 neighbor ${peer} port ${neighbor.port}
 neighbor ${peer} update-source ${address}
 neighbor ${peer} disable-connected-check
 ${neighbor.as === as ? '' : `neighbor ${peer} ebgp-multihop 255`}
 neighbor ${peer} timers ${Math.floor(hold / 3)} ${hold}
 neighbor ${peer} timers connect 1
 ${neighbor.passive ? `neighbor ${peer} passive` : ''}
 ${neighbor.password === undefined ? '' : `neighbor ${peer} password ${neighbor.password}`}
 address-family ipv4 unicast${family}
 exit-address-family
!
`,
    );
    return {
      file: frrCommand('bgpd'),
      arguments: [
        '-S',
        '-n',
        '-Z',
        '-f',
        config,
        '-p',
        String(port),
        '-l',
        address,
        '-i',
        join(folder, 'bgpd.pid'),
        '-P',
        '0',
        '--vty_socket',
        folder,
        '-z',
        join(folder, 'zserv'),
      ],
    };
  },
  shutdown({ as, neighbor }, folder, text) {
    spawnSync(debianCommand('vtysh', 'frr'), [
      '--vty_socket',
      folder,
      '-d',
      'bgpd',
      '-c',
      'configure terminal',
      '-c',
      `router bgp ${as}`,
      '-c',
      `neighbor ${neighbor.address} shutdown message ${text}`,
    ]);
  },
};

/** Debian keeps FRR's daemons beside `watchfrr`; a `bgpd` on the path may be OpenBGPD's. */
function frrCommand(name: string): string {
  return join(dirname(debianCommand('watchfrr', 'frr')), name);
}

export const bird: DaemonKind = {
  name: 'BIRD',
  linkState: false,
  cannot: {},
  install() {
    return firstLine(debianCommand('bird', 'bird2'), ['--version']);
  },
  command({ address, port, as, routerId, neighbor }, folder) {
    const v6 = address.includes(':');
    const config = write(
      folder,
      'bird.conf',
      `router id ${routerId};
log stderr all;
protocol device {}
protocol bgp peer {
  local ${address} port ${port} as ${as};
  neighbor ${neighbor.address} port ${neighbor.port} as ${neighbor.as};
  strict bind yes;
  multihop;
  source address ${address};
  hold time ${neighbor.holdTimeSeconds ?? 90};
  connect retry time 1;
  connect delay time 1;
  error wait time 1, 2;
  ${neighbor.passive ? 'passive yes;' : ''}
  ${neighbor.password === undefined ? '' : `password "${neighbor.password}";`}
  graceful restart ${neighbor.gracefulRestart ? 'yes' : 'aware'};
  ${v6 ? 'ipv4 { extended next hop yes; import none; export none; };' : 'ipv4 { import none; export none; };'}
}
`,
    );
    return {
      file: debianCommand('bird', 'bird2'),
      arguments: ['-f', '-c', config, '-s', join(folder, 'ctl'), '-P', join(folder, 'pid')],
    };
  },
  shutdown(_settings, folder, text) {
    spawnSync(debianCommand('birdc', 'bird2'), ['-s', join(folder, 'ctl'), 'disable', 'peer', `"${text}"`]);
  },
};

export const openbgpd: DaemonKind = {
  name: 'OpenBGPD',
  linkState: false,
  cannot: {
    'md5-right': 'it sets keys only on connections that it makes, without PF_KEY (Linux)',
    'md5-changed': 'it sets keys only on connections that it makes, without PF_KEY (Linux)',
    'hold-zero': 'its configuration refuses less than 3',
  },
  install() {
    // Its processes change root to the home of the package's user, which Debian leaves to its service unit to make.
    mkdirSync('/run/openbgpd', { recursive: true, mode: 0o755 });
    return firstLine(openbgpdCommand('bgpd'), ['-V']);
  },
  command({ address, port, as, routerId, neighbor }, folder) {
    const config = write(
      folder,
      'bgpd.conf',
      `AS ${as}
router-id ${routerId}
fib-update no
listen on ${address} port ${port}
socket "${join(folder, 'ctl')}"
neighbor ${neighbor.address} {
  remote-as ${neighbor.as}
  local-address ${address}
  port ${neighbor.port}
  holdtime ${neighbor.holdTimeSeconds ?? 90}
  ${neighbor.as === as ? '' : 'multihop 255'}
  ${neighbor.passive ? 'passive' : ''}
  announce IPv4 unicast
  announce restart ${neighbor.gracefulRestart ? 'yes' : 'no'}
  ${neighbor.password === undefined ? '' : `tcp md5sig password ${neighbor.password}`}
}
deny from any
deny to any
`,
      0o600,
    );
    return { file: openbgpdCommand('bgpd'), arguments: ['-d', '-f', config] };
  },
  shutdown({ neighbor }, folder, text) {
    spawnSync(debianCommand('bgpctl', 'openbgpd'), [
      '-s',
      join(folder, 'ctl'),
      'neighbor',
      neighbor.address,
      'down',
      text,
    ]);
  },
};

function openbgpdCommand(name: string): string {
  return join(dirname(debianCommand('bgpctl', 'openbgpd')), name);
}
