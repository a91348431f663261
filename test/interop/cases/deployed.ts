import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { join, resolve } from 'node:path';
import { ENV } from '../../../contract/env.ts';
import { startLeashed } from '../../../local/leash.ts';
import { CONTRACT, contractCaseCount } from '../../contract/contract.ts';
import type { CaseContext, TestCase } from '../../harness.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { contractClient } from '../../support/contract-client.ts';
import { linkStateObjects } from '../../support/network/link-state-objects.ts';
import { Reflector } from '../../support/network/reflector.ts';
import { SimulatedNetwork } from '../../support/network/simulated-network.ts';
import { Random } from '../../support/random.ts';
import { sendOverSocket } from '../../support/stack.ts';
import { until } from '../../support/until.ts';
import {
  bootstrap,
  cdk,
  type Deployment,
  deploy,
  synthesizeTo,
  withoutGrant,
} from '../deployed/deployment.ts';
import { type Emulator, startEmulator } from '../deployed/emulator.ts';

/** As in the worker's task definition; the worker itself is to end within five seconds. */
const STOP_TIMEOUT_SECONDS = 30;

const ROOT = resolve(import.meta.dirname, '../../..');

interface StackResource {
  readonly LogicalResourceId: string;
  readonly PhysicalResourceId: string;
  readonly ResourceType: string;
}

function resourcesOf(emulator: Emulator): StackResource[] {
  return emulator.call('cloudformation', 'describe_stack_resources', { StackName: 'Graticule' })
    .StackResources;
}

/** What AWS itself would do to loopback addresses is refuse them; here everything is on loopback. */
function allowLoopback(emulator: Emulator): void {
  for (const { LogicalResourceId, PhysicalResourceId, ResourceType } of resourcesOf(emulator)) {
    const dials = /^(ApiOutputs|ApiDevices|DeliveryDeliverWebhook)Function/.test(LogicalResourceId);
    if (ResourceType !== 'AWS::Lambda::Function' || !dials) continue;
    const { Environment } = emulator.call('lambda', 'get_function_configuration', {
      FunctionName: PhysicalResourceId,
    });
    emulator.call('lambda', 'update_function_configuration', {
      FunctionName: PhysicalResourceId,
      Environment: { Variables: { ...Environment.Variables, [ENV.allowLoopback]: '1' } },
    });
  }
}

/** The worker with the task's own role and variables; the emulator runs no containers, whatever ECS says there. */
function startWorker(emulator: Emulator): { stop(): Promise<number> } {
  const resources = resourcesOf(emulator);
  const find = (type: string, name: RegExp) =>
    resources.find(
      ({ ResourceType, LogicalResourceId }) => ResourceType === type && name.test(LogicalResourceId),
    )?.PhysicalResourceId ?? '';
  const { Credentials } = emulator.call('sts', 'assume_role', {
    RoleArn: `arn:aws:iam::000000000000:role/${find('AWS::IAM::Role', /^WorkerTaskTaskRole/)}`,
    RoleSessionName: 'worker',
  });
  const { taskDefinition } = emulator.call('ecs', 'describe_task_definition', {
    taskDefinition: find('AWS::ECS::TaskDefinition', /^WorkerTask/),
  });
  const variables: { name: string; value: string }[] = taskDefinition.containerDefinitions[0].environment;
  const worker = startLeashed([process.execPath, 'worker/main.ts'], {
    environment: {
      ...emulator.environment,
      ...Object.fromEntries(variables.map(({ name, value }) => [name, value])),
      AWS_ACCESS_KEY_ID: Credentials.AccessKeyId,
      AWS_SECRET_ACCESS_KEY: Credentials.SecretAccessKey,
      AWS_SESSION_TOKEN: Credentials.SessionToken,
      [ENV.allowLoopback]: '1',
      [ENV.metricsDisabled]: 'true',
      [ENV.logLevel]: 'WARN',
    },
    graceSeconds: STOP_TIMEOUT_SECONDS,
    output: 'pipe',
    workingDirectory: ROOT,
  });
  // A pipe that nobody reads would make the worker wait.
  worker.stdout?.resume();
  worker.stderr?.resume();
  return worker;
}

function clientOf(emulator: Emulator, { host, token }: Deployment): ApiClient {
  // The emulator starts a process of up to 110 MB for each request that finds no idle one.
  const agent = new Agent({ keepAlive: true, maxSockets: 6 });
  const url = `http://127.0.0.1:${emulator.port}`;
  return contractClient(
    ({ headers, ...request }) => sendOverSocket(url, agent, { ...request, headers: { ...headers, host } }),
    token,
  );
}

const read = async (api: ApiClient, path: string) => (await api.send({ method: 'GET', path })).json;

async function createToDelete({ check, log, seed }: CaseContext, api: ApiClient): Promise<void> {
  const network = new SimulatedNetwork(
    {
      routers: 10,
      igp: 'isis',
      identifier: 7n,
      number: 1,
      chords: 1,
      parallel: 0,
      unnumbered: 0,
      lansPerHundred: 0,
    },
    new Random(seed),
  );
  const reflector = await Reflector.listen('127.0.0.41', 0);
  const objects = linkStateObjects(network);
  await reflector.tell(objects);
  try {
    await check(
      'a peer goes from create by established to its topology, and by delete to nothing',
      async () => {
        const created = await api.send({
          method: 'POST',
          path: '/api/bgp/peers',
          body: {
            name: 'deployed',
            'peer-address': '127.0.0.41',
            'peer-port': reflector.port,
            'user-peer-as': '65000',
            enabled: true,
          },
        });
        assert.equal(created.status, 201, created.text);
        const path = `/api/bgp/peers/${created.json.id}`;
        const asked = performance.now();
        await until(
          'established',
          () => read(api, path),
          (peer) => peer.state === 'established',
          60_000,
        );
        log(`established after ${Math.round(performance.now() - asked)} ms`);
        const kinds = [...objects.values()].map((object) => object.type);
        const expected = kinds.filter((kind) => kind === 'node').length;
        const mine = (body: { sources: { 'peer-id': number }[] }) =>
          body.sources.some((source) => source['peer-id'] === created.json.id);
        const nodes = await until(
          'its nodes',
          async () =>
            ((await read(api, '/api/topology/nodes')) as { sources: { 'peer-id': number }[] }[]).filter(mine),
          (found) => found.length === expected,
          60_000,
        );
        log(`${nodes.length} nodes of ${objects.size} objects in the topology`);
        assert.equal((await api.send({ method: 'DELETE', path })).status, 204);
        await until(
          'nothing of it is left',
          async () =>
            ((await read(api, '/api/topology/nodes')) as { sources: { 'peer-id': number }[] }[]).filter(mine),
          (found) => found.length === 0,
          60_000,
        );
      },
    );
  } finally {
    await reflector.stop();
  }
}

async function contractCases({ check, log }: CaseContext, api: ApiClient): Promise<void> {
  log(`contract: ${contractCaseCount()} cases against the deployed stack`);
  const failed: string[] = [];
  for (const { resource, cases } of CONTRACT) {
    const began = performance.now();
    for (const { sentence, run } of cases) {
      await run(api).catch((error: Error) => failed.push(`${resource}: ${sentence}\n${error.message}`));
    }
    log(`${resource}: ${cases.length} cases, ${((performance.now() - began) / 1_000).toFixed(1)} s`);
  }
  await check(`${contractCaseCount()} contract cases hold against the deployed stack`, () =>
    assert.equal(failed.length, 0, `${failed.length} failed:\n${failed.join('\n')}`),
  );
}

async function grantRemoval({ check, scratchDirectory }: CaseContext, emulator: Emulator): Promise<void> {
  const tree = withoutGrant(scratchDirectory, 'peers', 'keyring', 'secretsmanager:GetSecretValue');
  const assembly = join(scratchDirectory, 'without');
  // As a stack of its own: the emulator cannot update a nested one whose buckets stay as they are.
  synthesizeTo(emulator, assembly, { tree, name: 'Without' });
  const api = clientOf(emulator, deploy(emulator, assembly, scratchDirectory, 'Without'));
  await check('one grant less turns exactly its calls into failures', async () => {
    const peer = (address: string, password: string) => ({
      method: 'POST',
      path: '/api/bgp/peers',
      body: {
        name: address,
        'peer-address': address,
        'user-peer-as': '65000',
        'auth-password': password,
        enabled: false,
      },
    });
    const device = {
      name: 'keyring-of-another',
      address: '192.0.2.77',
      netos: 'srlinux',
      labels: {},
      enabled: false,
      gnmi: null,
      snmp: { version: 'v2c', community: 'secret' },
    };
    const statuses = {
      'a password to encrypt': (await api.send(peer('192.0.2.1', 'secret'))).status,
      'no password': (await api.send(peer('192.0.2.2', ''))).status,
      'a list': (await api.send({ method: 'GET', path: '/api/bgp/peers' })).status,
      'the same secret by another function': (
        await api.send({ method: 'POST', path: '/api/v1/devices', body: device })
      ).status,
    };
    assert.deepEqual(statuses, {
      'a password to encrypt': 500,
      'no password': 201,
      'a list': 200,
      'the same secret by another function': 201,
    });
  });
}

export const testCase: TestCase = {
  title:
    'the AWS stack, deployed by the CDK to an emulator with policies evaluated, does what the contract says',
  inCi: true,
  async run(context) {
    const { check, log, scratchDirectory } = context;
    const timed = async <Value>(what: string, work: () => Value | Promise<Value>): Promise<Value> => {
      const began = performance.now();
      const value = await work();
      log(`${what}: ${((performance.now() - began) / 1_000).toFixed(1)} s`);
      return value;
    };
    const emulator = await startEmulator(scratchDirectory);
    let worker: { stop(): Promise<number> } | undefined;
    try {
      const assembly = join(scratchDirectory, 'assembly');
      await timed('bootstrap', () => bootstrap(emulator, scratchDirectory));
      await timed('synth', () => synthesizeTo(emulator, assembly));
      const deployment = await timed('deploy', () => deploy(emulator, assembly, scratchDirectory));
      await check('after a deployment, cdk diff finds nothing', () => {
        const { status, printed } = cdk(emulator, ['diff', '--fail', '--app', assembly], scratchDirectory);
        assert.equal(status, 0, printed.slice(-4_000));
      });
      await check('the token that the set-up made is in its secret, and the API takes it', async () => {
        assert.match(deployment.token, /^grt_[A-Za-z0-9_-]{43}$/);
        const answer = await clientOf(emulator, deployment).send({ method: 'GET', path: '/api/v1/tokens' });
        assert.equal(answer.status, 200, answer.text);
      });
      allowLoopback(emulator);
      worker = startWorker(emulator);
      const api = clientOf(emulator, deployment);
      await until(
        'a worker beats',
        () => read(api, '/api/health'),
        (health) => health?.workers === 1,
        60_000,
      );
      await timed('create to delete', () => createToDelete(context, api));
      await timed('contract', () => contractCases(context, api));
      await check('the worker ends within its time, as its task definition has it', async () => {
        const began = performance.now();
        assert.equal(await worker?.stop(), 0);
        worker = undefined;
        log(`the worker stopped in ${Math.round(performance.now() - began)} ms`);
      });
      await timed('grant removal', () => grantRemoval(context, emulator));
    } finally {
      await worker?.stop();
      await emulator.stop();
    }
  },
};
