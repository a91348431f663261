import { RemovalPolicy } from 'aws-cdk-lib';
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { ENV } from '../contract/env.ts';
import type { Resource } from '../contract/grants.ts';
import { grant, type Runtime } from './grant.ts';
import type { Settings } from './settings.ts';

/**
 * The keyring that encrypts secrets at rest, and the bootstrap token. Both are made empty: the set-up function writes their
 * first values, so that no template, change set or event of CloudFormation ever has them.
 */
export class Secrets extends Construct {
  readonly keyringArn: string;
  readonly tokenArn: string;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const make = (constructId: string, description: string): CfnSecret => {
      const secret = new CfnSecret(this, constructId, { description });
      secret.applyRemovalPolicy(
        settings.stage === 'production' ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      );
      return secret;
    };
    this.keyringArn = make('Keyring', 'Graticule: keys that encrypt passwords at rest').attrId;
    this.tokenArn = make('Token', 'Graticule: the first admin token').attrId;
  }

  grantTo(runtime: Runtime): void {
    const secrets: [Resource, string, string][] = [
      ['keyring', ENV.keyringSecret, this.keyringArn],
      ['token', ENV.tokenSecret, this.tokenArn],
    ];
    for (const [resource, variable, arn] of secrets) {
      grant(runtime, { resource, environment: { [variable]: arn }, arnFor: () => arn });
    }
  }
}
