import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ALARMS } from '../../contract/alarms.ts';
import { ENV } from '../../contract/env.ts';
import { GRANTS, type Principal } from '../../contract/grants.ts';
import { QUEUES } from '../../contract/queues.ts';
import { PREFIXES, ROUTES } from '../../contract/routes.ts';
import { ACKNOWLEDGED } from '../../infra/acknowledged.ts';
import { bundleAll } from '../../infra/bundle.ts';
import { alarmMetrics } from '../../local/cost-model.ts';
import { routeOf } from '../../local/gateway-event.ts';
import { resourcesOf, type Synthesis, statementsOf, synthesize, type TemplateResource } from './synthesis.ts';

/** Changing one of these throws away what the resource holds: that needs a migration, not a new line here. */
const STATEFUL_LOGICAL_IDS = {
  BucketsPayloads4A56A85A: 'AWS::S3::Bucket',
  BucketsTopologyC625B774: 'AWS::S3::Bucket',
  QueuesDeliveries9DF934B3: 'AWS::SQS::Queue',
  QueuesJobs403F2492: 'AWS::SQS::Queue',
  QueuesUndelivered054FE721: 'AWS::SQS::Queue',
  SecretsKeyringF2B18D85: 'AWS::SecretsManager::Secret',
  SecretsTokenBF414F91: 'AWS::SecretsManager::Secret',
  TablesConfig8DAB628F: 'AWS::DynamoDB::GlobalTable',
  TablesRuntime1D5923E6: 'AWS::DynamoDB::GlobalTable',
};

const ECR_IMAGE = '123456789012.dkr.ecr.eu-central-1.amazonaws.com/graticule-worker:1';

const PRINCIPALS = Object.keys(GRANTS) as Principal[];

let production: Synthesis;

beforeAll(() => {
  production = synthesize();
}, 120_000);

function roleOf(principal: Principal): string {
  const pascal = principal.replace(/(^|-)([a-z])/g, (_match, _hyphen, letter) => letter.toUpperCase());
  if (principal === 'worker') return 'WorkerTaskTaskRole';
  if (principal === 'setup') return 'FirstValuesSetupRole';
  if (principal === 'rotate-keyring') return 'KeyringRotationRotateRole';
  const isDelivery = principal === 'deliver-webhook' || principal === 'count-undelivered';
  return `${isDelivery ? 'Delivery' : 'Api'}${pascal}Role`;
}

/** What an ARN in a policy is called in `contract/grants.ts`, be it the resource itself or what is in a bucket. */
function nameOf(arn: string): string {
  const [, kind = '', name = ''] =
    /Outputs\.GraticuleState([A-Z][a-z]+)([A-Z][a-z]+)[0-9A-F]{8}/.exec(arn) ?? [];
  const prefix = { Tables: '', Secrets: '', Queues: 'queue:', Buckets: 'bucket:' }[kind];
  if (prefix !== undefined) return `${prefix}${name.toLowerCase()}`;
  return /Log[0-9A-F]{8}/.test(arn) ? 'own log' : arn;
}

/** Every file below a folder, with the digest of what is in it. */
function digestOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    names.map((name) => [
      relative(folder, name),
      createHash('sha256').update(readFileSync(name)).digest('hex'),
    ]),
  );
}

describe('the stack that holds data', () => {
  it('has the logical ids that it always had', () => {
    const held = resourcesOf(production.state).filter(({ type }) => !type.endsWith('Policy'));
    expect(Object.fromEntries(held.map(({ id, type }) => [id, type]))).toEqual(STATEFUL_LOGICAL_IDS);
    expect(resourcesOf(production.service, 'AWS::CloudFormation::Stack').map(({ id }) => id)).toEqual([
      'StateNestedStackStateNestedStackResourceE7559502',
    ]);
  });

  it('outlives a production stack and goes with a development one', () => {
    const development = synthesize({ stage: 'development' });
    const policies = (synthesis: Synthesis) =>
      new Set(
        resourcesOf(synthesis.state)
          .filter(({ type }) => !type.endsWith('Policy'))
          .map(({ deletionPolicy }) => deletionPolicy),
      );
    expect(policies(production)).toEqual(new Set(['Retain']));
    expect(policies(development)).toEqual(new Set(['Delete']));
  });

  it('bills tables by request, restores them to the second, and lets items of Runtime end', () => {
    const tables = resourcesOf(production.state, 'AWS::DynamoDB::GlobalTable');
    expect(tables.map(({ properties }) => properties.BillingMode)).toEqual([
      'PAY_PER_REQUEST',
      'PAY_PER_REQUEST',
    ]);
    for (const { properties } of tables) {
      expect(properties.Replicas[0]).toMatchObject({
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        DeletionProtectionEnabled: true,
      });
    }
    const endings = tables.map(({ properties }) => properties.TimeToLiveSpecification?.AttributeName);
    expect(endings).toEqual([undefined, 'expires']);
  });

  it('has every queue with its times and its dead letters', () => {
    const queues = new Map(
      resourcesOf(production.state, 'AWS::SQS::Queue').map((queue) => [
        queue.id.slice('Queues'.length, -8).toLowerCase(),
        queue,
      ]),
    );
    for (const [name, queue] of Object.entries(QUEUES)) {
      const { properties } = queues.get(name) as TemplateResource;
      expect(properties).toMatchObject({
        VisibilityTimeout: queue.visibilitySeconds,
        MessageRetentionPeriod: queue.retentionSeconds,
      });
      const target = queue.redrive === undefined ? undefined : queues.get(queue.redrive.to);
      expect(properties.RedrivePolicy).toEqual(
        target === undefined
          ? undefined
          : {
              deadLetterTargetArn: { 'Fn::GetAtt': [target.id, 'Arn'] },
              maxReceiveCount: queue.redrive?.maxReceiveCount,
            },
      );
    }
  });

  it('keeps first values of secrets out of the template', () => {
    for (const { properties } of resourcesOf(production.state, 'AWS::SecretsManager::Secret')) {
      expect(Object.keys(properties)).toEqual(['Description']);
    }
  });
});

describe('least privilege', () => {
  it('gives each principal the actions of its row on the resources of its row, and beside them only its own log', () => {
    const statements = statementsOf(production.service.toJSON());
    for (const principal of PRINCIPALS) {
      const given = statements
        .filter(({ role }) => role === roleOf(principal))
        .flatMap(({ actions, resources }) =>
          actions.flatMap((action) => resources.map((resource) => `${action} ${nameOf(resource)}`)),
        );
      const row = Object.entries(GRANTS[principal]).flatMap(([resource, actions]) =>
        actions.map((action) => `${action} ${resource}`),
      );
      const log = ['logs:CreateLogStream own log', 'logs:PutLogEvents own log'];
      // The worker's lines are written by the agent, in a role that is not ours.
      expect(given.sort(), principal).toEqual([...row, ...(principal === 'worker' ? [] : log)].sort());
    }
  });

  it('has no role besides those and the one that starts the worker', () => {
    const roles = resourcesOf(production.service, 'AWS::IAM::Role').map(({ id }) =>
      id.replace(/[0-9A-F]{8}$/, ''),
    );
    const expected = PRINCIPALS.map(roleOf);
    expect(roles.sort()).toEqual([...expected, 'WorkerTaskExecutionRole'].sort());
    for (const { properties } of resourcesOf(production.service, 'AWS::IAM::Role')) {
      expect(Object.keys(properties)).toEqual(['AssumeRolePolicyDocument']);
    }
  });

  it('names a resource in every statement outside a listed few, and every action in full', () => {
    const statements = statementsOf(production.service.toJSON());
    expect(statements.every(({ effect }) => effect === 'Allow')).toBe(true);
    expect(statements.flatMap(({ actions }) => actions).filter((action) => action.includes('*'))).toEqual([]);
    // With an image that somebody else made; `npm run check` looks at the template of one that CDK builds.
    expect(statements.filter(({ resources }) => resources.includes('"*"'))).toEqual([]);
  });

  it('lets the worker be started from an image in ECR, and that one repository be read for it', () => {
    const { service } = synthesize({ image: ECR_IMAGE });
    const pulls = statementsOf(service.toJSON()).filter(({ actions }) =>
      actions.includes('ecr:BatchGetImage'),
    );
    expect(pulls.map(({ role, resources }) => [role, ...resources])).toEqual([
      [
        'WorkerTaskExecutionRole',
        JSON.stringify({
          'Fn::Join': [
            '',
            ['arn:', { Ref: 'AWS::Partition' }, ':ecr:eu-central-1:123456789012:repository/graticule-worker'],
          ],
        }),
      ],
    ]);
  });

  it('sets for each principal the variables of what it may call, and no others of that kind', () => {
    const named = new Set<string>([
      ENV.configTable,
      ENV.runtimeTable,
      ENV.keyringSecret,
      ENV.tokenSecret,
      ENV.payloadsBucket,
      ENV.topologyBucket,
      ...Object.values(QUEUES).map((queue) => queue.environment),
    ]);
    const tokens = resourcesOf(production.service, 'AWS::Lambda::Function').find(({ id }) =>
      id.startsWith('ApiTokens'),
    );
    const variables = Object.keys(tokens?.properties.Environment.Variables).filter((name) => named.has(name));
    expect(variables).toEqual([ENV.configTable]);
  });
});

describe('what runs', () => {
  it('is Node 24 on ARM in every function, with a log that ends by itself', () => {
    const functions = resourcesOf(production.service, 'AWS::Lambda::Function');
    expect(functions).toHaveLength(PRINCIPALS.length - 1);
    for (const { properties } of functions) {
      expect(properties).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'] });
      expect(properties.LoggingConfig.LogGroup.Ref).toBeDefined();
    }
    for (const { properties } of resourcesOf(production.service, 'AWS::Logs::LogGroup')) {
      expect(properties.RetentionInDays).toBe(30);
    }
  });

  it('routes every prefix with all below it to its function, and the rest to one of ours', () => {
    const routes = resourcesOf(production.service, 'AWS::ApiGatewayV2::Route').map(
      ({ properties }) => properties.RouteKey,
    );
    const expected = PREFIXES.flatMap(({ prefix }) => [`ANY ${prefix}`, `ANY ${prefix}/{proxy+}`]);
    expect(routes.sort()).toEqual([...expected, '$default'].sort());
  });

  it('takes each operation of the OpenAPI document to the function that the contract and the local gateway name', () => {
    const { paths } = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));
    const documented = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const integrations = new Map(
      resourcesOf(production.service, 'AWS::ApiGatewayV2::Integration').map(({ id, properties }) => [
        id,
        properties.IntegrationUri['Fn::GetAtt'][0] as string,
      ]),
    );
    const deployed = new Map(
      resourcesOf(production.service, 'AWS::ApiGatewayV2::Route').map(({ properties }) => {
        const integration = properties.Target['Fn::Join'][1].find(
          (part: unknown) => typeof part === 'object',
        ).Ref;
        return [properties.RouteKey as string, integrations.get(integration) ?? ''];
      }),
    );
    expect(documented.sort()).toEqual(ROUTES.map(({ method, path }) => `${method} ${path}`).sort());
    for (const { method, path, function: name } of ROUTES) {
      const local = routeOf(path.replaceAll(/\{\w+\}/g, '1'));
      expect(local.function, `${method} ${path} on a laptop`).toBe(name);
      const pascal = name.replace(/^[a-z]/, (letter) => letter.toUpperCase());
      expect(deployed.get(local.routeKey), `${method} ${path} in AWS`).toMatch(
        new RegExp(`^Api${pascal}Function`),
      );
    }
  });

  it('logs each request without its headers and throttles all of them together', () => {
    const stage = resourcesOf(production.service, 'AWS::ApiGatewayV2::Stage')[0]?.properties;
    expect(stage.DefaultRouteSettings).toEqual({ ThrottlingBurstLimit: 200, ThrottlingRateLimit: 100 });
    expect(JSON.parse(stage.AccessLogSettings.Format)).toMatchObject({ status: '$context.status' });
    expect(stage.AccessLogSettings.Format).not.toMatch(/header|authoriz/i);
  });

  it('invokes the queue functions as the contract says, with partial batches', () => {
    const mappings = resourcesOf(production.service, 'AWS::Lambda::EventSourceMapping');
    const consumers = Object.values(QUEUES).flatMap(({ consumer }) => (consumer ? [consumer] : []));
    expect(mappings.map(({ properties }) => properties.ScalingConfig.MaximumConcurrency).sort()).toEqual(
      consumers.map((consumer) => consumer.maximumConcurrency).sort(),
    );
    for (const { properties } of mappings) {
      expect(properties.FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
    }
  });

  it('runs the worker without root, without a writable disk, watched, and replaced without a gap', () => {
    const task = resourcesOf(production.service, 'AWS::ECS::TaskDefinition')[0]?.properties;
    expect(task.RuntimePlatform).toEqual({ CpuArchitecture: 'ARM64', OperatingSystemFamily: 'LINUX' });
    expect(task.ContainerDefinitions[0]).toMatchObject({
      User: '1000:1000',
      ReadonlyRootFilesystem: true,
      LinuxParameters: { Capabilities: { Drop: ['ALL'] } },
      HealthCheck: { Command: ['CMD', 'node', 'health.js'] },
      StopTimeout: 30,
    });
    const service = resourcesOf(production.service, 'AWS::ECS::Service')[0]?.properties;
    expect(service.DeploymentConfiguration).toMatchObject({
      MinimumHealthyPercent: 100,
      MaximumPercent: 200,
      DeploymentCircuitBreaker: { Enable: true, Rollback: true },
    });
  });

  it('lets nobody in, unless routers may open sessions', () => {
    const group = (synthesis: Synthesis) =>
      resourcesOf(synthesis.service, 'AWS::EC2::SecurityGroup')[0]?.properties.SecurityGroupIngress;
    expect(group(production)).toBeUndefined();
    const listening = synthesize({ 'bgp-listen-from': '10.0.0.0/8' });
    expect(group(listening)).toMatchObject([{ CidrIp: '10.0.0.0/8', FromPort: 179, ToPort: 179 }]);
    const worker = resourcesOf(listening.service, 'AWS::ECS::TaskDefinition')[0]?.properties;
    expect(worker.ContainerDefinitions[0].Environment).toContainEqual({
      Name: ENV.bgpListen,
      Value: '0.0.0.0:179',
    });
  });

  it('tells where it is, where its token is, and where its workers call from', () => {
    expect(Object.keys(production.service.toJSON()['Outputs']).sort()).toEqual([
      'ApiUrl',
      'ConfigTable',
      'KeyringSecretArn',
      'RotateKeyringFunction',
      'TokenSecretArn',
      'WorkerCidrs',
    ]);
  });
});

describe('the alarms', () => {
  const alarms = () => resourcesOf(production.service, 'AWS::CloudWatch::Alarm');

  it('are those of the contract, each with what to do', () => {
    for (const { id, sentence, runbook, ...alarm } of ALARMS) {
      const made = alarms().filter(({ properties }) => properties.AlarmDescription.startsWith(sentence));
      const names = Object.keys(alarm.dimensions);
      expect(made.length, id).toBe(names.includes('FunctionName') ? PRINCIPALS.length - 2 : 1);
      for (const { properties } of made) {
        expect(properties, id).toMatchObject({
          Namespace: alarm.namespace,
          MetricName: alarm.metric,
          Statistic: alarm.statistic,
          Period: alarm.periodSeconds,
          DatapointsToAlarm: alarm.datapointsToAlarm,
          EvaluationPeriods: alarm.evaluationPeriods,
          Threshold: alarm.threshold,
          ComparisonOperator:
            alarm.comparison === 'less-than-threshold' ? 'LessThanThreshold' : 'GreaterThanThreshold',
          TreatMissingData: alarm.missingData === 'breaching' ? 'breaching' : 'notBreaching',
        });
        expect(properties.AlarmDescription).toMatch(new RegExp(`docs/runbook\\.md#${runbook}$`));
        expect(properties.Dimensions.map(({ Name }: { Name: string }) => Name)).toEqual(names);
      }
    }
    const functions = alarms().filter(({ properties }) => properties.Namespace === 'AWS/Lambda');
    expect(functions).toHaveLength(2 * (PRINCIPALS.length - 2));
    expect(alarms(), 'what the cost model counts').toHaveLength(alarmMetrics());
  });

  it('watch what the functions and the worker write under the name of the stack', () => {
    const other = synthesize({ name: 'Another' });
    const namespaces = (synthesis: Synthesis) =>
      new Set(
        resourcesOf(synthesis.service, 'AWS::CloudWatch::Alarm').map(
          ({ properties }) => properties.Namespace,
        ),
      );
    expect(namespaces(production)).toEqual(new Set(['Graticule', 'AWS/SQS', 'AWS/Lambda']));
    expect(namespaces(other)).toEqual(new Set(['Another', 'AWS/SQS', 'AWS/Lambda']));
    for (const { properties } of resourcesOf(other.service, 'AWS::Lambda::Function')) {
      expect(properties.Environment.Variables[ENV.metricsNamespace]).toBe('Another');
    }
  });

  it('tell the one who asked for it, and else nobody', () => {
    expect(alarms().every(({ properties }) => properties.AlarmActions === undefined)).toBe(true);
    const told = synthesize({ 'alarm-email': 'noc@example.net' });
    expect(resourcesOf(told.service, 'AWS::SNS::Subscription')[0]?.properties).toMatchObject({
      Protocol: 'email',
      Endpoint: 'noc@example.net',
    });
    for (const { properties } of resourcesOf(told.service, 'AWS::CloudWatch::Alarm')) {
      expect(properties.AlarmActions).toHaveLength(1);
    }
  });

  it('may publish to their topic, which a policy of its own closes to whom it does not name', () => {
    const told = synthesize({ 'alarm-email': 'noc@example.net' });
    const policy = resourcesOf(told.service, 'AWS::SNS::TopicPolicy')[0]?.properties.PolicyDocument;
    const allowed = policy.Statement.filter(({ Effect }: { Effect: string }) => Effect === 'Allow');
    expect(allowed).toMatchObject([
      {
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Resource: resourcesOf(told.service, 'AWS::CloudWatch::Alarm')[0]?.properties.AlarmActions[0],
        Condition: {
          ArnLike: { 'aws:SourceArn': { 'Fn::Join': ['', expect.arrayContaining([':alarm:*'])] } },
        },
      },
    ]);
  });
});

describe('the network', () => {
  const count = (synthesis: Synthesis, type: string) => resourcesOf(synthesis.service, type).length;
  const endpoints = (synthesis: Synthesis, kind: string) =>
    resourcesOf(synthesis.service, 'AWS::EC2::VPCEndpoint').filter(
      ({ properties }) => properties.VpcEndpointType === kind,
    ).length;

  it('has a /28 for workers in two zones and both gateway endpoints, whatever its kind', () => {
    for (const network of ['public', 'private', 'private-nat']) {
      const made = network === 'public' ? production : synthesize({ network, image: ECR_IMAGE });
      expect(endpoints(made, 'Gateway'), network).toBe(2);
      const workers = resourcesOf(made.service, 'AWS::EC2::Subnet').filter(({ id }) =>
        id.includes('Workers'),
      );
      expect(workers.map(({ properties }) => properties.CidrBlock.split('/')[1])).toEqual(['28', '28']);
      expect(count(made, 'AWS::EC2::NatGateway'), network).toBe(network === 'private-nat' ? 1 : 0);
      expect(endpoints(made, 'Interface'), network).toBe(network === 'private' ? 5 : 0);
      expect(count(made, 'AWS::EC2::InternetGateway'), network).toBe(network === 'private' ? 0 : 1);
      const service = resourcesOf(made.service, 'AWS::ECS::Service')[0]?.properties;
      expect(service.NetworkConfiguration.AwsvpcConfiguration.AssignPublicIp, network).toBe(
        network === 'public' ? 'ENABLED' : 'DISABLED',
      );
    }
  });
});

describe('a synthesis', () => {
  it('gives the same templates and hashes each time, so that a deployment without a change changes nothing', async () => {
    const again = synthesize();
    expect(again.service.toJSON()).toEqual(production.service.toJSON());
    expect(again.state.toJSON()).toEqual(production.state.toJSON());
    const folder = mkdtempSync(join(tmpdir(), 'graticule-bundles-'));
    try {
      await bundleAll(join(folder, 'one'));
      await bundleAll(join(folder, 'another/and/deeper'));
      expect(digestOf(join(folder, 'another/and/deeper'))).toEqual(digestOf(join(folder, 'one')));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('what cdk-nag finds', () => {
  it('is acknowledged by resource, each with a reason, and never for a whole stack', () => {
    for (const { path, reason } of ACKNOWLEDGED) {
      expect(path.split('/').length, path).toBeGreaterThan(1);
      expect(reason.length, path).toBeGreaterThan(40);
    }
  });

  it('stops a synthesis when it is not acknowledged', () => {
    expect(() => synthesize({ 'bgp-listen-from': '0.0.0.0/0' })).toThrow(/[Vv]alidation/);
  });
});
