import { describe, expect, it } from 'vitest';
import { applyPlan, StateKeeper } from '../../cli/apply.ts';
import { ApiClient } from '../../cli/client.ts';
import { readCurrent } from '../../cli/current.ts';
import { readDeclaration } from '../../cli/declaration.ts';
import { Failure } from '../../cli/exit-code.ts';
import type { JsonObject } from '../../cli/json-text.ts';
import { planChanges } from '../../cli/plan.ts';
import type { CurrentState, Plan, PlanOptions, Step } from '../../cli/plan-steps.ts';
import { formatPlan, planJson } from '../../cli/plan-text.ts';
import { resolveSecrets } from '../../cli/secret-values.ts';
import { SourceFile } from '../../cli/source-file.ts';
import { type ApplyState, EMPTY_STATE } from '../../cli/state-file.ts';
import { terminalOf } from '../../cli/terminal.ts';
import { COLLECTIONS, configurationOf, KINDS, type WantedState } from '../../cli/wanted.ts';
import { MemoryApi } from '../support/memory-api.ts';
import { Random, testSeed } from '../support/random.ts';
import { RANDOM_ENVIRONMENT, type RandomDocument, randomDocument } from '../support/random-declaration.ts';

const OPTIONS: PlanOptions = { adopt: false, resendSecrets: false };

const TERMINAL = terminalOf({ write: () => {} }, { write: () => {} }, {});

function clientOf(api: MemoryApi): ApiClient {
  return new ApiClient({
    url: new URL('http://127.0.0.1:1'),
    token: 't',
    tokenIsFrom: '',
    signal: new AbortController().signal,
    exchange: api.exchange,
    sleep: async () => {},
  });
}

function wantedOf(document: RandomDocument): WantedState {
  const source = new SourceFile('graticule.json', JSON.stringify(document));
  const { wanted, mistakes } = readDeclaration([source], '/');
  expect(mistakes).toEqual([]);
  return wanted;
}

/** Files, state and a stack: what a person who runs `apply` has. */
class Bed {
  readonly api = new MemoryApi();
  readonly client = clientOf(this.api);
  state: ApplyState = EMPTY_STATE;
  readonly interrupt = new AbortController();

  async plan(document: RandomDocument, options: Partial<PlanOptions> = {}): Promise<Plan> {
    return this.planOf(wantedOf(document), await readCurrent(this.client), options);
  }

  planOf(wanted: WantedState, current: CurrentState, options: Partial<PlanOptions> = {}): Plan {
    return planChanges(current, wanted, this.state, { ...OPTIONS, ...options });
  }

  async apply(plan: Plan, onStep: (step: Step) => void = () => {}, seen?: CurrentState) {
    const current = seen ?? (await readCurrent(this.client));
    const secrets = await resolveSecrets(plan, {
      environment: RANDOM_ENVIRONMENT,
      readManaged: () => Promise.reject(new Error('no secret is there')),
    });
    expect(secrets.mistakes).toEqual([]);
    const write = (next: ApplyState) => {
      this.state = structuredClone(next);
    };
    const keeper = new StateKeeper(this.state, write, () => 0);
    return applyPlan({
      ...{ plan, current, client: this.client, secrets, keeper },
      interrupt: this.interrupt.signal,
      onStep,
    });
  }

  /** Plans and applies what must work. */
  async make(document: RandomDocument, options: Partial<PlanOptions> = {}): Promise<Plan> {
    const plan = await this.plan(document, options);
    expect([...plan.conflicts, ...plan.mistakes]).toEqual([]);
    const outcome = await this.apply(plan);
    expect(outcome).toEqual({ done: plan.steps.length, failures: [], left: 0 });
    return plan;
  }

  post(collection: string, body: object) {
    return this.client.send('POST', collection, { body: body as JsonObject });
  }
}

const PEER = { name: 'rr1', 'peer-address': '127.0.1.1', 'user-peer-as': '65001' };
const MODEL = {
  name: 'm',
  version: '1.0.0',
  fields: [{ name: 'f1', type: 'string' }],
  mappings: [{ protocol: 'gnmi', netos: '*', field_mappings: { f1: '/a/b' } }],
};
const SUBSCRIPTION = {
  name: 's',
  'model-name': 'm',
  'model-version': 'latest',
  mode: 'sample',
  'interval-ms': 1_000,
};

const shown = (plan: Plan) => plan.steps.map(({ method, path }) => `${method} ${path}`);

describe('a plan', () => {
  it('is exactly what apply then does, on 1,000 random pairs of current and wanted state', async () => {
    const random = new Random(testSeed('plan'));
    const counted = { pairs: 0, refused: 0, steps: 0, adopted: 0 };
    let bed = new Bed();
    for (let tries = 0; counted.pairs < 1_000; tries += 1) {
      // What these files made so far, what other people made, and what they did to both.
      if (tries % 10 === 0) bed = new Bed();
      if (random.chance(0.2)) await strangers(bed, random);
      if (random.chance(0.5)) await meddle(bed, random);

      const document = randomDocument(random);
      const wanted = wantedOf(document);
      const options = { adopt: random.chance(0.5), resendSecrets: random.chance(0.1) };
      const before = await readCurrent(bed.client);
      const plan = bed.planOf(wanted, before, options);
      const revisions = bed.api.revisions();
      const stateBefore = bed.state;
      if (plan.conflicts.length + plan.mistakes.length > 0) {
        counted.refused += 1;
        continue;
      }
      bed.api.writes.length = 0;
      const outcome = await bed.apply(plan, () => {}, before);
      expect(outcome, JSON.stringify(document)).toEqual({ done: plan.steps.length, failures: [], left: 0 });

      // Each step one write, in the plan's order of waves; what the plan shows is what was sent, secrets aside.
      const sent = bed.api.writes.map(({ method, path }) => `${method} ${path.replace(/\/\d+/g, '/#')}`);
      const planned = shown(plan).map((line) => line.replace(/\/(\d+|\{id\})/g, '/#'));
      expect(sent.toSorted()).toEqual(planned.toSorted());
      for (const step of plan.steps) expectSent(bed, step);

      // Now everything is as wanted: a second plan is empty, and was what the first said.
      const now = await readCurrent(bed.client);
      const again = bed.planOf(wanted, now);
      expect([...again.steps, ...again.adoptions, ...again.conflicts, ...again.mistakes]).toEqual([]);
      expect(again.unchanged).toBe(Object.values(document).flat().length);
      expectWanted(bed, wanted, now);

      // What the plan did not name has not moved, and what it removed was made from these files.
      const touched = new Set(
        plan.steps.map(({ kind, id }) => (kind === 'webhook' ? kind : `${kind} ${id}`)),
      );
      const after = bed.api.revisions();
      for (const [what, revision] of Object.entries(revisions)) {
        if (!touched.has(what)) expect(after[what], what).toBe(revision);
      }
      for (const { action, kind, id } of plan.steps) {
        if (action !== 'delete' || kind === 'webhook') continue;
        const own = Object.values(stateBefore.objects[kind] ?? {}).map((record) => record.id);
        const begun = plan.adoptions
          .filter((adoption) => adoption.kind === kind)
          .map((adoption) => adoption.id);
        expect([...own, ...begun]).toContain(id);
      }
      for (const kind of KINDS) {
        const gone = before.objects[kind].filter(({ id }) => after[`${kind} ${id}`] === undefined);
        expect(gone.every(({ id }) => touched.has(`${kind} ${id}`))).toBe(true);
      }
      expectNoSecret(bed, plan);
      counted.pairs += 1;
      counted.steps += plan.steps.length;
      counted.adopted += plan.adoptions.length;
    }
    console.log(
      `plan: ${counted.pairs} pairs, ${counted.steps} steps, ${counted.adopted} taken over; ${counted.refused} more refused whole`,
    );
    expect(counted.steps).toBeGreaterThan(1_000);
  });

  it('never takes what it did not make, unless it is asked to', async () => {
    const bed = new Bed();
    await bed.post(COLLECTIONS.peer, PEER);
    await bed.post(COLLECTIONS.peer, { ...PEER, name: 'by hand', 'peer-address': '127.0.1.9' });
    const refused = await bed.plan({ peers: [{ ...PEER, 'hold-time': 30 }] });
    expect(refused.conflicts.map(({ sentence }) => sentence)).toEqual([
      'the peer rr1 exists as id 1, and was not made from these files; --adopt takes it over',
    ]);
    const adopted = await bed.make({ peers: [{ ...PEER, 'hold-time': 30 }] }, { adopt: true });
    expect(shown(adopted)).toEqual(['PUT /api/bgp/peers/1']);
    expect(shown(await bed.make({ peers: [] }))).toEqual(['DELETE /api/bgp/peers/1']);
    expect([...bed.api.peers.keys()]).toEqual([2]);
    expect(bed.state.objects.peer).toEqual({});
  });

  it('leaves a kind alone that no file speaks of, and says so', async () => {
    const bed = new Bed();
    await bed.make({ peers: [PEER], models: [MODEL] });
    const plan = await bed.plan({ models: [MODEL] });
    expect(plan.steps).toEqual([]);
    expect(plan.notes).toEqual([
      'no file speaks of peers: 1 peer made from here stay; write "peers: []" to remove them',
    ]);
  });

  it('changes a peer in place when the files rename it, and exchanges addresses in an order that works', async () => {
    const bed = new Bed();
    const at = (name: string, last: number) => ({ ...PEER, name, 'peer-address': `127.0.1.${last}` });
    await bed.make({ peers: [at('a', 1), at('b', 2), at('c', 3)] });
    const renamed = await bed.make({ peers: [at('x', 1), at('b', 2), at('c', 3)] });
    expect(shown(renamed)).toEqual(['PUT /api/bgp/peers/1']);
    // c goes where b is, b where nobody is: b first.
    const moved = await bed.make({ peers: [at('x', 1), at('b', 4), at('c', 2)] });
    expect(shown(moved)).toEqual(['PUT /api/bgp/peers/2', 'PUT /api/bgp/peers/3']);
    // In a circle nobody can be first: one is made anew.
    const circle = await bed.make({ peers: [at('x', 4), at('b', 2), at('c', 1)] });
    expect(circle.steps.map(({ action }) => action)).toEqual(['delete', 'update', 'update', 'create']);
  });

  it('sends a secret when its reference changes, when none is stored, and when asked; otherwise never', async () => {
    const bed = new Bed();
    const withKey = (reference: object) => ({ peers: [{ ...PEER, 'auth-password': reference }] });
    await bed.make(withKey({ env: 'SECRET_A' }));
    expect(bed.api.peers.get(1)?.secrets).toEqual({ 'auth-password': 'a-first-secret' });
    expect((await bed.plan(withKey({ env: 'SECRET_A' }))).steps).toEqual([]);
    await bed.make({ peers: [{ ...PEER, 'hold-time': 30, 'auth-password': { env: 'SECRET_A' } }] });
    expect(bed.api.writes.at(-1)?.body).toMatchObject({ 'auth-password': '********' });
    expect((await bed.plan(withKey({ env: 'SECRET_A', version: 2 }))).steps).toHaveLength(1);
    await bed.make(withKey({ env: 'SECRET_B' }));
    expect(bed.api.peers.get(1)?.secrets).toEqual({ 'auth-password': 'a-second-secret' });
    expect((await bed.plan(withKey({ env: 'SECRET_B' }), { resendSecrets: true })).steps).toHaveLength(1);
    await bed.make({ peers: [PEER] });
    expect(bed.api.peers.get(1)?.secrets).toEqual({});
  });

  it('gives a device’s secrets again with its new address', async () => {
    const bed = new Bed();
    const device = (address: string) => ({
      devices: [{ name: 'd', address, netos: 'eos', gnmi: { password: { env: 'SECRET_A' } } }],
    });
    await bed.make(device('127.0.2.1'));
    const plan = await bed.make(device('127.0.2.2'));
    expect([...(plan.steps[0]?.secrets.keys() ?? [])]).toEqual(['gnmi/password']);
  });

  it('foresees what the stack would refuse half way', async () => {
    const bed = new Bed();
    await bed.make({
      models: [MODEL],
      devices: [{ name: 'd', address: 'h.example', netos: 'eos', gnmi: {} }],
    });
    const device = [...bed.api.devices.keys()][0] as number;
    await bed.post(COLLECTIONS.subscription, { ...SUBSCRIPTION, devices: { ids: [device] } });
    const plan = await bed.plan({ models: [], devices: [] });
    expect(plan.conflicts.map(({ sentence }) => sentence)).toEqual([
      expect.stringMatching(/^the last version of the model m cannot go: subscription \d+ \(s\)/),
      expect.stringMatching(/^the device d cannot go: subscription \d+ \(s\), which was not made from these/),
    ]);
    const wrong = await bed.plan({
      subscriptions: [{ ...SUBSCRIPTION, name: 't', 'model-name': 'gone', devices: { names: ['nobody'] } }],
    });
    expect(wrong.mistakes.map(({ sentence }) => sentence)).toEqual([
      'subscription t: there is no model gone, neither in the files nor in the stack',
      'there is no device nobody, neither in the files nor in the stack',
    ]);
  });

  it('forgets an object that somebody removed and makes it again; leaves alone what has taken its id', async () => {
    const bed = new Bed();
    await bed.make({ peers: [PEER] });
    bed.api.peers.clear();
    expect(shown(await bed.plan({ peers: [PEER] }))).toEqual(['POST /api/bgp/peers']);
    const other = new Bed();
    other.state = bed.state;
    await other.post(COLLECTIONS.peer, { ...PEER, name: 'another', 'peer-address': '127.0.1.7' });
    const plan = await other.plan({ peers: [] });
    expect(plan.steps).toEqual([]);
    expect(plan.notes).toEqual(['peer 1 is another than rr1 by now; it is left alone']);
  });
});

describe('apply', () => {
  it('stops at what somebody changed since the plan, and does not touch it', async () => {
    const bed = new Bed();
    await bed.make({ peers: [PEER] });
    const plan = await bed.plan({ peers: [{ ...PEER, 'hold-time': 30 }] });
    await bed.client.send('PUT', '/api/bgp/peers/1', { body: { ...PEER, description: 'mine' } });
    bed.api.writes.length = 0;
    const outcome = await bed.apply(plan);
    expect(outcome.failures.map(({ sentence }) => sentence)).toEqual([
      'peer rr1 (graticule.json:1:11): somebody changed it since the plan was made; plan again',
    ]);
    expect(bed.api.writes).toEqual([]);
  });

  it('finds what it made when it was killed, wherever that was, and makes nothing twice', async () => {
    const document = {
      peers: [
        PEER,
        { ...PEER, name: 'rr2', 'peer-address': '127.0.1.2', 'auth-password': { env: 'SECRET_A' } },
      ],
      devices: [{ name: 'd', address: 'h.example', netos: 'eos', gnmi: {} }],
      models: [{ ...MODEL, active: true }],
      subscriptions: [{ ...SUBSCRIPTION, devices: { names: ['d'] } }],
    };
    const writes = 6;
    for (let killedAt = 1; killedAt <= writes; killedAt += 1) {
      for (const when of ['before', 'after'] as const) {
        const bed = new Bed();
        let count = 0;
        const kill = () => {
          count += 1;
          // Neither an answer nor anything after it: the state stays as it was on the disk.
          if (count === killedAt) throw new Failure('killed', 3);
        };
        if (when === 'before') bed.api.beforeWrite = kill;
        else bed.api.afterWrite = kill;
        const outcome = await bed.apply(await bed.plan(document)).catch(() => undefined);
        expect(outcome?.failures ?? [{}], `${when} ${killedAt}`).not.toEqual([]);
        bed.api.beforeWrite = () => {};
        bed.api.afterWrite = () => {};
        await bed.make(document);
        const { peers, devices, models, subscriptions } = bed.api;
        expect([peers.size, devices.size, models.size, subscriptions.size]).toEqual([2, 1, 1, 1]);
        expect((await bed.plan(document)).steps).toEqual([]);
        expect(Object.values(bed.state.pending).flatMap((begun) => Object.keys(begun))).toEqual([]);
      }
    }
  });

  it('does not take a stranger’s for what it was about to make', async () => {
    const bed = new Bed();
    bed.api.beforeWrite = () => {
      throw new Failure('killed', 3);
    };
    await bed.apply(await bed.plan({ peers: [PEER] }));
    bed.api.beforeWrite = () => {};
    expect(bed.state.pending.peer?.['rr1']).toMatchObject({ after: 0 });
    await bed.post(COLLECTIONS.peer, { ...PEER, description: 'by hand' });
    expect((await bed.plan({ peers: [PEER] })).conflicts).toHaveLength(1);
  });

  it('finishes what is under way at Ctrl-C and begins nothing more', async () => {
    const bed = new Bed();
    const peers = Array.from({ length: 40 }, (_, index) => ({
      ...PEER,
      name: `p${index}`,
      'peer-address': `127.0.3.${index + 1}`,
    }));
    const plan = await bed.plan({ peers });
    let taken = 0;
    const outcome = await bed.apply(plan, () => {
      taken += 1;
      if (taken === 3) bed.interrupt.abort();
    });
    expect(outcome.failures).toEqual([]);
    expect(outcome.left).toBe(40 - outcome.done);
    expect(outcome.done).toBeLessThan(20);
    expect(bed.api.peers.size).toBe(outcome.done);
    expect(Object.keys(bed.state.objects.peer ?? {})).toHaveLength(outcome.done);
    expect(bed.state.pending.peer).toEqual({});
  });

  it('forgets a creation that the stack refused, and goes no further', async () => {
    const bed = new Bed();
    const plan = await bed.plan({ peers: [PEER], models: [MODEL] });
    await bed.post(COLLECTIONS.peer, { ...PEER, name: 'faster' });
    const outcome = await bed.apply(plan);
    expect(outcome).toMatchObject({ done: 0, left: 1 });
    expect(outcome.failures[0]?.sentence).toBe('peer rr1 (graticule.json:1:11): peer 1 has it');
    expect(bed.state.pending.peer).toEqual({});
  });
});

/** Objects that were not made from the files. */
async function strangers(bed: Bed, random: Random): Promise<void> {
  const document = randomDocument(random);
  for (const [section, collection] of [
    ['peers', COLLECTIONS.peer],
    ['devices', COLLECTIONS.device],
    ['models', `${COLLECTIONS.model}/import`],
  ] as const) {
    for (const item of (document[section] ?? []) as JsonObject[]) {
      if (random.chance(0.6)) continue;
      const { active: _active, ...body } = withValues(item) as JsonObject;
      const imported = section === 'models' ? { format: 'graticule-model/1' } : {};
      await bed.post(collection, { ...imported, ...body }).catch(() => {});
    }
  }
  if (random.chance(0.3)) {
    await bed
      .post(COLLECTIONS.subscription, { ...SUBSCRIPTION, name: `s${random.below(4)}`, 'model-name': 'm1' })
      .catch(() => {});
  }
  if (random.chance(0.1)) {
    const body = { enabled: false, config: { url: 'https://stranger.example/' } };
    await bed.client.send('PUT', '/api/v1/outputs/webhook', { body });
  }
}

/** Somebody changes and removes things by hand. */
async function meddle(bed: Bed, random: Random): Promise<void> {
  const { objects } = await readCurrent(bed.client);
  for (const kind of KINDS) {
    for (const object of objects[kind]) {
      const path = `${COLLECTIONS[kind]}/${object['id']}`;
      const chance = random.below(10);
      if (chance === 0) await bed.client.send('DELETE', path).catch(() => {});
      if (chance > 2 || chance === 0) continue;
      const body = kind === 'model' ? { active: chance === 1 } : configurationOf(kind, object);
      const change =
        kind === 'device' ? { netos: 'ios' } : kind === 'model' ? {} : { description: 'by hand' };
      await bed.client.send('PUT', path, { body: { ...body, ...change } as JsonObject });
    }
  }
}

/** References replaced by what they refer to. */
function withValues(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withValues);
  if ('env' in value) return RANDOM_ENVIRONMENT[value.env as string];
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withValues(member)]));
}

/** That a write with the step's very members went out; where the plan has the mask, a secret that it names may stand. */
function expectSent(bed: Bed, step: Step): void {
  const { path, body, method } = step;
  const pattern = new RegExp(`^${path.replace('{id}', '\\d+')}$`);
  const { 'field-ids': _order, devices: _devices, ...members } = (body ?? {}) as JsonObject;
  const fits = bed.api.writes.some(
    (seen) =>
      seen.method === method &&
      pattern.test(seen.path) &&
      Object.entries(members).every(([name, value]) => isSent(value, (seen.body as JsonObject)[name])),
  );
  expect(fits, `${method} ${path} ${JSON.stringify(body)}`).toBe(true);
}

function isSent(planned: unknown, sent: unknown): boolean {
  if (planned === '********') return typeof sent === 'string' && sent !== '';
  if (typeof planned !== 'object' || planned === null) return planned === sent;
  const entries = Object.entries(planned);
  return (
    typeof sent === 'object' &&
    sent !== null &&
    Object.keys(sent).length === entries.length &&
    entries.every(([name, value]) => isSent(value, (sent as Record<string, unknown>)[name]))
  );
}

/** The stack itself, asked without the planner. */
function expectWanted(bed: Bed, wanted: WantedState, { objects }: CurrentState): void {
  const ids = new Map(objects.device.map(({ id, name }) => [name, id]));
  for (const kind of KINDS) {
    const made = new Set(Object.values(bed.state.objects[kind] ?? {}).map(({ id }) => id));
    for (const { key, configuration, deviceNames } of wanted.objects[kind] ?? []) {
      const own = objects[kind].filter(
        (object) =>
          made.has(Number(object['id'])) &&
          (kind === 'model' ? `${object['name']}@${object['version']}` : object['name']) === key,
      );
      expect(own, `${kind} ${key}`).toHaveLength(1);
      const { fields, mappings, devices, ...members } = configuration;
      expect(own[0]).toMatchObject(members);
      if (kind === 'model') {
        const present = (own[0]?.['fields'] ?? []) as JsonObject[];
        expect(present.map(({ name, type }) => ({ name, type }))).toEqual(fields);
        expect(own[0]?.['mappings']).toHaveLength((mappings as unknown[]).length);
        for (const mapping of mappings as JsonObject[])
          expect(own[0]?.['mappings']).toContainEqual(expect.objectContaining(mapping));
      }
      if (kind === 'subscription') {
        const selected = own[0]?.['devices'] as { ids: number[]; labels: object };
        const named = deviceNames.map(({ name }) => ids.get(name) as number);
        expect(selected.ids.toSorted()).toEqual(named.toSorted());
        expect(selected.labels).toEqual((devices as JsonObject)['labels']);
      }
    }
  }
}

/** Neither what people see nor what is kept has one. */
function expectNoSecret(bed: Bed, plan: Plan): void {
  const told = `${formatPlan(plan, TERMINAL)}${JSON.stringify(planJson(plan))}${JSON.stringify(bed.state)}`;
  for (const secret of Object.values(RANDOM_ENVIRONMENT)) expect(told).not.toContain(secret);
}
