/** README, followed with what it names: the real gobgpd, and the demo. */
import { strict as assert } from 'node:assert';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import type { CaseContext } from '../../harness.ts';
import { GOBGP_VERSION } from '../../support/gobgp.ts';
import { goCommand } from '../../support/install.ts';
import { startStack } from '../../support/stack.ts';
import { until } from '../../support/until.ts';
import { Desk, page, ROOT } from './desk.ts';
import { blockOf, commandsIn, sectionOf } from './page.ts';
import { Reader } from './reader.ts';
import { patternOf } from './shown.ts';

const README = page('README.md');

/** Names of the demo's network that fail in another order at each run. */
const DEMO_NAMES = ['\\bleaf\\d\\b', 'ethernet-1/\\d\\b'];

/** README: two commands, five minutes, with the real gobgpd. */
export async function fiveMinutes(context: CaseContext): Promise<void> {
  const { check } = context;
  const gobgp = goCommand(`github.com/osrg/gobgp/v4/cmd/gobgp@${GOBGP_VERSION}`);
  goCommand(`github.com/osrg/gobgp/v4/cmd/gobgpd@${GOBGP_VERSION}`);
  const stack = await startStack();
  const desk = new Desk(context, stack, 'readme');
  const reader = desk.reader({ environment: { PATH: `${dirname(gobgp)}:${process.env['PATH']}` } });
  try {
    await check('README.md: Two commands', () => {
      const told = stack.output().replaceAll(stack.dataDirectory, '.graticule');
      const shown = /```\n(the admin token.*?)```/s.exec(README)?.[1]?.trimEnd() ?? '';
      const here = shown.replace('http://127.0.0.1:8080', stack.url);
      assert.match(told, patternOf(here));
    });
    await check('README.md: Five minutes', async () => {
      const section = sectionOf(README, 'Five minutes');
      writeFileSync(join(desk.folder, 'gobgpd.toml'), blockOf(section, 'toml'));
      for (const command of commandsIn(section)) {
        await reader.follow(command);
        if (command.text.startsWith('gobgpd ')) await answering(50_051);
      }
      await reader.type('kill %1');
      await until(
        'stale nodes with the time when they go',
        () => desk.get('/api/topology/nodes'),
        (nodes: { stale: boolean; sources: { 'purge-at': string | null }[] }[]) =>
          nodes.length > 0 && nodes.every(({ stale, sources }) => stale && sources[0]?.['purge-at'] !== null),
        60_000,
      );
      await until(
        'what happened',
        () => desk.get('/api/bgp/peers/1'),
        (peer) => peer['last-error'] !== '',
      );
    });
  } finally {
    await reader.close();
    await stack.stop();
  }
}

/** README: from a device to your receiver, beside `npm run demo`. */
export async function deviceToReceiver(context: CaseContext): Promise<void> {
  await context.check('README.md: From a device to your receiver', async () => {
    const demo = spawn(process.execPath, ['test/demo/main.ts'], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], GRATICULE_PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let told = '';
    demo.stdout.setEncoding('utf8').on('data', (text: string) => {
      told += text;
    });
    let reader: Reader | undefined;
    try {
      await until(
        'the introduction',
        () => told,
        (text) => text.includes('Ctrl-C ends all of it'),
        120_000,
      );
      const [, url = '', tokenFile = ''] = /ready at (\S+); the admin token is in (\S+)/.exec(told) ?? [];
      const section = sectionOf(README, 'From a device to your receiver');
      const news = /```\n(\d\d:\d\d:\d\d .*?)```/s.exec(section)?.[1]?.trimEnd().split('\n') ?? [];
      assert.equal(news.length, 2);
      for (const line of news) {
        const pattern = patternOf(line, DEMO_NAMES);
        await until(
          line,
          () => told,
          (text) => pattern.test(text),
          120_000,
        );
      }
      const token = readFileSync(tokenFile, 'utf8').trim();
      reader = new Reader({
        workingDirectory: context.scratchDirectory,
        environment: { T: tokenFile },
        otherwise: { 'http://127.0.0.1:8080': url },
        volatile: DEMO_NAMES,
      });
      // From here on the demo's own receiver hears nothing any more: the page points the webhook elsewhere.
      for (const command of commandsIn(section)) {
        if (command.text.includes('/subscriptions/')) await spoilPassword(url, token);
        await reader.follow(command);
        if (command.text.startsWith('node ')) await answering(9_999);
      }
    } finally {
      await reader?.close();
      await ended(demo);
    }
  });
}

/** Gives the demo's first device a password that its target refuses. */
async function spoilPassword(url: string, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const path = `${url}/api/v1/devices/1`;
  const device = (await (await fetch(path, { headers })).json()) as { gnmi: object };
  const body = JSON.stringify({ ...device, gnmi: { ...device.gnmi, password: 'of-another-device' } });
  const answer = await fetch(path, { method: 'PUT', headers, body });
  assert.equal(answer.status, 200, await answer.text());
}

/** Resolves once something listens on a port of loopback. */
async function answering(port: number): Promise<void> {
  await until(
    `port ${port}`,
    () =>
      new Promise<boolean>((settle) => {
        const socket = connect({ host: '127.0.0.1', port }, () => settle(true));
        socket.once('error', () => settle(false));
        socket.once('connect', () => socket.destroy());
      }),
    (answers) => answers,
  );
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
