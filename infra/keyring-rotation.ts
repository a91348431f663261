import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Construct } from 'constructs';
import { SIZES } from '../contract/sizes.ts';
import { RuntimeFunction } from './runtime-function.ts';

/** Gives the keyring a new key on a schedule; an operator may invoke the function at any time besides. */
export class KeyringRotation extends Construct {
  readonly rotate: RuntimeFunction;

  constructor(scope: Construct, id: string, options: { readonly bundles: string }) {
    super(scope, id);
    this.rotate = new RuntimeFunction(this, 'Rotate', {
      principal: 'rotate-keyring',
      bundles: options.bundles,
      memoryMegabytes: SIZES.rotateKeyringMegabytes,
      timeoutSeconds: SIZES.rotateKeyringTimeoutSeconds,
    });
    new Rule(this, 'Schedule', {
      description: 'Graticule: a new key for the keyring',
      schedule: Schedule.rate(Duration.days(SIZES.rotateKeyringDays)),
      targets: [new LambdaFunction(this.rotate.lambda, { retryAttempts: 2 })],
    });
  }
}
