import {
  CreateTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { TABLES } from '../contract/tables.ts';

/**
 * Makes the tables that do not exist yet, as the infrastructure does in AWS. The client is its own, so that the quota
 * guard, which knows no principal that may make tables, does not see it.
 */
export async function createMissingTables(endpoint: string, accessKeyId: string): Promise<void> {
  const client = new DynamoDBClient({
    endpoint,
    region: 'local',
    credentials: { accessKeyId, secretAccessKey: accessKeyId },
  });
  try {
    await Promise.all(
      Object.values(TABLES).map(async (table) => {
        const created = await client
          .send(
            new CreateTableCommand({
              TableName: table.name,
              BillingMode: 'PAY_PER_REQUEST',
              AttributeDefinitions: [
                { AttributeName: table.partitionKey, AttributeType: 'S' },
                { AttributeName: table.sortKey, AttributeType: 'S' },
              ],
              KeySchema: [
                { AttributeName: table.partitionKey, KeyType: 'HASH' },
                { AttributeName: table.sortKey, KeyType: 'RANGE' },
              ],
            }),
          )
          .catch((error: unknown) => {
            if (error instanceof ResourceInUseException) return undefined;
            throw error;
          });
        if (created === undefined || !('timeToLive' in table)) return;
        await client.send(
          new UpdateTimeToLiveCommand({
            TableName: table.name,
            TimeToLiveSpecification: { AttributeName: table.timeToLive, Enabled: true },
          }),
        );
      }),
    );
  } finally {
    client.destroy();
  }
}
