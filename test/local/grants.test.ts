import { randomBytes, randomUUID } from 'node:crypto';
import {
  DeleteMessageBatchCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ENV } from '../../contract/env.ts';
import { type Action, GRANTS, type Grants, type Principal, type Resource } from '../../contract/grants.ts';
import { QUEUES, type QueueFunction } from '../../contract/queues.ts';
import { formatDeliveryMessage } from '../../core/delivery-message.ts';
import { accessesOf } from '../../local/aws-access.ts';
import type { Handler } from '../../local/lambda.ts';
import { currentPrincipal } from '../../local/principal.ts';
import { interceptCalls } from '../../store/call-interception.ts';
import { sqs } from '../../store/clients.ts';
import { sendDelivery } from '../../store/delivery-queue.ts';
import { contractClient } from '../support/contract-client.ts';
import { beatOnce, type GrantStep, grantSteps } from '../support/grant-steps.ts';
import { makeRecords } from '../support/receiver/records.ts';
import { type Emulators, runAs, startEmulators } from '../support/stack.ts';

/** Grants that no call of ours uses, and who does. */
const USED_BY_OTHERS: Readonly<Record<string, string>> = {
  'deliver-webhook queue:deliveries sqs:GetQueueAttributes':
    'Lambda, which polls the queue in the function’s name',
  'count-undelivered queue:undelivered sqs:GetQueueAttributes': 'Lambda, as above',
};

/** The first values of secrets come to be in AWS, where CloudFormation makes them empty, in another way than here. */
const isFirstSecret = ({ principal, resource }: Row) =>
  principal === 'setup' && (resource === 'keyring' || (resource as string) === 'token');

interface Row {
  readonly principal: Principal;
  readonly resource: Resource;
  readonly action: Action;
}

const ROWS: Row[] = (Object.keys(GRANTS) as Principal[]).flatMap((principal) =>
  (Object.entries(GRANTS[principal]) as [Resource, readonly Action[]][]).flatMap(([resource, actions]) =>
    actions.map((action) => ({ principal, resource, action })),
  ),
);
const nameOf = ({ principal, resource, action }: Row) => `${principal} ${resource} ${action}`;

/** The rows that the guard reads: the contract's, less the one that is taken away. */
const grants = structuredClone(GRANTS) as Record<Principal, Partial<Record<Resource, readonly Action[]>>>;

/** Every call of a principal since the watch was set: what it asked for, and whether it was refused. */
interface Watched {
  readonly command: string;
  readonly asks: readonly string[];
  readonly refusal: string | undefined;
}
let watched: Watched[] = [];

// Registered before the guard, so that it sees what the guard refuses.
interceptCalls(async (call, proceed) => {
  const command = call.command.replace(/Command$/, '');
  const asks = accessesOf(command, call.input).map(
    ({ action, target }) => `${currentPrincipal()} ${resourceOf(target)} ${action}`,
  );
  try {
    const output = await proceed();
    watched.push({ command, asks, refusal: undefined });
    return output;
  } catch (error) {
    const { name, message } = error as Error;
    watched.push({ command, asks, refusal: name === 'AccessDeniedException' ? message : undefined });
    throw error;
  }
});

function resourceOf(target: string): string {
  const name = target.slice(target.lastIndexOf('/') + 1).replace('graticule-', '');
  if (['deliveries', 'undelivered', 'jobs'].includes(name)) return `queue:${name}`;
  if (['payloads', 'topology'].includes(name)) return `bucket:${name}`;
  return name;
}

let emulators: Emulators;
let steps: GrantStep[] = [];
/** Which steps asked for each grant when all were there. */
const askedIn = new Map<string, GrantStep[]>();
let clock = 0;

const webhook = { enabled: true, config: { url: 'http://127.0.0.1:9/' } };

/** What Lambda does with a queue, once: receives, invokes, and deletes what is done; all in the function's name. */
async function consume(principal: QueueFunction, remainingMilliseconds = 60_000): Promise<void> {
  const [queue] = Object.values(QUEUES).filter(({ consumer }) => consumer?.function === principal);
  const QueueUrl = process.env[queue?.environment ?? ''] ?? '';
  const { handler } = (await import(`../../functions/${principal}.ts`)) as { handler: Handler<SQSEvent> };
  await runAs(principal, async () => {
    const { Messages = [] } = await sqs().send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 1 }));
    const [message] = Messages;
    if (message === undefined) throw new Error('the queue is empty');
    const record = { messageId: message.MessageId, receiptHandle: message.ReceiptHandle, body: message.Body };
    const event = { Records: [record] } as unknown as SQSEvent;
    const context = { getRemainingTimeInMillis: () => remainingMilliseconds } as Context;
    const result = (await handler(event, context)) as SQSBatchResponse;
    if (result.batchItemFailures.length > 0) return;
    const Entries = [{ Id: '0', ReceiptHandle: message.ReceiptHandle }];
    await sqs().send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  });
}

/** What an earlier step left behind would be taken for this one's. */
async function emptyQueues(client: SQSClient): Promise<void> {
  for (const variable of [ENV.deliveriesQueue, ENV.undeliveredQueue]) {
    await client.send(new PurgeQueueCommand({ QueueUrl: process.env[variable] ?? '' }));
  }
}

function queueSteps(): GrantStep[] {
  const client = new SQSClient({});
  const send = (bytes: number) => async () => {
    await emptyQueues(client);
    // Noise, which compresses badly, does not fit a message.
    const body = bytes === 0 ? makeRecords(1, 1).bytes : randomBytes(bytes);
    await runAs('worker', () =>
      sendDelivery({ id: randomUUID(), packedAt: Date.now() }, [{ body, records: 1, deviceId: 1 }]),
    );
    return 0;
  };
  const bury = async () => {
    await emptyQueues(client);
    const head = { id: randomUUID(), packedAt: Date.now(), requests: 1, records: 1, objectKey: 'gone' };
    const QueueUrl = process.env[ENV.undeliveredQueue] ?? '';
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: formatDeliveryMessage(head) }));
    return 0;
  };
  const principal = 'deliver-webhook';
  return [
    { principal, name: 'deliver', prepare: send(0), act: () => consume(principal) },
    { principal, name: 'deliver much', prepare: send(1_100_000), act: () => consume(principal) },
    { principal, name: 'out of time', prepare: send(0), act: () => consume(principal, 0) },
    {
      principal: 'count-undelivered',
      name: 'count',
      prepare: bury,
      act: () => consume('count-undelivered'),
    },
  ];
}

/** One step, watched; caches of tokens and keys are as old as their time, so that each step reads what it needs. */
async function perform(step: GrantStep, without?: Row): Promise<Watched[]> {
  const prepared = (await step.prepare?.()) ?? 0;
  await beatOnce();
  clock += 600_000;
  watched = [];
  if (without !== undefined) {
    const { principal, resource, action } = without;
    grants[principal] = {
      ...grants[principal],
      [resource]: (GRANTS[principal][resource] ?? []).filter((each) => each !== action),
    };
  }
  try {
    await step.act(prepared).catch(() => {});
  } finally {
    Object.assign(grants, structuredClone(GRANTS));
  }
  return watched.filter(({ asks }) => asks.some((ask) => ask.startsWith(`${step.principal} `)));
}

beforeAll(async () => {
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + clock);
  vi.spyOn(console, 'error').mockImplementation(() => {});
  vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
  process.env[ENV.metricsDisabled] = 'true';
  emulators = await startEmulators({ grants: grants as Record<Principal, Grants> });
  const api = contractClient(emulators.send, emulators.token);
  await api.send({ method: 'POST', path: '/api/v1/models', body: { name: 'interfaces' } });
  await api.send({ method: 'PUT', path: '/api/v1/models/1', body: { active: true } });
  await api.send({
    method: 'POST',
    path: '/api/v1/devices',
    body: { name: 'first', address: '127.66.0.9', netos: 'x', snmp: {} },
  });
  await api.send({ method: 'PUT', path: '/api/v1/outputs/webhook', body: webhook });
  steps = [...grantSteps(api), ...queueSteps()];
  for (const step of steps) {
    const asked = new Set((await perform(step)).flatMap(({ asks }) => asks));
    for (const ask of asked) askedIn.set(ask, [...(askedIn.get(ask) ?? []), step]);
  }
}, 120_000);

afterAll(async () => {
  vi.restoreAllMocks();
  await emulators.stop();
});

describe('a grant', () => {
  const told: string[] = [];

  it('is there for each thing that a principal asks for, and nothing is refused', () => {
    const granted = new Set(ROWS.map(nameOf));
    expect([...askedIn.keys()].filter((ask) => !granted.has(ask))).toEqual([]);
  });

  it('is used, each of them', () => {
    const unused = ROWS.filter((row) => !isFirstSecret(row))
      .map(nameOf)
      .filter((row) => !askedIn.has(row));
    expect(unused.sort()).toEqual(Object.keys(USED_BY_OTHERS).sort());
  });

  const testable = ROWS.filter((row) => !isFirstSecret(row) && !(nameOf(row) in USED_BY_OTHERS));
  for (const row of testable) {
    it(`${nameOf(row)}, taken away, turns the calls that need it into failures and no other`, async () => {
      const [step] = askedIn.get(nameOf(row)) ?? [];
      if (step === undefined) throw new Error('nobody asks for it');
      const calls = await perform(step, row);
      const refused = calls.filter(({ refusal }) => refusal !== undefined);
      expect(refused).not.toEqual([]);
      expect(refused).toEqual(calls.filter(({ asks }) => asks.includes(nameOf(row))));
      for (const { refusal } of refused) expect(refusal).toContain(`perform: ${row.action} on`);
      const commands = [...new Set(refused.map(({ command }) => command))].join(', ');
      told.push(`${nameOf(row)}: ${commands} of "${step.name}"`);
    }, 60_000);
  }

  it('each was taken away once; the calls that failed for it', () => {
    console.log(told.join('\n'));
    expect(told).toHaveLength(testable.length);
  });
});
