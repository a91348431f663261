/**
 * Preloaded (`node --import`) into the processes of a stack under test: whatever they dial outside of loopback fails at
 * once and leaves a line in the file that GRATICULE_TEST_DIALS names. Names but `localhost` are not looked up.
 */
import dgram from 'node:dgram';
import dns from 'node:dns';
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net, { BlockList, isIP } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

function isAllowed(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host === 'localhost';
  return loopback.check(host, family === 4 ? 'ipv4' : 'ipv6');
}

function tell(how: string, host: string): void {
  const file = process.env['GRATICULE_TEST_DIALS'];
  if (file !== undefined) appendFileSync(file, `${how} ${host}\n`);
}

const refusal = (host: string) =>
  Object.assign(new Error(`${host} is not on loopback`), { code: 'ENETUNREACH', errno: -101 });

const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (this: net.Socket, ...words: unknown[]) {
  const first = Array.isArray(words[0]) ? (words[0] as unknown[])[0] : words[0];
  const options =
    typeof first === 'object' && first !== null ? (first as { host?: string; path?: string }) : undefined;
  const host = options === undefined ? (words[1] as string | undefined) : options.host;
  if (options?.path !== undefined || typeof host !== 'string' || isAllowed(host)) {
    return Reflect.apply(connect, this, words);
  }
  tell('tcp', host);
  process.nextTick(() => this.destroy(refusal(host)));
  return this;
} as typeof connect;

const { lookup } = dns;
const guarded = (...words: unknown[]) => {
  const host = String(words[0]);
  if (isAllowed(host)) return Reflect.apply(lookup, dns, words);
  if (isIP(host) !== 0) tell('lookup', host);
  const answer = words.at(-1) as (error: Error) => void;
  process.nextTick(answer, Object.assign(new Error(`${host} is not looked up here`), { code: 'ENOTFOUND' }));
  return {};
};
dns.lookup = guarded as typeof lookup;
const { lookup: lookupLater } = dns.promises;
dns.promises.lookup = (async (host: string, ...rest: unknown[]) => {
  if (isAllowed(host)) return Reflect.apply(lookupLater, dns.promises, [host, ...rest]);
  throw Object.assign(new Error(`${host} is not looked up here`), { code: 'ENOTFOUND' });
}) as typeof lookupLater;

const { send } = dgram.Socket.prototype;
dgram.Socket.prototype.send = function (this: dgram.Socket, ...words: unknown[]) {
  const host = words.find((word) => typeof word === 'string' && isIP(word) !== 0) as string | undefined;
  if (host === undefined || isAllowed(host)) return Reflect.apply(send, this, words);
  tell('udp', host);
  const answer = words.at(-1);
  if (typeof answer === 'function') process.nextTick(answer as (error: Error) => void, refusal(host));
} as typeof send;

syncBuiltinESMExports();
