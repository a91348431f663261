import { request as httpRequest } from 'node:http';
import { type AgentOptions, Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as tlsConnect } from 'node:tls';
import { proxyAddress, proxyAuthorization } from './proxy.ts';

/** The proxy cannot be reached, or will not connect us; its message says which. */
export class ProxyFailed extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProxyFailed';
  }
}

/** Opens each TLS connection through an HTTP proxy (CONNECT, RFC 9110 §9.3.6): what goes through it, the proxy cannot read. */
export class TunnelAgent extends HttpsAgent {
  private readonly proxy: URL;

  constructor(proxy: URL, options: AgentOptions) {
    super(options);
    this.proxy = proxy;
  }

  override createConnection(
    options: ConnectionOptions,
    settled: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const { proxy } = this;
    const at = `${options.host?.includes(':') ? `[${options.host}]` : options.host}:${options.port}`;
    const fail = (message: string) => settled(new ProxyFailed(message), undefined as unknown as Duplex);
    const asked = httpRequest({
      ...proxyAddress(proxy),
      method: 'CONNECT',
      path: at,
      headers: { host: at, ...proxyAuthorization(proxy) },
    });
    // The request that wants the connection has its own time limit, and keeps the process until then; this does not.
    asked.once('socket', (socket) => socket.unref());
    asked.once('connect', ({ statusCode }, socket) => {
      if (statusCode === 200) {
        settled(null, tlsConnect({ ...options, socket }));
        return;
      }
      socket.destroy();
      fail(
        statusCode === 407
          ? `the proxy ${proxy.host} asks for a user and a password; they go into its URL`
          : `the proxy ${proxy.host} will not connect to ${at} (${statusCode})`,
      );
    });
    asked.once('response', ({ statusCode }) => {
      asked.destroy();
      fail(`${proxy.host}, named as proxy, is none (${statusCode})`);
    });
    asked.once('error', ({ message }) => fail(`the proxy ${proxy.host} cannot be reached: ${message}`));
    asked.end();
  }
}
