import assert from 'node:assert/strict';
import { BerWriter } from '../../../protocols/snmp/ber.ts';
import {
  decodeCommunityMessage,
  decodeScopedPdu,
  encodeCommunityMessage,
  requestIdOf,
} from '../../../protocols/snmp/message.ts';
import { decodeUsmMessage } from '../../../protocols/snmp/usm.ts';
import { VarbindTable } from '../../../protocols/snmp/varbind-table.ts';
import { Walk, type WalkStep } from '../../../protocols/snmp/walk.ts';
import { compileWalkPlan, DEFAULT_WALK_LIMITS } from '../../../protocols/snmp/walk-plan.ts';
import type { CaseContext, TestCase } from '../../harness.ts';
import { Random } from '../../support/random.ts';
import { type AgentUser, SimulatedAgent } from '../../support/snmp-agent/agent.ts';
import { compareCommunity, compareV3, SHARED_USERS } from '../../support/snmp-agent/net-snmp-oracle.ts';
import { mutate, randomPdu } from '../../support/snmp-agent/random-pdu.ts';
import { communitySession, v3Session } from '../../support/snmp-agent/run-walk.ts';
import { IF_X_COLUMNS, interfaceObjects } from '../../support/snmp-agent/tables.ts';

const PDUS = 100_000;
const MUTATIONS = 1_000_000;
const MON: AgentUser = {
  name: 'mon',
  auth: { protocol: 'sha-256', password: 'authpass1' },
  priv: { protocol: 'aes-128', password: 'privpass1' },
};

/** Damaged answers to a walk in every state, and damaged messages to every decoder. Any throw fails the case. */
function sufferMutations(context: CaseContext, count: number): Record<string, number> {
  const random = new Random(context.seed);
  const outcomes: Record<string, number> = {};
  const table = new VarbindTable();
  const writer = new BerWriter(2_048);
  const plan = compileWalkPlan([
    { kind: 'scalars', instances: [[1, 3, 6, 1, 2, 1, 1, 5, 0]] },
    { kind: 'table', columns: IF_X_COLUMNS },
  ]);
  // A large budget of retries: a walk goes on after a refused answer, so that all its states are met.
  const limits = { ...DEFAULT_WALK_LIMITS, retries: 1_000_000 };
  let suffered = 0;
  while (suffered < count) {
    const secured = random.chance(0.3);
    const agent = new SimulatedAgent({ objects: interfaceObjects('leaf1', 12), users: [MON], startedAt: 0 });
    let id = 0;
    const walk = new Walk(
      secured ? v3Session(MON) : communitySession('v2c'),
      plan,
      limits,
      1e12,
      { requestId: () => (id += 1), row: () => {} },
      table,
      writer,
    );
    let step: WalkStep = walk.start(10_000);
    for (let steps = 0; steps < 40 && step.kind !== 'done' && suffered < count; steps += 1) {
      const datagram = step.kind === 'send' ? step.datagram : undefined;
      if (datagram === undefined) break;
      const [answer = datagram] = agent.handle(datagram, 10_000);
      let next: WalkStep = step;
      for (let damage = 0; damage < 60 && suffered < count && next === step; damage += 1) {
        const damaged = mutate(random, answer);
        requestIdOf(damaged);
        const heard = walk.receive(damaged, 10_000);
        suffered += 1;
        if (heard.kind !== 'wait') next = heard;
      }
      step = next === step ? walk.receive(answer, 10_000) : next;
    }
    const outcome = step.kind === 'done' ? (step.outcome.fault?.code ?? 'complete') : 'unfinished';
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    for (let extra = 0; extra < 20 && suffered < count; extra += 1) {
      const message = encodeCommunityMessage({
        version: 'v2c',
        community: new Uint8Array(6),
        pdu: randomPdu(random),
      });
      const damaged = mutate(random, message);
      decodeCommunityMessage(damaged);
      decodeUsmMessage(damaged);
      decodeScopedPdu(damaged);
      suffered += 1;
    }
  }
  context.log(`${suffered} damaged messages`);
  return outcomes;
}

export const testCase: TestCase = {
  title: 'the SNMP codec beside npm net-snmp, both ways, and against damaged answers',
  inCi: true,
  async run(context) {
    const pdus = Math.round(PDUS * context.scale);
    await context.check(`${pdus} random PDUs each way agree with npm net-snmp`, () => {
      const random = new Random(context.seed);
      const plain = compareCommunity(random, pdus / 2);
      const secured = SHARED_USERS.map((user) =>
        compareV3(random, user, Math.ceil(pdus / 2 / SHARED_USERS.length)),
      );
      const all = [plain, ...secured];
      context.log(`${all.reduce((sum, one) => sum + one.pdus, 0)} PDUs compared`);
      assert.deepEqual(all.flatMap(({ differences }) => differences).slice(0, 5), []);
    });
    const mutations = Math.round(MUTATIONS * context.scale);
    await context.check(`${mutations} damaged messages neither throw nor run on`, () => {
      const outcomes = sufferMutations(context, mutations);
      context.log(JSON.stringify(outcomes));
      assert.ok(Object.keys(outcomes).length > 2);
    });
  },
};
