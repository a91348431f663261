import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Attempt } from '../../core/delivery-outcome.ts';
import { parseCidrs, type WebhookDialRules } from '../../core/dial-guard.ts';
import { type ResolveName, resolverFor } from '../../functions/webhook-dial.ts';
import { WebhookPool } from '../../functions/webhook-pool.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server/dns-server.ts';
import { type Receiver, startReceiver } from '../support/receiver/receiver.ts';

const IN_AWS: WebhookDialRules = { isLocalRun: false, allow: [] };

let receiver: Receiver;
let dns: DnsServer;
/** What the name server says, one answer a query of type A; the last one stays. */
let answers: string[][] = [];
let ipv6: string[] = [];

beforeAll(async () => {
  receiver = await startReceiver();
  dns = await startDnsServer((_name, type) => {
    if (type === 'AAAA') return ipv6;
    return (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
  });
});

afterEach(() => {
  answers = [];
  ipv6 = [];
  receiver.requests.length = 0;
});

afterAll(async () => {
  dns.stop();
  await receiver.stop();
});

function send(
  url: string,
  rules = IN_AWS,
  resolve: ResolveName = resolverFor(dns.address),
): Promise<Attempt> {
  const pool = new WebhookPool(
    { url: new URL(url), method: 'POST', headers: [], timeoutMilliseconds: 2_000 },
    { rules, resolve, connections: 1 },
  );
  return new Promise((settle) => {
    pool.send(Buffer.from('{}'), (attempt) => {
      pool.retire();
      settle(attempt as Attempt);
    });
  });
}

describe('the dial guard of the webhook', () => {
  for (const [spelling, host] of [
    ['loopback', '127.0.0.1'],
    ['loopback, decimal', '2130706433'],
    ['loopback, octal', '0177.0.0.1'],
    ['loopback, hexadecimal', '0x7f.1'],
    ['loopback, short', '127.1'],
    ['unspecified', '0.0.0.0'],
    ['unspecified IPv6', '[::]'],
    ['loopback IPv6', '[::1]'],
    ['mapped', '[::ffff:127.0.0.1]'],
    ['mapped, in hexadecimal groups', '[::ffff:7f00:1]'],
    ['compatible', '[::127.0.0.1]'],
    ['NAT64', '[64:ff9b::a9fe:a9fe]'],
    ['NAT64, local use', '[64:ff9b:1::7f00:1]'],
    ['6to4', '[2002:a9fe:a9fe::1]'],
    ['Teredo', '[2001:0:4136:e378:8000:63bf:3fff:fdd2]'],
    ['metadata', '169.254.169.254'],
    ['metadata, decimal', '2852039166'],
    ['metadata IPv6', '[fd00:ec2::254]'],
    ['task credentials', '169.254.170.2'],
    ['link-local', '169.254.7.7'],
    ['link-local IPv6', '[fe80::1]'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['private', '10.0.0.1'],
    ['private IPv6', '[fd12:3456::1]'],
    ['multicast', '224.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['documentation', '192.0.2.1'],
  ] as const) {
    it(`refuses ${spelling}: ${host}`, async () => {
      const connectionsBefore = receiver.connections();
      const attempt = await send(`http://${host}:${receiver.port}/`);
      expect(attempt).toMatchObject({ status: null, reason: 'blocked', wasSent: false });
      expect(receiver.connections()).toBe(connectionsBefore);
    });
  }

  it('looks at every answer of a name, each time it connects: public first, 127.0.0.1 then', async () => {
    answers = [['192.88.98.1'], ['127.0.0.1']];
    // The first answer would be dialled: nobody is there, or nothing leads there.
    const first = await resolverFor(dns.address)('rebind.example');
    expect(first).toEqual(['192.88.98.1']);
    const connectionsBefore = receiver.connections();
    const second = await send(`http://rebind.example:${receiver.port}/`);
    expect(second).toMatchObject({ status: null, reason: 'blocked' });
    expect(receiver.connections()).toBe(connectionsBefore);
  });

  it('dials, of several answers, only those that are allowed', async () => {
    answers = [['169.254.169.254', '127.0.0.1']];
    const attempt = await send(`http://mixed.example:${receiver.port}/`, { isLocalRun: true, allow: [] });
    expect(attempt).toMatchObject({ status: 200 });
  });

  it('refuses a name whose only answers are NAT64 for an inside address', async () => {
    ipv6 = ['64:ff9b::7f00:1'];
    expect(await send('http://nat64.example/')).toMatchObject({ reason: 'blocked' });
  });

  it('never reaches metadata, task credentials and link-local, whatever is allowed', async () => {
    const rules = { isLocalRun: true, allow: parseCidrs('0.0.0.0/0,::/0') };
    for (const host of ['169.254.169.254', '169.254.170.2', '[fd00:ec2::254]', '169.254.1.1', '[fe80::1]']) {
      expect(await send(`http://${host}/`, rules), host).toMatchObject({ reason: 'blocked' });
    }
  });

  it('opens private ranges by the allow-list, and those only', async () => {
    const rules = { isLocalRun: false, allow: parseCidrs('10.1.0.0/16, fd00::/8') };
    const blocked = async (host: string) => {
      const attempt = await send(`http://${host}:1/`, rules, async () => []);
      return attempt.status === null && attempt.reason === 'blocked';
    };
    expect(await blocked('10.2.0.1')).toBe(true);
    expect(await blocked('192.168.0.1')).toBe(true);
    expect(await blocked('127.0.0.1')).toBe(true);
    expect(() => parseCidrs('10.0.0.0/33')).toThrow('10.0.0.0/33');
    expect(() => parseCidrs('inside')).toThrow('inside');
  });

  it('says dns when the name has no address', async () => {
    expect(await send('http://nothing.example/')).toMatchObject({ status: null, reason: 'dns' });
  });

  it('follows a name that moves once its connections have ended', async () => {
    const rules = { isLocalRun: true, allow: [] };
    answers = [['127.0.0.2'], ['127.0.0.1']];
    expect(await send(`http://moves.example:${receiver.port}/`, rules)).toMatchObject({ reason: 'connect' });
    expect(await send(`http://moves.example:${receiver.port}/`, rules)).toMatchObject({ status: 200 });
  });
});
