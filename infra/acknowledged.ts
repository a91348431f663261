import { type Stack, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** A finding of cdk-nag that we have read and keep: where, which rule, and why it is right here. */
export interface Acknowledged {
  /** Below the stack; what is below the path is meant too. */
  readonly path: string;
  readonly rule: string;
  readonly reason: string;
}

const OBJECT_NAMES =
  'Objects have names that nobody knows beforehand; the bucket is one of ours, and the actions are those of contract/grants.ts.';

/** The finding that a role may name any object of a bucket, as cdk-nag writes it. */
const anyObject = (output: string): string =>
  `AwsSolutions-IAM5[Resource::<StateNestedStackStateNestedStackResourceE7559502.Outputs.${output}>/*]`;

/** Every one, by resource path; none is for a whole stack. */
export const ACKNOWLEDGED: readonly Acknowledged[] = [
  {
    path: 'State/Buckets/Payloads/Resource',
    rule: 'AwsSolutions-S1',
    reason:
      'Holds compressed requests for at most two days, written and read by two roles only; a log of reads would outlive what it is about.',
  },
  {
    path: 'State/Buckets/Topology/Resource',
    rule: 'AwsSolutions-S1',
    reason:
      'Holds answers for at most a day, each read by whoever got its presigned address; that request is in the access log of the API.',
  },
  {
    path: 'State/Queues/Jobs/Resource',
    rule: 'AwsSolutions-SQS3',
    reason: 'A live test is of no use after a minute: its caller has had an answer, and the message expires.',
  },
  {
    path: 'State/Secrets/Keyring',
    rule: 'AwsSolutions-SMG4',
    reason:
      'Rotated by a function of ours on a schedule, which keeps old keys for what they encrypted; the rotation of Secrets Manager would replace them.',
  },
  {
    path: 'State/Secrets/Token',
    rule: 'AwsSolutions-SMG4',
    reason:
      'The first token only: its owner makes others with an end and removes this one; a new value here would be a token that nobody accepts.',
  },
  {
    path: 'Network/Vpc/Resource',
    rule: 'AwsSolutions-VPC7',
    reason:
      'Flow logs of telemetry are billed by its volume; whoever needs them turns them on for the VPC, without this stack.',
  },
  {
    path: 'Api/HttpApi',
    rule: 'AwsSolutions-APIG4',
    reason:
      'Tokens are checked in the functions, which can answer with problem details; a denial by API Gateway cannot (decision 0005).',
  },
  {
    path: 'Api/Topology/Role/DefaultPolicy',
    rule: anyObject('GraticuleStateBucketsTopologyC314B124Arn'),
    reason: OBJECT_NAMES,
  },
  {
    path: 'Api/Models/Role/DefaultPolicy',
    rule: anyObject('GraticuleStateBucketsPayloadsA89FDEFBArn'),
    reason: OBJECT_NAMES,
  },
  {
    path: 'Api/Models/Role/DefaultPolicy',
    rule: anyObject('GraticuleStateBucketsTopologyC314B124Arn'),
    reason: OBJECT_NAMES,
  },
  {
    path: 'Delivery/DeliverWebhook/Role/DefaultPolicy',
    rule: anyObject('GraticuleStateBucketsPayloadsA89FDEFBArn'),
    reason: OBJECT_NAMES,
  },
  {
    path: 'Worker/Task/TaskRole/DefaultPolicy',
    rule: anyObject('GraticuleStateBucketsPayloadsA89FDEFBArn'),
    reason: OBJECT_NAMES,
  },
  {
    path: 'Worker/Task/ExecutionRole/DefaultPolicy',
    rule: 'AwsSolutions-IAM5[Resource::*]',
    reason: 'ecr:GetAuthorizationToken, the sign-in to the registry, is not for any one resource.',
  },
  {
    path: 'Worker/Task/Resource',
    rule: 'AwsSolutions-ECS2',
    reason:
      'The variables are names of resources and settings; secrets are read from Secrets Manager at run time.',
  },
  {
    path: 'Worker/Cluster/Resource',
    rule: 'AwsSolutions-ECS4',
    reason: 'Container Insights is billed by metric; alarms watch what the worker itself counts.',
  },
];

/** Tells cdk-nag of each. Throws for a path that the stack no longer has. */
export function acknowledge(stack: Stack): void {
  for (const { path, rule, reason } of ACKNOWLEDGED) {
    const place = path
      .split('/')
      .reduce<IConstruct>((construct, name) => construct.node.findChild(name), stack);
    Validations.of(place).acknowledge({ id: rule, reason });
  }
}
