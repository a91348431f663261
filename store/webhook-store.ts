import { CONFIG_KEYS } from '../contract/tables.ts';
import { Problem } from '../core/problem.ts';
import { UNCONFIGURED_WEBHOOK, type WebhookOutput } from '../core/webhook.ts';
import { decryptSecret, encryptSecret, type SecretPlace } from './keyring.ts';
import { ABSENT, atRevision, ConditionFailed, getItem, type Item, putItem, SCHEMA_VERSION } from './table.ts';
import { announceChange } from './version-store.ts';

const HEADERS: SecretPlace = { owner: 'output/webhook', field: 'headers' };
const AUTH_HEADER: SecretPlace = { owner: 'output/webhook', field: 'auth-header' };

/** The secrets of the webhook's item, by the attributes that hold them. */
export const WEBHOOK_SECRETS = { encryptedHeaders: HEADERS, encryptedAuthHeader: AUTH_HEADER } as const;

/** The webhook's configuration, its secrets opened; the defaults before anybody configured it. */
export async function getWebhook(): Promise<WebhookOutput> {
  const item = await getItem('config', CONFIG_KEYS.webhook());
  if (item === undefined) return UNCONFIGURED_WEBHOOK;
  const sealedHeaders: string | undefined = item['encryptedHeaders'];
  const sealedAuthHeader: string | undefined = item['encryptedAuthHeader'];
  return {
    ...fromItem(item),
    headers: sealedHeaders === undefined ? {} : JSON.parse(await decryptSecret(sealedHeaders, HEADERS)),
    authHeader:
      sealedAuthHeader === undefined ? undefined : await decryptSecret(sealedAuthHeader, AUTH_HEADER),
  };
}

/** What the worker needs of it; no secret is opened for that. */
export async function getWebhookSwitch(): Promise<Pick<WebhookOutput, 'enabled' | 'batchMode'>> {
  const item = await getItem('config', CONFIG_KEYS.webhook());
  return item === undefined ? UNCONFIGURED_WEBHOOK : fromItem(item);
}

/** Stores `next` in place of the configuration with `previousRevision`; throws `stale-etag` when it is another by now. */
export async function putWebhook(previousRevision: number, next: WebhookOutput): Promise<void> {
  const { headers, authHeader, ...plain } = next;
  const hasHeaders = Object.keys(headers).length > 0;
  const item: Item = {
    ...CONFIG_KEYS.webhook(),
    v: SCHEMA_VERSION,
    ...plain,
    encryptedHeaders: hasHeaders ? await encryptSecret(JSON.stringify(headers), HEADERS) : undefined,
    encryptedAuthHeader: authHeader === undefined ? undefined : await encryptSecret(authHeader, AUTH_HEADER),
  };
  try {
    await putItem('config', item, previousRevision === 0 ? ABSENT : atRevision(previousRevision));
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    throw new Problem('stale-etag', 'the webhook was changed meanwhile; read it again');
  }
  await announceChange('output');
}

function fromItem(item: Item): Omit<WebhookOutput, 'headers' | 'authHeader'> {
  return {
    revision: item['revision'],
    enabled: item['enabled'],
    url: item['url'],
    method: item['method'],
    batchMode: item['batchMode'],
    timeoutMilliseconds: item['timeoutMilliseconds'],
  };
}
