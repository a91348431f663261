import { Duration, RemovalPolicy, Size } from 'aws-cdk-lib';
import { Peer, Port, SecurityGroup } from 'aws-cdk-lib/aws-ec2';
import {
  AvailabilityZoneRebalancing,
  AwsLogDriverMode,
  Capability,
  Cluster,
  type ContainerDefinition,
  type ContainerImage,
  ContainerInsights,
  CpuArchitecture,
  FargateService,
  FargateTaskDefinition,
  type ICluster,
  LinuxParameters,
  LogDrivers,
  OperatingSystemFamily,
} from 'aws-cdk-lib/aws-ecs';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { ENV } from '../contract/env.ts';
import { SIZES } from '../contract/sizes.ts';
import { WORKER_ENVIRONMENT, WORKER_NODE_OPTIONS } from '../contract/worker.ts';
import type { Runtime } from './grant.ts';
import type { Network } from './network.ts';
import type { Settings } from './settings.ts';

const BGP_PORT = 179;

/** What of the task's memory JavaScript may take; the rest is for buffers and the process itself. */
const HEAP_SHARE = 0.75;

/** The workers: Fargate tasks on ARM that own peers and devices. */
export class WorkerService extends Construct implements Runtime {
  readonly principal = 'worker';
  readonly role: IRole;
  readonly service: FargateService;
  readonly cluster: ICluster;
  readonly #container: ContainerDefinition;

  constructor(
    scope: Construct,
    id: string,
    options: { readonly settings: Settings; readonly network: Network; readonly image: ContainerImage },
  ) {
    super(scope, id);
    const { settings, network } = options;
    const listens = settings.bgpListenFrom.length > 0;
    const logGroup = new LogGroup(this, 'Log', {
      retention: SIZES.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const task = new FargateTaskDefinition(this, 'Task', {
      cpu: settings.workerCpuUnits,
      memoryLimitMiB: settings.workerMegabytes,
      runtimePlatform: {
        cpuArchitecture: CpuArchitecture.ARM64,
        operatingSystemFamily: OperatingSystemFamily.LINUX,
      },
    });
    this.role = task.taskRole;
    const linuxParameters = new LinuxParameters(this, 'Linux');
    linuxParameters.dropCapabilities(Capability.ALL);
    this.#container = task.addContainer('worker', {
      image: options.image,
      user: '1000:1000',
      readonlyRootFilesystem: true,
      linuxParameters,
      // Below 1,024 a port is root's, unless the task's own network says otherwise.
      ...(listens
        ? { systemControls: [{ namespace: 'net.ipv4.ip_unprivileged_port_start', value: `${BGP_PORT}` }] }
        : {}),
      healthCheck: {
        command: ['CMD', 'node', 'health.js'],
        interval: Duration.seconds(10),
        timeout: Duration.seconds(5),
        startPeriod: Duration.seconds(30),
        retries: 3,
      },
      // A worker says Cease to its peers, writes what it holds and lets go within five seconds.
      stopTimeout: Duration.seconds(30),
      logging: LogDrivers.awsLogs({
        logGroup,
        streamPrefix: 'worker',
        // A log that CloudWatch does not take must not make a BGP session wait.
        mode: AwsLogDriverMode.NON_BLOCKING,
        maxBufferSize: Size.mebibytes(4),
      }),
      environment: {
        ...WORKER_ENVIRONMENT,
        [ENV.logLevel]: 'INFO',
        [ENV.localAs]: settings.localAs,
        [ENV.routerId]: settings.routerId,
        [ENV.bgpListen]: listens ? `0.0.0.0:${BGP_PORT}` : '',
        NODE_OPTIONS: [
          `--max-old-space-size=${Math.floor(settings.workerMegabytes * HEAP_SHARE)}`,
          ...WORKER_NODE_OPTIONS,
        ].join(' '),
      },
    });

    const securityGroup = new SecurityGroup(this, 'SecurityGroup', {
      vpc: network.vpc,
      description: 'Graticule workers: they open connections to routers, devices and AWS',
      // Peers and devices are whatever users name, at any port.
      allowAllOutbound: true,
    });
    for (const range of settings.bgpListenFrom) {
      securityGroup.addIngressRule(Peer.ipv4(range), Port.tcp(BGP_PORT), 'BGP from routers');
    }
    const cluster = new Cluster(this, 'Cluster', {
      vpc: network.vpc,
      // Priced by metric; what we watch we count ourselves.
      containerInsightsV2: ContainerInsights.DISABLED,
    });
    this.cluster = cluster as ICluster;
    this.service = new FargateService(this, 'Service', {
      cluster: this.cluster,
      taskDefinition: task,
      desiredCount: settings.workers,
      assignPublicIp: network.workersHavePublicAddresses,
      vpcSubnets: { subnetGroupName: 'Workers' },
      securityGroups: [securityGroup],
      // The new worker runs before the old one drains, and takes over what it lets go of.
      minHealthyPercent: 100,
      maxHealthyPercent: 200,
      circuitBreaker: { enable: true, rollback: true },
      // Sessions stay where they are: a task that moves for the sake of balance would drop them all.
      availabilityZoneRebalancing: AvailabilityZoneRebalancing.DISABLED,
    });
  }

  setEnvironment(name: string, value: string): void {
    this.#container.addEnvironment(name, value);
  }
}
