import {
  GatewayVpcEndpointAwsService,
  InterfaceVpcEndpointAwsService,
  IpAddresses,
  type ISubnet,
  type IVpc,
  Peer,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import type { NetworkKind, Settings } from './settings.ts';

/** The smallest subnet that AWS has: routers trust this range and no more. */
const WORKER_PREFIX = 28;

const WORKER_SUBNETS: Readonly<Record<NetworkKind, SubnetType>> = {
  public: SubnetType.PUBLIC,
  private: SubnetType.PRIVATE_ISOLATED,
  'private-nat': SubnetType.PRIVATE_WITH_EGRESS,
};

/** What a worker without a way to the internet calls, besides DynamoDB and S3, whose endpoints cost nothing. */
const INTERFACE_ENDPOINTS = {
  Sqs: InterfaceVpcEndpointAwsService.SQS,
  SecretsManager: InterfaceVpcEndpointAwsService.SECRETS_MANAGER,
  Logs: InterfaceVpcEndpointAwsService.CLOUDWATCH_LOGS,
  EcrApi: InterfaceVpcEndpointAwsService.ECR,
  EcrDocker: InterfaceVpcEndpointAwsService.ECR_DOCKER,
};

/** A VPC with a /28 for workers in each of two zones. */
export class Network extends Construct {
  /** Seen as an IVpc here once, since the library's own types do not pass `exactOptionalPropertyTypes`. */
  readonly vpc: IVpc;
  readonly workerSubnets: readonly ISubnet[];
  /** Whether workers reach the internet by an address of their own. */
  readonly workersHavePublicAddresses: boolean;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const { network } = settings;
    this.workersHavePublicAddresses = network === 'public';
    const vpc = new Vpc(this, 'Vpc', {
      ipAddresses: IpAddresses.cidr(settings.cidr),
      maxAzs: 2,
      natGateways: network === 'private-nat' ? 1 : 0,
      subnetConfiguration: [
        {
          name: 'Workers',
          subnetType: WORKER_SUBNETS[network],
          cidrMask: WORKER_PREFIX,
          ...(network === 'public' ? { mapPublicIpOnLaunch: false } : {}),
        },
        ...(network === 'private-nat'
          ? [
              {
                name: 'Nat',
                subnetType: SubnetType.PUBLIC,
                cidrMask: WORKER_PREFIX,
                mapPublicIpOnLaunch: false,
              },
            ]
          : []),
      ],
    });
    vpc.addGatewayEndpoint('DynamoDb', { service: GatewayVpcEndpointAwsService.DYNAMODB });
    vpc.addGatewayEndpoint('S3', { service: GatewayVpcEndpointAwsService.S3 });
    if (network === 'private') {
      const securityGroup = new SecurityGroup(this, 'Endpoints', {
        vpc: vpc as IVpc,
        description: 'Graticule: interface endpoints of AWS, for the VPC itself',
        allowAllOutbound: false,
      });
      securityGroup.addIngressRule(Peer.ipv4(settings.cidr), Port.tcp(443), 'HTTPS from the VPC');
      for (const [name, service] of Object.entries(INTERFACE_ENDPOINTS)) {
        vpc.addInterfaceEndpoint(name, { service, securityGroups: [securityGroup], open: false });
      }
    }
    this.vpc = vpc as IVpc;
    this.workerSubnets = vpc.selectSubnets({ subnetGroupName: 'Workers' }).subnets;
  }

  /** The ranges that workers' private addresses come from, joined by commas. */
  get workerCidrs(): string {
    return this.workerSubnets.map((subnet) => subnet.ipv4CidrBlock).join(',');
  }
}
