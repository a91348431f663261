import {
  CfnOutput,
  CliCredentialsStackSynthesizer,
  DefaultStackSynthesizer,
  type IStackSynthesizer,
  Stack,
} from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { ENV } from '../contract/env.ts';
import { Alarms } from './alarms.ts';
import { Api } from './api.ts';
import { Delivery } from './delivery.ts';
import { FirstValues } from './first-values.ts';
import type { Runtime } from './grant.ts';
import { KeyringRotation } from './keyring-rotation.ts';
import { Network } from './network.ts';
import type { Settings } from './settings.ts';
import { StateStack } from './state-stack.ts';
import { workerImage } from './worker-image.ts';
import { WorkerService } from './worker-service.ts';

/** The whole product: what holds data, nested, and what runs. Only wires. */
export class GraticuleStack extends Stack {
  readonly state: StateStack;

  constructor(scope: Construct, settings: Settings, bundles: string) {
    // The id is in every logical id; the name is the deployer's to choose.
    super(scope, 'Graticule', {
      stackName: settings.name,
      description: 'Graticule: topology from BGP-LS, telemetry over gNMI and SNMP',
      terminationProtection: settings.stage === 'production',
      synthesizer: (settings.rights === 'caller'
        ? new CliCredentialsStackSynthesizer()
        : new DefaultStackSynthesizer()) as IStackSynthesizer,
    });
    const state = new StateStack(this, 'State', settings);
    this.state = state;
    const network = new Network(this, 'Network', settings);
    const api = new Api(this, 'Api', { bundles });
    const { webhookAllow } = settings;
    const delivery = new Delivery(this, 'Delivery', { bundles, queues: state.queues, webhookAllow });
    api.functions.outputs.setEnvironment(ENV.webhookAllow, webhookAllow.join(','));
    const firstValues = new FirstValues(this, 'FirstValues', { bundles, settings });
    const rotation = new KeyringRotation(this, 'KeyringRotation', { bundles });
    const worker = new WorkerService(this, 'Worker', {
      settings,
      network,
      image: workerImage(this, settings.image, bundles),
    });

    const runtimes: Runtime[] = [
      ...Object.values(api.functions),
      ...Object.values(delivery.functions),
      firstValues.setup,
      rotation.rotate,
      worker,
    ];
    for (const runtime of runtimes) {
      state.grantTo(runtime);
      runtime.setEnvironment(ENV.metricsNamespace, settings.name);
    }
    // A worker that starts on an empty stack would only fail, and the deployment with it.
    worker.service.node.addDependency(firstValues.written);

    new Alarms(this, 'Alarms', {
      settings,
      queues: state.queues,
      // CloudFormation itself tells of a set-up that fails.
      functions: [...Object.values(api.functions), ...Object.values(delivery.functions), rotation.rotate].map(
        ({ lambda }) => lambda as IFunction,
      ),
    });

    const output = (name: string, value: string, description: string) =>
      new CfnOutput(this, name, { value, description });
    output('ApiUrl', api.url, 'Where the API is');
    output('TokenSecretArn', state.secrets.tokenArn, 'The secret that holds the bootstrap token');
    output('ConfigTable', state.tables.tables.config.tableName, 'What a backup reads and writes');
    output('KeyringSecretArn', state.secrets.keyringArn, 'What opens the secrets in it');
    output('WorkerCidrs', network.workerCidrs, 'The ranges that workers call routers and devices from');
    output('RotateKeyringFunction', rotation.rotate.lambda.functionName, 'Invoke it for a new key at once');
  }
}
