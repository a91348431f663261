import { CustomResource } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { ENV } from '../contract/env.ts';
import { SIZES } from '../contract/sizes.ts';
import { PRODUCT_VERSION } from '../contract/version.ts';
import { RuntimeFunction } from './runtime-function.ts';
import type { Settings } from './settings.ts';

/** Runs the set-up function when the stack is made, and again at each version. */
export class FirstValues extends Construct {
  readonly setup: RuntimeFunction;
  readonly written: CustomResource;

  constructor(
    scope: Construct,
    id: string,
    options: { readonly bundles: string; readonly settings: Settings },
  ) {
    super(scope, id);
    this.setup = new RuntimeFunction(this, 'Setup', {
      principal: 'setup',
      bundles: options.bundles,
      memoryMegabytes: SIZES.setupMegabytes,
      timeoutSeconds: SIZES.setupTimeoutSeconds,
    });
    this.setup.setEnvironment(ENV.localAs, options.settings.localAs);
    this.setup.setEnvironment(ENV.routerId, options.settings.routerId);
    this.written = new CustomResource(this, 'Written', {
      serviceToken: this.setup.lambda.functionArn,
      resourceType: 'Custom::GraticuleFirstValues',
      properties: { version: PRODUCT_VERSION },
    });
    this.written.node.addDependency(this.setup.role);
  }
}
