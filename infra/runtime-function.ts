import { join } from 'node:path';
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Code,
  Function as LambdaFunction,
  Runtime as LambdaRuntime,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { ENV } from '../contract/env.ts';
import type { Principal } from '../contract/grants.ts';
import { SIZES } from '../contract/sizes.ts';
import type { Runtime } from './grant.ts';

export interface RuntimeFunctionOptions {
  /** The file of `functions/` without its ending, which is also its name in `contract/grants.ts`. */
  readonly principal: Exclude<Principal, 'worker'>;
  /** Where `bundleAll` wrote. */
  readonly bundles: string;
  readonly memoryMegabytes: number;
  readonly timeoutSeconds: number;
}

/** One Lambda function, with a role that may write its own log and what it is granted, and a log that ends by itself. */
export class RuntimeFunction extends Construct implements Runtime {
  readonly principal: Principal;
  readonly role: Role;
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, id: string, options: RuntimeFunctionOptions) {
    super(scope, id);
    this.principal = options.principal;
    const logGroup = new LogGroup(this, 'Log', {
      retention: SIZES.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.role.addToPolicy(
      new PolicyStatement({
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [logGroup.logGroupArn],
      }),
    );
    this.lambda = new LambdaFunction(this, 'Function', {
      runtime: LambdaRuntime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(join(options.bundles, 'functions', options.principal)),
      handler: 'index.handler',
      memorySize: options.memoryMegabytes,
      timeout: Duration.seconds(options.timeoutSeconds),
      role: this.role,
      logGroup,
      environment: { [ENV.logLevel]: 'INFO' },
    });
  }

  setEnvironment(name: string, value: string): void {
    this.lambda.addEnvironment(name, value);
  }
}
