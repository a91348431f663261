import type { ApiClient } from './client.ts';
import { objects } from './command.ts';
import { EXIT, Failure } from './exit-code.ts';
import { isObject } from './json-text.ts';
import type { CurrentState } from './plan-steps.ts';
import { COLLECTIONS, type Kind, WEBHOOK_PATH } from './wanted.ts';

/** Reads what the stack has: five lists, and nothing is changed. */
export async function readCurrent(client: ApiClient): Promise<CurrentState> {
  const list = async (kind: Kind) => objects(await client.list(COLLECTIONS[kind]));
  const [peer, device, model, subscription, { json: webhook }] = await Promise.all([
    list('peer'),
    list('device'),
    list('model'),
    list('subscription'),
    client.get(WEBHOOK_PATH),
  ]);
  if (!isObject(webhook)) throw new Failure('the webhook’s configuration is not JSON', EXIT.refused);
  return { objects: { peer, device, model, subscription }, webhook };
}
