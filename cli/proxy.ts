/** Which proxy a request goes through, by the environment that other programs go by: HTTPS_PROXY, HTTP_PROXY, NO_PROXY. */
import { EXIT, Failure } from './exit-code.ts';
import { isLoopback } from './loopback.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for a URL; undefined: none. Loopback is never proxied: a stack on this machine is meant. Throws a `Failure`
 * for a proxy that is no `http://` URL.
 */
export function proxyFor(url: URL, environment: Environment): URL | undefined {
  if (isLoopback(url.hostname) || isExempt(url, setting(environment, 'no_proxy'))) return undefined;
  const name = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const value = setting(environment, name);
  if (value === '') return undefined;
  const text = value.includes('://') ? value : `http://${value}`;
  const proxy = URL.canParse(text) ? new URL(text) : undefined;
  // The value may hold a password: it is not repeated.
  if (proxy?.protocol !== 'http:')
    throw new Failure(`${name.toUpperCase()} is no proxy as http://host:port`, EXIT.usage);
  return proxy;
}

/** Where it listens, as Node's requests take it: an IPv6 address without its brackets. */
export function proxyAddress(proxy: URL): { readonly hostname: string; readonly port: number } {
  return { hostname: proxy.hostname.replace(/^\[|\]$/g, ''), port: Number(proxy.port || 80) };
}

/** The header by which a proxy knows us, where its URL has a user. */
export function proxyAuthorization(proxy: URL): Readonly<Record<string, string>> {
  if (proxy.username === '') return {};
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** Names are known in both cases, the lower one first, as curl and Go have it. */
function setting(environment: Environment, name: string): string {
  return environment[name] || environment[name.toUpperCase()] || '';
}

/** Entries are names, which stand for what is below them too, addresses, either with a port, or `*` for everything. */
function isExempt(url: URL, list: string): boolean {
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  return list
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const [, name = '', entryPort] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      if (entryPort !== undefined && entryPort !== port) return false;
      const suffix = name.replace(/^\*?\./, '');
      return url.hostname === suffix || url.hostname.endsWith(`.${suffix}`);
    });
}
