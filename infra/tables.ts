import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, Billing, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { ENV } from '../contract/env.ts';
import { TABLES } from '../contract/tables.ts';
import { grant, type Runtime } from './grant.ts';
import type { Settings } from './settings.ts';

type TableName = keyof typeof TABLES;

const ENVIRONMENT: Readonly<Record<TableName, string>> = {
  config: ENV.configTable,
  runtime: ENV.runtimeTable,
};

/** The two tables: on demand, restorable to any second of the last 35 days. */
export class Tables extends Construct {
  readonly tables: Readonly<Record<TableName, TableV2>>;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const isProduction = settings.stage === 'production';
    const make = (name: TableName, constructId: string): TableV2 => {
      const table: { partitionKey: string; sortKey: string; timeToLive?: string } = TABLES[name];
      return new TableV2(this, constructId, {
        partitionKey: { name: table.partitionKey, type: AttributeType.STRING },
        sortKey: { name: table.sortKey, type: AttributeType.STRING },
        ...(table.timeToLive === undefined ? {} : { timeToLiveAttribute: table.timeToLive }),
        billing: Billing.onDemand(),
        pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
        deletionProtection: isProduction,
        removalPolicy: isProduction ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      });
    };
    this.tables = { config: make('config', 'Config'), runtime: make('runtime', 'Runtime') };
  }

  grantTo(runtime: Runtime): void {
    for (const [name, table] of Object.entries(this.tables) as [TableName, TableV2][]) {
      grant(runtime, {
        resource: name,
        environment: { [ENVIRONMENT[name]]: table.tableName },
        arnFor: () => table.tableArn,
      });
    }
  }
}
