import { deepEqual, equal, ok } from 'node:assert/strict';
import type { TestCase } from '../../harness.ts';
import { contractClient } from '../../support/contract-client.ts';
import { GOBGP_VERSION, startGobgpd } from '../../support/gobgp.ts';
import { startStack } from '../../support/stack.ts';
import { until } from '../../support/until.ts';

const BGP = ['bgp', 'protocol', '2', 'identifier', '7'];
const NODE_9 = ['local-asn', '65000', 'local-bgp-ls-id', '0', 'local-igp-router-id', '0000.0000.0009'];
const NODE_2 = ['remote-asn', '65000', 'remote-bgp-ls-id', '0', 'remote-igp-router-id', '0000.0000.0002'];
const LINK = ['link', ...BGP, ...NODE_9, ...NODE_2, 'link-local-id', '1', 'link-remote-id', '2'];
const PEER = {
  name: 'gobgp',
  'peer-address': '127.0.0.3',
  'peer-port': 1793,
  'user-peer-as': '65000',
  'connect-retry': 1,
  enabled: true,
};

/** What a newcomer does with curl, done by a program: the product as `npm start` runs it, and a real BGP speaker. */
export const testCase: TestCase = {
  title: `first light: gobgpd ${GOBGP_VERSION} originates link state, the API shows the topology`,
  inCi: true,
  async run({ check, log, scratchDirectory }) {
    const gobgpd = await startGobgpd({
      directory: scratchDirectory,
      address: '127.0.0.3',
      port: 1793,
      apiPort: 50_061,
      as: 65_000,
      neighborAddress: '127.0.0.1',
      neighborAs: 65_000,
    });
    const stack = await startStack();
    const api = contractClient(stack.send, stack.token);
    const list = async (kind: string) =>
      (await api.send({ method: 'GET', path: `/api/topology/${kind}` })).json;
    try {
      log(`ready after ${Math.round(stack.readyAfter)} ms`);
      const add = (...words: string[]) => gobgpd.gobgp('global', 'rib', 'add', '-a', 'ls', ...words);
      add('node', ...BGP, ...NODE_9, 'node-name', 'r9', 'isis-area-id', '490001', 'sr-algorithm', '0', '1');
      add(...LINK, 'max-link-bandwidth', '1000', 'te-default-metric', '50', 'metric', '10');
      add('prefixv6', ...BGP, ...NODE_9, 'ip-reachability-info', 'fc00:b100:1::/64');

      const asked = performance.now();
      const made = await api.send({ method: 'POST', path: '/api/bgp/peers', body: PEER });
      equal(made.status, 201, made.text);
      const path = made.headers['location'] as string;
      const peer = async () => (await api.send({ method: 'GET', path })).json;
      await until('a first attempt', peer, (seen) => seen.session.attempts > 0 || seen.state !== 'idle');
      log(`POST to first connect, seen by GET: ${Math.round(performance.now() - asked)} ms (target 2000)`);
      const up = await until('established', peer, (seen) => seen.state === 'established');
      await until(
        'the topology',
        () => api.send({ method: 'GET', path: '/api/topology' }),
        ({ json }) => json.counts?.prefixes?.total === 1 && json.counts.links.total === 1,
      );
      const readableAfter = Date.now() - Date.parse(up.session['established-since']);
      log(`established to readable: ${readableAfter} ms (target 2000)`);

      await check('the peer reports what it negotiated and what it received', async () => {
        const { session, state, ...rest } = await until(
          'counts',
          peer,
          (seen) => seen.session.nlris.node === 1,
        );
        equal(state, 'established');
        equal(session['peer-identifier'], '10.0.0.3');
        equal(session['peer-address'], '127.0.0.3');
        equal(session['hold-time'], 90);
        ok(session['capabilities-received'].includes('multiprotocol:16388/71'));
        const { node, link, 'ipv6-prefix': prefix } = session.nlris;
        deepEqual({ node, link, prefix }, { node: 1, link: 1, prefix: 1 });
        ok(rest['messages-received'] >= 2 && rest['messages-sent'] >= 2);
        equal(rest['last-error'], '');
      });

      await check('the node, the link and the prefix have the values that gobgp was given', async () => {
        const nodes = await list('nodes');
        const r9 = nodes.find((node: { advertised: boolean }) => node.advertised);
        const r2 = nodes.find((node: { advertised: boolean }) => !node.advertised);
        equal(r9.descriptor['igp-router-id'], '0000.0000.0009');
        equal(r9.descriptor['autonomous-system'], 65_000);
        equal(r9.protocol, 'isis-level-2');
        equal(r9.identifier, 7);
        equal(r9.attributes['node-name'], 'r9');
        deepEqual(r9.attributes['isis-area-identifiers'], ['49.0001']);
        deepEqual(r9.attributes['sr-algorithms'], [0, 1]);
        equal(r2.descriptor['igp-router-id'], '0000.0000.0002');

        const [link] = await list('links');
        equal(link['local-node'].id, r9.id);
        equal(link['remote-node'].id, r2.id);
        equal(link.descriptor['link-local-identifier'], 1);
        equal(link.descriptor['link-remote-identifier'], 2);
        equal(link.attributes['igp-metric'], 10);
        equal(link.attributes['te-default-metric'], 50);
        equal(link.attributes['maximum-link-bandwidth-bytes-per-second'], 1000);

        const [prefix] = await list('prefixes');
        equal(prefix.type, 'ipv6-prefix');
        equal(prefix.descriptor['ip-reachability'], 'fc00:b100:1::/64');
        equal(prefix.node.id, r9.id);
      });

      await check('a withdrawn link is gone, and so is the node that only it named', async () => {
        gobgpd.gobgp('global', 'rib', 'del', '-a', 'ls', ...LINK);
        await until(
          'no link',
          () => list('links'),
          (links) => links.length === 0,
        );
        equal((await list('nodes')).length, 1);
      });

      await check(
        'enabled false ends the session with Cease 6/2 and empties the topology; true starts it',
        async () => {
          const current = await peer();
          await api.send({ method: 'PUT', path, body: { ...current, enabled: false } });
          const stopped = await until('idle', peer, (seen) => seen.session.reason === 'disabled');
          equal(stopped.state, 'idle');
          const { code, subcode } = stopped.session['last-notification-sent'];
          deepEqual({ code, subcode }, { code: 6, subcode: 2 });
          ok(stopped['messages-received'] >= current['messages-received']);
          await until(
            'an empty topology',
            () => list('nodes'),
            (nodes) => nodes.length === 0,
          );
          await api.send({ method: 'PUT', path, body: { ...current, enabled: true } });
          await until('established again', peer, (seen) => seen.state === 'established');
          await until(
            'the node again',
            () => list('nodes'),
            (nodes) => nodes.length === 1,
          );
        },
      );

      await check('reset ends the session with Cease 6/4 and it comes back', async () => {
        const before = await peer();
        equal((await api.send({ method: 'POST', path: `${path}/reset` })).status, 202);
        const isLater = (seen: typeof before) =>
          seen.state === 'established' &&
          seen.session['established-since'] > before.session['established-since'];
        const after = await until('a later session', peer, isLater);
        equal(after.session['last-notification-sent'].subcode, 4);
      });

      await check(
        'a peer that dies leaves its objects marked stale, and last-error says what happened',
        async () => {
          await gobgpd.stop();
          const lost = await until('down', peer, (seen) => seen.state !== 'established');
          ok(lost['last-error'].length > 10, lost['last-error']);
          log(`last-error: ${lost['last-error']}`);
          const [node] = await until(
            'stale',
            () => list('nodes'),
            (nodes) => nodes[0]?.stale === true,
          );
          equal(node.sources[0].state, 'stale');
          ok(node.sources[0]['purge-at'] > node.sources[0]['stale-since']);
        },
      );

      await check('DELETE removes the peer and what it told', async () => {
        equal((await api.send({ method: 'DELETE', path })).status, 204);
        await until(
          'an empty topology',
          () => list('nodes'),
          (nodes) => nodes.length === 0,
        );
      });
    } finally {
      await stack.stop();
      await gobgpd.stop();
    }
  },
};
