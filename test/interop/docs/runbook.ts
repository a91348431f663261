/** The runbook, each article in the situation that it is about. */
import { strict as assert } from 'node:assert';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { CaseContext } from '../../harness.ts';
import { contractClient } from '../../support/contract-client.ts';
import { linkStateObjects } from '../../support/network/link-state-objects.ts';
import { Reflector } from '../../support/network/reflector.ts';
import { SimulatedNetwork } from '../../support/network/simulated-network.ts';
import { Random } from '../../support/random.ts';
import { type Stack, startStack } from '../../support/stack.ts';
import { until } from '../../support/until.ts';
import { startEmulator } from '../deployed/emulator.ts';
import { Desk, page } from './desk.ts';

export async function noWorker(context: CaseContext): Promise<void> {
  const stack = await startStack({ environment: { GRATICULE_WORKERS: '0' } });
  try {
    const desk = new Desk(context, stack, 'no-worker');
    await desk.created('/api/bgp/peers', peer('rr1', '127.61.7.1', 11_790));
    await desk.article('No worker');
  } finally {
    await stack.stop();
  }
}

/** One session that is up, and one whose router has no key for it. */
export async function sessions(context: CaseContext): Promise<void> {
  const stack = await startStack();
  const [one, other] = await Promise.all([
    Reflector.listen('127.61.7.1', 11_790),
    Reflector.listen('127.61.7.2', 11_790),
  ]);
  try {
    const desk = new Desk(context, stack, 'sessions');
    const id = await desk.created('/api/bgp/peers', peer('rr1', one.address, one.port));
    await desk.created('/api/bgp/peers', {
      ...peer('rr2', other.address, other.port),
      'auth-password': 'a-key-of-ours-alone',
    });
    await desk.peerIs(id, 'established');
    await desk.article('A session does not come up');
    for (let times = 0; times < 2; times += 1) {
      await desk.api.send({ method: 'POST', path: `/api/bgp/peers/${id}/reset` });
      await until(
        'the reset',
        () => stack.output().match(/"command":"reset"/g)?.length ?? 0,
        (count) => count > times,
      );
      await desk.peerIs(id, 'established');
    }
    await desk.article('A session flaps');
  } finally {
    await Promise.all([one.stop(), other.stop()]);
    await stack.stop();
  }
}

/** Two reflectors of one network, a device that does not answer, and a webhook that nobody listens at; then `afterwards`. */
export async function network(
  context: CaseContext,
  afterwards: (desk: Desk) => Promise<void>,
): Promise<void> {
  const stack = await startStack();
  const simulated = new SimulatedNetwork(
    {
      routers: 60,
      igp: 'isis',
      identifier: 7n,
      number: 1,
      chords: 20,
      parallel: 0,
      unnumbered: 0,
      lansPerHundred: 0,
    },
    new Random(context.seed),
  );
  const objects = linkStateObjects(simulated);
  const reflectors = await Promise.all(['127.61.8.1', '127.61.8.2'].map((own) => Reflector.listen(own, 0)));
  try {
    const desk = new Desk(context, stack, 'network');
    for (const [index, reflector] of reflectors.entries()) {
      await reflector.tell(objects);
      const id = await desk.created(
        '/api/bgp/peers',
        peer(`reflector ${index + 1}`, reflector.address, reflector.port),
      );
      await desk.peerIs(id, 'established');
    }
    await until(
      'all that they tell',
      () => desk.get('/api/topology'),
      ({ peers }: { peers: { nlris: number }[] }) => peers.every(({ nlris }) => nlris === objects.size),
      60_000,
    );
    const fewer = new Map([...objects].slice(4));
    await desk.article('The topology falls behind', {
      'api "/api/topology/changes': async (reader) => {
        await reader.type(`VERSION=${(await desk.get('/api/topology')).version}`);
        for (const reflector of reflectors) await reflector.tell(fewer);
      },
    });
    await desk.article('Collection is late', { 'api /api/v1/subscriptions': () => silentDevice(desk) });
    await desk.api.send({
      method: 'PUT',
      path: '/api/v1/outputs/webhook',
      body: { enabled: true, config: { url: 'http://127.0.0.1:9/hook' } },
    });
    await desk.article('Records are not delivered');
    await desk.article('Records wait in the queue');
    await desk.article('Messages lie in the dead-letter queue', {
      aws: () => strangeMessage(stack),
    });
    const account = await startEmulator(desk.folder);
    try {
      desk.aws.useAccount(account.environment);
      await desk.article('Functions are throttled');
    } finally {
      await account.stop();
    }
    const first = await desk.get('/api/bgp/peers/1');
    await desk.api.send({ method: 'PUT', path: '/api/bgp/peers/1', body: { ...first, 'max-nlri': 100 } });
    await desk.article('A peer tells too much');
    await afterwards(desk);
  } finally {
    await Promise.all(reflectors.map((reflector) => reflector.stop()));
    await stack.stop();
  }
}

/** A device that nothing listens for, with a subscription that wants it. */
async function silentDevice(desk: Desk): Promise<void> {
  if ((await desk.get('/api/v1/devices')).length > 0) return;
  const model = JSON.parse(page('core/model-library/interfaces.json'));
  const imported = await desk.api.send({ method: 'POST', path: '/api/v1/models/import', body: model });
  assert.equal(imported.status, 201, imported.text);
  await desk.api.send({ method: 'PUT', path: `/api/v1/models/${imported.json.id}`, body: { active: true } });
  await desk.created('/api/v1/devices', {
    name: 'leaf1',
    address: '127.61.8.9',
    netos: 'eos',
    enabled: true,
    gnmi: { port: 57_400, tls: 'off' },
  });
  await desk.created('/api/v1/subscriptions', {
    name: 'interfaces',
    enabled: true,
    'model-name': model.name,
    'model-version': 'latest',
    devices: { ids: [1], labels: {} },
    mode: 'sample',
    'interval-ms': 5_000,
  });
}

/** Puts what nobody can read into the queue of dead letters. */
async function strangeMessage(stack: Stack): Promise<void> {
  if (stack.output().includes('a dead letter could not be counted')) return;
  const environment = JSON.parse(readFileSync(join(stack.dataDirectory, 'environment.json'), 'utf8'));
  const client = new SQSClient({
    endpoint: environment.AWS_ENDPOINT_URL_SQS,
    region: environment.AWS_REGION,
    credentials: {
      accessKeyId: environment.AWS_ACCESS_KEY_ID,
      secretAccessKey: environment.AWS_SECRET_ACCESS_KEY,
    },
  });
  const QueueUrl = environment.GRATICULE_UNDELIVERED_QUEUE;
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'somebody else’s' }));
  client.destroy();
}

/** A keyring without a key, and one that has another key than the one that was used, as after a restore of another one. */
export async function keyring(context: CaseContext): Promise<void> {
  const dataDirectory = join(context.scratchDirectory, 'keyring-data');
  let stack = await startStack({ dataDirectory });
  const startWith = async (change: (keys: object[]) => object[], name: string) => {
    await stack.stop();
    const file = join(dataDirectory, 'secrets.json');
    const kept = JSON.parse(readFileSync(file, 'utf8'));
    const { current } = kept.secrets['graticule-keyring'];
    used ??= JSON.parse(current.string);
    current.string = JSON.stringify(change(used as object[]));
    writeFileSync(file, JSON.stringify(kept));
    stack = await startStack({ dataDirectory });
    const desk = new Desk(context, stack, name);
    await until(
      'the fault',
      () => stack.output(),
      (text) => text.includes('"peer not configured"'),
    );
    return desk;
  };
  let used: object[] | undefined;
  try {
    const before = contractClient(stack.send, stack.token);
    for (const [index, password] of ['', 'a-password'].entries()) {
      const body = { ...peer(`rr${index + 1}`, `127.61.9.${index + 1}`, 11_790), 'auth-password': password };
      assert.equal((await before.send({ method: 'POST', path: '/api/bgp/peers', body })).status, 201);
    }
    await (await startWith(() => [], 'no-key')).article('A function fails');
    const other = (keys: object[]) => keys.map((key) => ({ ...key, id: '0123456789ab' }));
    await (await startWith(other, 'another-key')).article('The keyring cannot be used');
  } finally {
    await stack.stop();
  }
}

function peer(name: string, address: string, port: number) {
  return { name, 'peer-address': address, 'peer-port': port, 'user-peer-as': '65000', enabled: true };
}
