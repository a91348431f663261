import { NestedStack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Buckets } from './buckets.ts';
import type { Runtime } from './grant.ts';
import { Queues } from './queues.ts';
import { Secrets } from './secrets.ts';
import type { Settings } from './settings.ts';
import { Tables } from './tables.ts';

/**
 * Everything that holds something. A stack of its own, so that nothing which is changed often can touch it; nested, so that
 * one deployment makes or rolls back both, and no export of one stack keeps the other from changing.
 */
export class StateStack extends NestedStack {
  readonly tables: Tables;
  readonly buckets: Buckets;
  readonly queues: Queues;
  readonly secrets: Secrets;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id, { description: 'Graticule: what holds data' });
    this.tables = new Tables(this, 'Tables', settings);
    this.buckets = new Buckets(this, 'Buckets', settings);
    this.queues = new Queues(this, 'Queues', settings);
    this.secrets = new Secrets(this, 'Secrets', settings);
  }

  /** Gives the runtime all that its row in `contract/grants.ts` names, and nothing else. */
  grantTo(runtime: Runtime): void {
    for (const capability of [this.tables, this.buckets, this.queues, this.secrets]) {
      capability.grantTo(runtime);
    }
  }
}
