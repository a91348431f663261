import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Failure } from '../../cli/exit-code.ts';
import { proxyFor } from '../../cli/proxy.ts';
import { type FakeStack, runCli, startCli, startFakeStack } from '../support/cli.ts';

const TLS = join(import.meta.dirname, '../vectors/tls');
const read = (name: string) => readFileSync(join(TLS, name));

/** What the proxy was asked for, with the credentials that came along. */
interface Asked {
  readonly what: string;
  readonly credentials: string | undefined;
}

let proxy: Server | undefined;
let stack: FakeStack | undefined;

afterEach(async () => {
  proxy?.closeAllConnections();
  proxy?.close();
  await stack?.stop();
  proxy = undefined;
  stack = undefined;
});

/** A proxy that reaches `stack` whatever host it is asked for. */
async function startProxy(target: FakeStack, status = 200): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const note = ({ method, url, headers }: IncomingMessage) =>
    asked.push({ what: `${method} ${url}`, credentials: headers['proxy-authorization'] });
  const server = createServer((incoming, response) => {
    note(incoming);
    response.writeHead(200, { 'content-type': 'application/json' }).end('[]');
  });
  server.on('connect', (incoming, socket) => {
    note(incoming);
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      return;
    }
    const far = connect(Number(new URL(target.url).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n');
      far.pipe(socket).pipe(far);
    });
    for (const end of [far, socket]) end.on('error', () => far.destroy());
  });
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
  proxy = server;
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

function startSecureStack(): Promise<FakeStack> {
  const server = createTlsServer({ key: read('wrong-host.key'), cert: read('wrong-host.pem') });
  return startFakeStack({ 'GET /api/bgp/peers': { status: 200, body: [] } }, { server, scheme: 'https' });
}

const peers = (url: string, environment: Record<string, string>) =>
  runCli(['peers', '--url', url, '--ca-file', join(TLS, 'ca.pem'), '--allow-http'], {
    environment: { GRATICULE_API_TOKEN: 'grt_secret', ...environment },
  });

describe('a proxy', () => {
  it('connects HTTPS through, with its own user, and sees neither path nor token', async () => {
    stack = await startSecureStack();
    const { url, asked } = await startProxy(stack);
    const HTTPS_PROXY = url.replace('//', '//user:p%40ss@');
    const run = await peers('https://elsewhere.example', { HTTPS_PROXY });
    expect(run).toMatchObject({ code: 0, errors: '' });
    const credentials = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
    expect(asked).toEqual([{ what: 'CONNECT elsewhere.example:443', credentials }]);
    expect(stack.requests).toEqual([{ line: 'GET /api/bgp/peers', authorization: 'Bearer grt_secret' }]);
  });

  it('does not stand for the certificate: that must still be the stack’s', async () => {
    stack = await startSecureStack();
    const { url } = await startProxy(stack);
    const run = await peers('https://other.example', { https_proxy: url });
    expect(run).toMatchObject({ code: 3, errors: expect.stringContaining('is for another name') });
  });

  it('gets plain HTTP by the whole URL', async () => {
    stack = await startFakeStack({});
    const { url, asked } = await startProxy(stack);
    expect(await peers('http://stack.example:81', { HTTP_PROXY: url })).toMatchObject({ code: 0 });
    expect(asked.map(({ what }) => what)).toEqual(['GET http://stack.example:81/api/bgp/peers']);
  });

  it('is named when it refuses, asks who we are, or is not there', async () => {
    stack = await startFakeStack({});
    const told = async (status: number) => {
      const { url } = await startProxy(stack as FakeStack, status);
      const { code, errors } = await peers('https://elsewhere.example', { HTTPS_PROXY: url });
      proxy?.close();
      return [code, errors.replace(new URL(url).host, 'PROXY')];
    };
    expect(await told(403)).toEqual([
      3,
      'graticule: the proxy PROXY will not connect to elsewhere.example:443 (403)\n',
    ]);
    expect((await told(407))[1]).toMatch(/^graticule: the proxy PROXY asks for a user and a password/);
    const gone = await peers('https://elsewhere.example', { HTTPS_PROXY: 'http://127.0.0.1:1' });
    expect(gone).toMatchObject({ code: 3, errors: expect.stringContaining('proxy 127.0.0.1:1 cannot be') });
    const wrong = await peers('https://elsewhere.example', { HTTPS_PROXY: 'socks5://user:secret@x:1' });
    expect(wrong).toEqual({
      code: 2,
      output: '',
      errors: 'graticule: HTTPS_PROXY is no proxy as http://host:port\n',
    });
  });

  it('that never answers keeps nobody longer than the time-out', async () => {
    const server = createServer().on('connect', () => {});
    await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
    proxy = server;
    const HTTPS_PROXY = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const run = startCli(['peers', '--url', 'https://elsewhere.example', '--timeout', '1'], {
      environment: { GRATICULE_API_TOKEN: 'grt_x', HTTPS_PROXY },
    });
    expect(await run.ended).toMatchObject({
      code: 3,
      errors: 'graticule: elsewhere.example gave no answer within 1 s\n',
    });
  });

  it('is passed by for this machine, and for what NO_PROXY names', () => {
    const through = (url: string, NO_PROXY = '', more = {}) =>
      proxyFor(new URL(url), { HTTPS_PROXY: 'proxy.example:3128', NO_PROXY, ...more })?.href;
    expect(through('https://stack.example')).toBe('http://proxy.example:3128/');
    expect(through('http://stack.example')).toBeUndefined();
    for (const own of ['https://127.0.0.1', 'https://localhost:8080', 'https://[::1]'])
      expect(through(own), own).toBeUndefined();
    for (const list of ['*', 'stack.example', 'EXAMPLE', '.example', '*.example', 'x, stack.example:443'])
      expect(through('https://stack.example', list), list).toBeUndefined();
    for (const list of ['tack.example', 'stack.example:8443', 'stack.exampl', '10.0.0.1'])
      expect(through('https://stack.example', list), list).toBeDefined();
    expect(through('https://10.0.0.1', '10.0.0.1')).toBeUndefined();
    expect(through('https://stack.example', '', { https_proxy: 'http://lower:1' })).toBe('http://lower:1/');
    expect(() => through('https://stack.example', '', { https_proxy: 'https://p:1' })).toThrow(Failure);
  });
});
