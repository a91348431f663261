import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { ENV } from '../contract/env.ts';
import { errorFields } from '../core/log-line.ts';
import { firstSecretValue } from '../store/first-secret.ts';
import { newToken, setUp } from '../store/setup.ts';
import { log } from './log.ts';

/** The set-up is one thing, however often it runs: CloudFormation must never take a later run for a replacement. */
const PHYSICAL_ID = 'graticule-first-values';

/**
 * Called by CloudFormation when the stack is made or updated: gives an empty stack its keyring, settings and bootstrap
 * token. A stack that has them keeps them, and a deleted one takes them along. Answers at the address that the event
 * names, as custom resources do; never throws, since CloudFormation would then wait an hour for nothing.
 */
export async function handler(event: CloudFormationCustomResourceEvent): Promise<void> {
  try {
    if (event.RequestType !== 'Delete') {
      const apiToken = await firstSecretValue(process.env[ENV.tokenSecret] ?? '', newToken);
      await setUp(
        {
          apiToken,
          apiTokenIsGiven: false,
          localAs: process.env[ENV.localAs] ?? '',
          routerId: process.env[ENV.routerId] ?? '',
        },
        new Date(),
      );
    }
    await answer(event, 'SUCCESS', '');
  } catch (error) {
    log('error', 'the first values were not written', errorFields(error));
    await answer(event, 'FAILED', `${(error as Error).name}: see the log of this function`);
  }
}

async function answer(
  event: CloudFormationCustomResourceEvent,
  status: 'SUCCESS' | 'FAILED',
  reason: string,
): Promise<void> {
  const { StackId, RequestId, LogicalResourceId } = event;
  const body = {
    Status: status,
    Reason: reason,
    PhysicalResourceId: PHYSICAL_ID,
    StackId,
    RequestId,
    LogicalResourceId,
  };
  // As octets, so that no content-type goes along, which the presigned address was not signed for.
  const response = await fetch(event.ResponseURL, {
    method: 'PUT',
    body: new TextEncoder().encode(JSON.stringify(body)),
  });
  if (!response.ok) throw new Error(`CloudFormation's answer address said ${response.status}`);
}
