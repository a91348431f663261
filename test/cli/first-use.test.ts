import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type FakeStack, runCli, startCli, startFakeStack } from '../support/cli.ts';

const PEER = {
  id: 7,
  name: 'rr1',
  'peer-address': '192.0.2.1',
  'user-peer-as': '65001',
  state: 'established',
  'last-error': 'a very long sentence about what went wrong with this session, as RFC 4271 would put it',
  session: { reason: '', nlris: { node: 9, link: 18 } },
};

const problem = (status: number, title: string, detail: string) => ({
  status,
  headers: { 'content-type': 'application/problem+json' },
  body: { type: `urn:graticule:problem:${title}`, title, status, detail },
});

let folder: string;
let stack: FakeStack | undefined;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'graticule-cli-'));
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(async () => {
  await stack?.stop();
  stack = undefined;
});

async function withPeers(peers: readonly object[] = [PEER]) {
  stack = await startFakeStack({ 'GET /api/bgp/peers': { status: 200, body: peers } });
  return { GRATICULE_URL: stack.url, GRATICULE_API_TOKEN: 'grt_secret-token' };
}

describe('the command line, tried by a new user', () => {
  it('names the command and the flag that were meant, and ends with 2', async () => {
    expect(await runCli(['aply'])).toMatchObject({
      code: 2,
      output: '',
      errors: expect.stringMatching(/^graticule: there is no command "aply"/),
    });
    expect((await runCli(['peer'])).errors).toBe(
      'graticule: there is no command "peer"; did you mean peers?\n',
    );
    expect((await runCli(['peers', '--ouput', 'json'])).errors).toBe(
      'graticule: there is no flag --ouput here; did you mean --output?\n',
    );
    expect((await runCli(['peers', '--url'])).errors).toBe('graticule: --url needs a value\n');
    expect((await runCli(['peers', 'frobnicate'])).code).toBe(2);
    expect((await runCli([])).code).toBe(2);
    expect(await runCli(['--version'])).toMatchObject({ code: 0, output: 'graticule 1.0.0\n' });
    expect((await runCli(['help', 'topology'])).output).toContain('graticule topology paths FROM TO');
  });

  it('says what it asked for, and where to look how it goes', async () => {
    const environment = await withPeers();
    await stack?.stop();
    const asked = { command: 'reset', 'requested-at': '2026-11-21T00:00:00.000Z' };
    stack = await startFakeStack({
      'GET /api/bgp/peers': { status: 200, body: [PEER] },
      'POST /api/bgp/peers/7/reset': { status: 202, body: asked },
    });
    const at = { environment: { ...environment, GRATICULE_URL: stack.url } };
    const told = 'The reset of peer 7 is asked for; peers get 7 shows how it goes.\n';
    expect(await runCli(['peers', 'reset', 'rr1'], at)).toEqual({ code: 0, output: told, errors: '' });
    const { output } = await runCli(['peers', 'reset', '7', '-o', 'json'], at);
    expect(JSON.parse(output)).toEqual(asked);
  });

  it('says that nothing listens, and ends with 3', async () => {
    const gone = await startFakeStack({});
    await gone.stop();
    const run = await runCli(['peers', '--url', gone.url], {
      environment: { GRATICULE_API_TOKEN: 'grt_x' },
    });
    expect(run).toEqual({
      code: 3,
      output: '',
      errors: `graticule: nothing listens at ${new URL(gone.url).host}; is the stack running, and is the URL right?\n`,
    });
  });

  it('says where a wrong token came from and never what it is; without one it says what to set', async () => {
    stack = await startFakeStack({ 'GET /api/bgp/peers': problem(401, 'unauthenticated', 'send a token') });
    const at = { GRATICULE_URL: stack.url };
    const wrong = await runCli(['peers'], { environment: { ...at, GRATICULE_API_TOKEN: 'grt_wrong' } });
    expect(wrong.code).toBe(4);
    expect(wrong.errors).toContain('does not know the token from GRATICULE_API_TOKEN, or it has expired');
    expect(wrong.errors).not.toContain('grt_wrong');
    expect((await runCli(['peers'], { environment: at })).errors).toContain(
      'needs a token: set GRATICULE_API_TOKEN or name a file with --token-file',
    );
    const unsendable = await runCli(['peers'], { environment: { ...at, GRATICULE_API_TOKEN: 'two words' } });
    expect(unsendable).toMatchObject({
      code: 2,
      errors: 'graticule: GRATICULE_API_TOKEN holds no token: a token is one word of printable characters\n',
    });
  });

  it('takes settings from flags before the environment before the file, and refuses what makes no sense', async () => {
    const environment = await withPeers();
    const config = join(folder, 'config.yaml');
    writeFileSync(join(folder, 'token'), 'grt_from-file\n');
    writeFileSync(config, `url: ${environment.GRATICULE_URL}\ntoken-file: token\noutput: json\n`);
    const fromFile = await runCli(['peers', '--config', config]);
    expect(JSON.parse(fromFile.output)).toEqual([PEER]);
    expect(stack?.requests.at(-1)?.authorization).toBe('Bearer grt_from-file');
    const both = await runCli(['peers', '--config', config, '-o', 'table'], {
      environment: { GRATICULE_API_TOKEN: 'grt_exported', GRATICULE_OUTPUT: 'json' },
    });
    expect(both.output).toMatch(/^ID +NAME/);
    expect(stack?.requests.at(-1)?.authorization).toBe('Bearer grt_exported');

    writeFileSync(config, 'ulr: http://x\n');
    expect((await runCli(['peers', '--config', config])).errors).toContain('ulr is no setting');
    const clear = await runCli(['peers', '--url', 'http://stack.example']);
    expect(clear).toMatchObject({ code: 2, errors: expect.stringContaining('--allow-http') });
    expect((await runCli(['peers', '--url', 'stack.example'])).code).toBe(2);
    expect((await runCli(['peers', '--output', 'xml'])).errors).toContain('it is table or json');
    expect((await runCli(['peers', '--timeout', 'soon'])).errors).toContain('1 to 3600 seconds');
  });

  it('finds the token that npm start left in this folder, for this machine only', async () => {
    await withPeers();
    mkdirSync(join(folder, '.graticule'), { recursive: true });
    writeFileSync(join(folder, '.graticule/token'), 'grt_local\n');
    const run = await runCli(['peers', '--url', stack?.url ?? ''], { workingDirectory: folder });
    expect(run.code).toBe(0);
    expect(stack?.requests.at(-1)?.authorization).toBe('Bearer grt_local');
    const elsewhere = await runCli(['peers', '--url', 'https://[2001:db8::1]:1'], {
      workingDirectory: folder,
    });
    expect(elsewhere.code).toBe(3);
  });

  it('says that a certificate has expired, is a stranger’s, or that there is no TLS at all', async () => {
    const openssl = (...argv: string[]) => execFileSync('openssl', argv, { cwd: folder, stdio: 'pipe' });
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-keyout', 'key.pem', '-nodes'];
    const subject = ['-subj', '/CN=stack', '-addext', 'subjectAltName=IP:127.0.0.1'];
    openssl('req', '-x509', ...key, ...subject, '-out', 'valid.pem', '-days', '2');
    openssl('req', '-new', '-key', 'key.pem', ...subject, '-out', 'old.csr');
    // What can set the days of a certificate in every openssl of these years is its `ca`.
    writeFileSync(
      join(folder, 'ca.cnf'),
      '[ca]\ndefault_ca=d\n[d]\ndatabase=index.txt\nserial=serial\nnew_certs_dir=.\ndefault_md=sha256\npolicy=p\ncopy_extensions=copy\n[p]\ncommonName=supplied\n',
    );
    writeFileSync(join(folder, 'index.txt'), '');
    openssl(
      ...['ca', '-batch', '-selfsign', '-config', 'ca.cnf', '-keyfile', 'key.pem', '-in', 'old.csr'],
      ...[
        '-create_serial',
        '-startdate',
        '20200101000000Z',
        '-enddate',
        '20200102000000Z',
        '-out',
        'old.pem',
      ],
    );
    const read = (name: string) => readFileSync(join(folder, name));
    const told = async (certificate: string, authority: string) => {
      const server = createTlsServer({ key: read('key.pem'), cert: read(certificate) });
      const secure = await startFakeStack(
        { 'GET /api/bgp/peers': { status: 200, body: [] } },
        { server, scheme: 'https' },
      );
      const run = await runCli(['peers', '--url', secure.url, '--ca-file', join(folder, authority)]);
      const stranger = await runCli(['peers', '--url', secure.url]);
      await secure.stop();
      return [run.code, run.errors, stranger.errors];
    };
    const [valid, , stranger] = await told('valid.pem', 'valid.pem');
    expect(valid).toBe(0);
    const [code, expired] = await told('old.pem', 'old.pem');
    expect(code).toBe(3);
    expect(expired).toMatch(
      /^graticule: the certificate of 127\.0\.0\.1:\d+ has expired; it has to be renewed/,
    );
    expect(stranger).toMatch(/signed by nobody whom this machine trusts; name its authority with --ca-file/);
    await withPeers();
    const plain = await runCli(['peers', '--url', (stack?.url ?? '').replace('http:', 'https:')]);
    expect(plain.errors).toContain('does not speak TLS; is its URL http:// rather than https://?');
  });

  it('keeps within 40 columns, tables, errors and help alike', async () => {
    const environment = await withPeers();
    const lines = (text: string) => text.split('\n').map((line) => [...line].length);
    const table = await runCli(['peers'], {
      environment: { ...environment, NO_COLOR: '1' },
      terminalColumns: 40,
    });
    expect(table.output).toContain('NAME: rr1\n');
    expect(Math.max(...lines(table.output))).toBeLessThanOrEqual(40);
    for (const argv of [['help'], ['help', 'topology'], ['peers', 'get', 'nobody'], ['aply']]) {
      const run = await runCli(argv, { environment, terminalColumns: 40 });
      expect(Math.max(...lines(run.output + run.errors)), argv.join(' ')).toBeLessThanOrEqual(40);
    }
    const wide = await runCli(['peers'], { environment, terminalColumns: 200 });
    expect(wide.output.split('\n')).toHaveLength(3);
  });

  it('colours for a person, and neither with NO_COLOR, on a dumb terminal, nor in a pipe', async () => {
    const environment = await withPeers();
    const hasEscape = (text: string) => text.includes('\u001b');
    const at = (more: Record<string, string>) => ({
      environment: { ...environment, ...more },
      terminalColumns: 200,
    });
    expect(hasEscape((await runCli(['peers'], at({}))).output)).toBe(true);
    expect(hasEscape((await runCli(['peers'], at({ NO_COLOR: '' }))).output)).toBe(true);
    expect(hasEscape((await runCli(['peers'], at({ NO_COLOR: '1' }))).output)).toBe(false);
    expect(hasEscape((await runCli(['peers'], at({ TERM: 'dumb' }))).output)).toBe(false);
    expect(hasEscape((await runCli(['peers'], { environment })).output)).toBe(false);
  });

  it('gives a pipe whole lines without a control character, whatever a peer told', async () => {
    const hostile = { ...PEER, name: 'rr\u001b[2J\u009b1\n\u202etxt', 'last-error': '\u0007'.repeat(3) };
    const environment = await withPeers([hostile]);
    const runs = [
      await startCli(['peers'], { environment }).ended,
      await runCli(['peers', '-o', 'json'], { environment }),
    ];
    for (const run of runs) {
      expect(run.code).toBe(0);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there.
      expect(run.output).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
    expect(JSON.parse(runs[1]?.output ?? '')).toEqual([hostile]);
  });

  it('goes on watching from now when the log no longer reaches back, and says so beside the changes', async () => {
    const change = { action: 'added', kind: 'node', id: 'n.1' };
    stack = await startFakeStack({
      'GET /api/topology': { status: 200, body: { version: 'now' } },
      'GET /api/topology/changes?since=old&wait=20': problem(410, 'version-expired', 'read it anew'),
      'GET /api/topology/changes?since=now&wait=20': { status: 200, body: { to: 'next', changes: [change] } },
      'GET /api/topology/changes?since=next&wait=20': problem(400, 'invalid-query', 'enough'),
    });
    const argv = ['watch', '--since', 'old', '--url', stack.url, '-o', 'json'];
    expect(await runCli(argv, { environment: { GRATICULE_API_TOKEN: 'grt_x' } })).toEqual({
      code: 1,
      output: `${JSON.stringify(change)}\n`,
      errors:
        'graticule: that version is no longer in the log; changes were missed, and it goes on from now\n' +
        'graticule: enough\n',
    });
  });

  it('ends with 130 at Ctrl-C, at once, and quietly when nobody reads on', async () => {
    const server = (await import('node:http')).createServer();
    const waiting = await startFakeStack({}, { server });
    server.removeAllListeners('request');
    const asked = new Promise((settle) => server.once('request', settle));
    const run = startCli(['watch', '--since', 'x', '--url', waiting.url], {
      environment: { GRATICULE_API_TOKEN: 'grt_x' },
    });
    await asked;
    run.kill('SIGINT');
    expect(await run.ended).toMatchObject({ code: 130, signal: null, errors: 'graticule: interrupted\n' });
    await waiting.stop();

    const environment = await withPeers(Array.from({ length: 5_000 }, (_, id) => ({ ...PEER, id })));
    const head = execHead(['peers'], environment);
    await expect(head).resolves.toEqual({ lines: 1, errors: '' });
  });
});

/** `graticule … | head -1`, with what either of them says. */
async function execHead(argv: readonly string[], environment: Record<string, string>) {
  const { spawn } = await import('node:child_process');
  const main = join(import.meta.dirname, '../../cli/main.ts');
  const child = spawn('/bin/sh', ['-c', `"$0" "$@" | head -1`, process.execPath, main, ...argv], {
    env: { PATH: process.env['PATH'], ...environment },
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (part) => {
    output += part;
  });
  child.stderr.on('data', (part) => {
    errors += part;
  });
  await new Promise((settle) => child.once('close', settle));
  return { lines: output.trimEnd().split('\n').length, errors };
}
