import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeAttribute } from '../../protocols/bgp/ls/attribute.ts';
import { encodeNlri } from '../../protocols/bgp/ls/nlri.ts';
import type { TopologyLogWriter } from '../../store/topology-log.ts';
import { requireDeclaredAnswer } from '../support/answer-conformance.ts';
import { answerOf } from '../support/api-client.ts';
import { type Emulators, runAs, startEmulators } from '../support/stack.ts';
import { type FakeWorker, startFakeWorker } from '../support/topology-worker.ts';

// biome-ignore lint/suspicious/noExplicitAny: a body of the API, whose members the tests assert
type ApiObject = any;

const ISIS = { safi: 71, protocol: 'isis-level-2', identifier: 7n } as const;
const router = (number: number) => ({
  'autonomous-system': 65000,
  'igp-router-id': `0000.0000.000${number}`,
});
const nodeNlri = (number: number) =>
  encodeNlri({ type: 'node', ...ISIS, localNode: router(number), descriptor: {} });
const linkNlri = (from: number, to: number) =>
  encodeNlri({
    type: 'link',
    ...ISIS,
    localNode: router(from),
    remoteNode: router(to),
    descriptor: {
      'ipv4-interface-addresses': [`10.0.${Math.min(from, to)}.${from}`],
      'ipv4-neighbor-addresses': [`10.0.${Math.min(from, to)}.${to}`],
    },
  });
const prefixNlri = (number: number) =>
  encodeNlri({
    type: 'ipv4-prefix',
    ...ISIS,
    localNode: router(number),
    descriptor: { 'ip-reachability': `10.9.${number}.0/24` },
  });
const NODE = { protocolId: 2, nlriType: 1 };
const LINK = { protocolId: 2, nlriType: 2 };
const PREFIX = { protocolId: 2, nlriType: 3 };

describe('the topology of one peer', () => {
  let emulators: Emulators;
  let worker: FakeWorker;
  let log: TopologyLogWriter;
  const fenced: Error[] = [];
  const get = async (path: string) => {
    const { status, headers, text } = await emulators.send({
      method: 'GET',
      path,
      headers: { authorization: `Bearer ${emulators.token}` },
    });
    requireDeclaredAnswer('GET', path, answerOf(status, { ...headers }, text));
    return { status, headers, body: JSON.parse(text) };
  };
  const flush = () => runAs('worker', () => log.flush());

  beforeAll(async () => {
    emulators = await startEmulators({ as: 'worker' });
    const created = await emulators.send({
      method: 'POST',
      path: '/api/bgp/peers',
      headers: { authorization: `Bearer ${emulators.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        name: 'rr1',
        'peer-address': '192.0.2.1',
        'user-peer-as': '65000',
        enabled: true,
      }),
    });
    expect(created.status).toBe(201);
    worker = await startFakeWorker('w-1');
    log = await worker.own(1, { onFenced: (error) => fenced.push(error) });
    const now = Date.now();
    log.established(now);
    log.announce(71, nodeNlri(1), encodeAttribute({ 'node-name': 'r1' }, NODE), now);
    log.announce(71, nodeNlri(2), encodeAttribute({ 'node-name': 'r2' }, NODE), now);
    log.announce(71, linkNlri(1, 2), encodeAttribute({ 'igp-metric': 10 }, LINK), now);
    log.announce(71, linkNlri(2, 1), encodeAttribute({ 'igp-metric': 20 }, LINK), now);
    log.announce(71, linkNlri(2, 3), encodeAttribute({ 'igp-metric': 30 }, LINK), now);
    log.announce(71, prefixNlri(1), encodeAttribute({ 'prefix-metric': 5 }, PREFIX), now);
    await flush();
  });
  afterAll(async () => {
    await log?.close();
    await emulators?.stop();
  });

  it('is counted in the summary', async () => {
    const { status, headers, body } = await get('/api/topology');
    expect(status).toBe(200);
    expect(body.counts).toEqual({
      nodes: { total: 3, advertised: 2, pseudonodes: 0, stale: 0 },
      links: { total: 3, paired: 2, unpaired: 1, ambiguous: 0, stale: 0 },
      prefixes: { total: 1, ipv4: 1, ipv6: 0, stale: 0 },
      'srv6-sids': { total: 0, stale: 0 },
      'sr-policies': { total: 0, stale: 0 },
      unknown: 0,
    });
    expect(body.peers).toMatchObject([{ 'peer-id': 1, state: 'established', stale: false, nlris: 6 }]);
    expect(headers['topology-version']).toBe(body.version);
  });

  it('has nodes in the shape of the API, with the one that only a link names', async () => {
    const { body } = await get('/api/topology/nodes');
    expect(body.map((node: ApiObject) => node.id)).toEqual(body.map((node: ApiObject) => node.id).toSorted());
    const [r1] = body.filter((node: ApiObject) => node.attributes['node-name'] === 'r1');
    expect(r1).toEqual({
      id: expect.stringMatching(/^n\.[A-Za-z0-9_-]{22}$/),
      type: 'node',
      protocol: 'isis-level-2',
      identifier: 7,
      safi: 71,
      'route-distinguisher': '',
      descriptor: router(1),
      pseudonode: false,
      advertised: true,
      attributes: { 'node-name': 'r1' },
      'unknown-tlvs': [],
      'attributes-missing': false,
      stale: false,
      conflict: null,
      sources: [
        {
          'peer-id': 1,
          selected: true,
          state: 'live',
          'received-at': expect.any(String),
          'changed-at': expect.any(String),
          'stale-since': null,
          'purge-at': null,
        },
      ],
      'first-seen': expect.any(String),
      'last-changed': expect.any(String),
    });
    const unadvertised = body.filter((node: ApiObject) => !node.advertised);
    expect(unadvertised).toHaveLength(1);
    expect(unadvertised[0].descriptor).toEqual(router(3));
    expect(unadvertised[0]['attributes-missing'], 'which is for what came without its attribute').toBe(false);
  });

  it('has routers, each with its nodes', async () => {
    const { body } = await get('/api/topology/routers');
    expect(body).toHaveLength(3);
    const [router] = (await get('/api/topology/routers?name=r1')).body as ApiObject[];
    const [node] = (await get('/api/topology/nodes?name=r1')).body as ApiObject[];
    expect(router).toMatchObject({ 'router-id': '0000.0000.0001', names: ['r1'], nodes: [{ id: node.id }] });
    expect((await get(`/api/topology/routers/${router.id}`)).body).toEqual(router);
  });

  it('pairs half-links by their addresses', async () => {
    const { body } = await get('/api/topology/links');
    const there = body.find((link: ApiObject) => link.attributes['igp-metric'] === 10);
    const back = body.find((link: ApiObject) => link.attributes['igp-metric'] === 20);
    expect(there.reverse).toEqual({ id: back.id, 'paired-by': 'addresses', ambiguous: false });
    expect(back.reverse.id).toBe(there.id);
    expect(there['local-node'].id).toBe(back['remote-node'].id);
  });

  it('gives one object by its id, with hex when asked', async () => {
    const [prefix] = (await get('/api/topology/prefixes')).body;
    const { body } = await get(`/api/topology/prefixes/${prefix.id}?raw=true`);
    expect(body.sources[0].raw.nlri).toBe(Buffer.from(prefixNlri(1)).toString('hex'));
    expect((await get('/api/topology/prefixes/p.nothing')).status).toBe(404);
  });

  it('names a node that a link names as the node will name itself', async () => {
    const before = (await get('/api/topology/nodes')).body.find((node: ApiObject) => !node.advertised);
    log.announce(71, nodeNlri(3), encodeAttribute({ 'node-name': 'r3' }, NODE), Date.now());
    await flush();
    const after = (await get('/api/topology/nodes')).body.find(
      (node: ApiObject) => node.attributes['node-name'] === 'r3',
    );
    expect(after.id).toBe(before.id);
    log.withdraw(71, nodeNlri(3), Date.now());
    await flush();
  });

  it('refuses a query parameter that it does not know', async () => {
    expect((await get('/api/topology/nodes?protcol=x')).status).toBe(400);
  });

  it('gives the version with what it refuses too, but not to strangers', async () => {
    const version = (await get('/api/topology')).headers['topology-version'];
    expect(version).toMatch(/./);
    const ask = (method: string, path: string, token = emulators.token) =>
      emulators.send({ method, path, headers: { authorization: `Bearer ${token}` } });
    for (const [method, path, status] of [
      ['GET', '/api/topology/nodes?protcol=x', 400],
      ['GET', '/api/topology/nodes/n.AAAAAAAAAAAAAAAAAAAAAA', 404],
      ['GET', '/api/topology/changes?since=nonsense', 400],
      ['GET', '/api/topology/graph?format=png', 400],
      ['HEAD', '/api/topology/events?limit=0', 400],
      ['GET', '/api/topology/edges', 404],
      ['DELETE', '/api/topology/nodes', 405],
    ] as const) {
      const answer = await ask(method, path);
      expect([path, answer.status]).toEqual([path, status]);
      expect(answer.headers['topology-version']).toBe(version);
    }
    const stranger = await ask('GET', '/api/topology/nodes', 'grt_nobody');
    expect(stranger.status).toBe(401);
    expect(stranger.headers['topology-version']).toBeUndefined();
    // A refusal after a change has the version after it, whatever this instance had read before.
    log.announce(71, nodeNlri(8), encodeAttribute({ 'node-name': 'r8' }, NODE), Date.now());
    await flush();
    const after = (await ask('GET', '/api/topology/nodes?protcol=x')).headers['topology-version'];
    expect(after).not.toBe(version);
    expect((await get('/api/topology')).body.version).toBe(after);
    log.withdraw(71, nodeNlri(8), Date.now());
    await flush();
  });

  it('shows everything as stale once the session is lost, and live again once it is back', async () => {
    log.lost(Date.now(), 0);
    await flush();
    const [stale] = (await get('/api/topology/links')).body;
    expect(stale.stale).toBe(true);
    expect(stale.sources[0]).toMatchObject({ state: 'stale' });
    expect((await get('/api/topology/links?stale=exclude')).body).toEqual([]);
    const now = Date.now();
    log.established(now);
    log.announce(71, nodeNlri(1), encodeAttribute({ 'node-name': 'r1' }, NODE), now);
    log.endOfRib(now);
    await flush();
    const { body } = await get('/api/topology');
    expect(body.counts.nodes).toEqual({ total: 1, advertised: 1, pseudonodes: 0, stale: 0 });
    expect(body.counts.links.total).toBe(0);
  });

  it('says what changed since a version, and waits for it', async () => {
    const { body: summary } = await get('/api/topology');
    const changes = (since: string, wait = 0) => get(`/api/topology/changes?since=${since}&wait=${wait}`);
    const none = await changes(summary.version);
    expect(none.body).toEqual({ from: summary.version, to: summary.version, changes: [] });
    expect(none.headers['retry-after']).toBe('1');
    const waiting = changes(summary.version, 5);
    log.announce(71, linkNlri(1, 2), encodeAttribute({ 'igp-metric': 77 }, LINK), Date.now());
    const { body } = await waiting;
    expect(body.from).toBe(summary.version);
    expect(body.changes.map(({ action, kind }: ApiObject) => `${action} ${kind}`).toSorted()).toEqual([
      'put link',
      'put node',
    ]);
    const put = body.changes.find(({ kind }: ApiObject) => kind === 'link');
    expect(put.object).toMatchObject({ id: put.id, attributes: { 'igp-metric': 77 } });
    log.withdraw(71, linkNlri(1, 2), Date.now());
    await flush();
    const after = (await changes(body.to)).body.changes;
    expect(after).toContainEqual({ action: 'remove', kind: 'link', id: put.id });
    expect(after.filter(({ kind }: ApiObject) => kind === 'node')).toMatchObject([{ action: 'remove' }]);
    expect((await changes('nonsense')).status).toBe(400);
  });

  it('tells what happened, newest first, with what differs', async () => {
    log.announce(71, nodeNlri(1), encodeAttribute({ 'node-name': 'renamed' }, NODE), Date.now());
    await flush();
    const { body } = await get('/api/topology/events?limit=1');
    expect(body).toEqual([
      {
        id: expect.stringMatching(/^e\.1\.\d+\.\d+$/),
        at: expect.any(String),
        kind: 'node',
        'object-id': expect.stringMatching(/^n\./),
        action: 'changed',
        'peer-id': 1,
        before: { 'node-name': 'r1' },
        after: { 'node-name': 'renamed' },
      },
    ]);
    const all = (await get('/api/topology/events?limit=1000')).body;
    expect(new Set(all.map(({ action }: ApiObject) => action))).toEqual(
      new Set(['added', 'changed', 'removed', 'stale', 'recovered', 'purged']),
    );
    const times = all.map(({ at }: ApiObject) => at);
    expect(times).toEqual(times.toSorted().toReversed());
    const paged: ApiObject[] = [];
    for (let path = '/api/topology/events?limit=7'; path !== ''; ) {
      const page = await get(path);
      paged.push(...page.body);
      path = /<(.*)>/.exec(page.headers['link'] ?? '')?.[1] ?? '';
    }
    expect(paged).toEqual(all);
    log.announce(71, nodeNlri(1), encodeAttribute({ 'node-name': 'r1' }, NODE), Date.now());
    await flush();
  });

  it('draws the graph for other tools', async () => {
    for (const [format, start] of [
      ['json', '{"version":'],
      ['rfc8345', '{"ietf-network:networks"'],
      ['graphml', '<?xml'],
      ['dot', 'digraph'],
    ]) {
      const path = `/api/topology/graph?format=${format}`;
      const { status, headers, text } = await emulators.send({
        method: 'GET',
        path,
        headers: { authorization: `Bearer ${emulators.token}` },
      });
      requireDeclaredAnswer('GET', path, answerOf(status, { ...headers }, text));
      expect(status).toBe(200);
      expect(text.startsWith(start as string)).toBe(true);
    }
  });

  it('draws it anew after a change, and the same octets again after none', async () => {
    const draw = async (format: string, stale: string) => {
      const { text } = await emulators.send({
        method: 'GET',
        path: `/api/topology/graph?format=${format}&stale=${stale}`,
        headers: { authorization: `Bearer ${emulators.token}`, 'accept-encoding': 'gzip' },
      });
      return text;
    };
    const forms = ['json', 'rfc8345', 'graphml', 'dot'].flatMap((format) => [
      () => draw(format, 'include'),
      () => draw(format, 'exclude'),
    ]);
    const drawAll = () => Promise.all(forms.map((each) => each()));
    const before = await drawAll();
    expect(await drawAll()).toEqual(before);
    log.announce(71, linkNlri(1, 9), encodeAttribute({ 'igp-metric': 771_077 }, LINK), Date.now());
    await flush();
    const after = await drawAll();
    for (const [each, text] of after.entries()) {
      expect(before[each]).not.toContain('771077');
      expect(text).toContain('771077');
    }
    await worker.beat(Date.now() - 13_000);
    for (const text of await Promise.all(
      ['rfc8345', 'graphml', 'dot'].map((form) => draw(form, 'exclude')),
    )) {
      expect(text).not.toContain('771077');
    }
    await worker.beat(Date.now());
    expect((await drawAll()).slice(2)).toEqual(after.slice(2));
    log.withdraw(71, linkNlri(1, 9), Date.now());
    await flush();
  });

  it('shows a dead worker’s objects as stale, though nobody wrote so', async () => {
    await worker.beat(Date.now() - 13_000);
    const { body } = await get('/api/topology/nodes');
    expect(body[0]).toMatchObject({ stale: true });
    await worker.beat(Date.now());
    expect((await get('/api/topology/nodes')).body[0]).toMatchObject({ stale: false });
  });

  it('shows them as stale from the moment when another process has the worker’s id, until it has taken over', async () => {
    const lastBeat = Date.now() - 5_000;
    await worker.beat(lastBeat);
    worker = await startFakeWorker('w-1', Date.now() + 1);
    const [node] = (await get('/api/topology/nodes')).body;
    expect(node).toMatchObject({ stale: true });
    // Dated by the last sign of life of the process that died, or of its log.
    const staleSince = Date.parse(node.sources[0]['stale-since']);
    expect(staleSince).toBeGreaterThanOrEqual(lastBeat);
    expect(staleSince).toBeLessThan(Date.now());
    log = await worker.own(1, { onFenced: (error) => fenced.push(error) });
    log.established(Date.now());
    log.announce(71, nodeNlri(1), encodeAttribute({ 'node-name': 'r1' }, NODE), Date.now());
    await flush();
    expect((await get(`/api/topology/nodes/${node.id}`)).body).toMatchObject({ stale: false });
  });

  it('answers what is too large for the gateway with the address of the body', async () => {
    const now = Date.now();
    for (let number = 0; number < 9_000; number += 1) {
      const igpRouterId = `0001.0000.${number.toString(16).padStart(4, '0')}`;
      const localNode = { 'autonomous-system': 65000, 'igp-router-id': igpRouterId };
      const nlri = encodeNlri({ type: 'node', ...ISIS, localNode, descriptor: {} });
      log.announce(71, nlri, encodeAttribute({ 'node-name': `router-${number}` }, NODE), now);
    }
    await flush();
    const authorization = `Bearer ${emulators.token}`;
    const plain = await emulators.send({
      method: 'GET',
      path: '/api/topology/nodes',
      headers: { authorization },
    });
    expect(plain.status).toBe(303);
    expect(plain.text).toBe('');
    const body = await fetch(plain.headers['location'] as string);
    expect(body.headers.get('content-type')).toBe('application/json');
    expect(await body.json()).toHaveLength(9_001);
    // The emulator looks at no signature; AWS does.
    expect(plain.headers['location']).toMatch(/X-Amz-Expires=300&.*X-Amz-Signature=/);
    log.purge('disabled', Date.now());
    log.announce(71, nodeNlri(1), encodeAttribute({ 'node-name': 'r1' }, NODE), Date.now());
    await flush();
  });

  it('hides what a writer writes whose epoch is over', async () => {
    const second = await startFakeWorker('w-2');
    const successor = await second.own(1);
    log.announce(71, nodeNlri(4), encodeAttribute({ 'node-name': 'r4' }, NODE), Date.now());
    await expect(runAs('worker', () => log.flush())).rejects.toThrow('epoch 2 may no longer write');
    expect(fenced.map((error) => error.name)).toEqual(['FencedWriter']);
    await runAs('worker', () => successor.flush());
    const { body } = await get('/api/topology/nodes');
    expect(body).toHaveLength(1);
    expect(body[0]).toMatchObject({ stale: true, attributes: { 'node-name': 'r1' } });
    log = successor;
  });
});
