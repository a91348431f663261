import { SECRET_MASK } from '../core/secret.ts';
import type { JsonObject } from './json-text.ts';
import { changesOf, markers, secretsToSend } from './plan-configuration.ts';
import type { PlanOptions, Step } from './plan-steps.ts';
import type { Mistake } from './source-file.ts';
import type { ApplyState } from './state-file.ts';
import { valueAt, type WantedWebhook, WEBHOOK_PATH, withValueAt } from './wanted.ts';

/** What is to be done with the webhook; at most one of them. */
export interface WebhookPlan {
  readonly step?: Omit<Step, 'wave'>;
  readonly conflict?: Mistake;
  readonly note?: string;
  /** It was configured by somebody else, and is taken over. */
  readonly isAdopted: boolean;
}

/** The output is always there: it is changed, never made, and stays when the files no longer speak of it. */
export function planWebhook(
  view: JsonObject,
  wanted: WantedWebhook | undefined,
  owned: ApplyState['webhook'],
  options: PlanOptions,
): WebhookPlan {
  if (wanted === undefined) {
    return owned === null
      ? { isAdopted: false }
      : { note: 'no file speaks of the webhook: it stays as it is', isAdopted: false };
  }
  const { place, configuration, secrets } = wanted;
  const isForeign = owned === null && valueAt(view, 'config/url') !== '';
  if (isForeign && !options.adopt) {
    const sentence =
      'the webhook is configured, and was not from these files; --adopt takes it over as they want it';
    return { conflict: { place, sentence }, isAdopted: false };
  }
  // A header's value is shown in clear: where the files refer to it, the reference counts, not the value.
  const headers = [...secrets.keys()].filter((path) => path.startsWith('config/headers/'));
  const present = headers
    .filter((path) => valueAt(view, path) !== undefined)
    .reduce((masked, path) => withValueAt(masked, path, SECRET_MASK), view);
  const toSend = secretsToSend(secrets, present, owned?.secrets ?? {}, options.resendSecrets);
  const changes = changesOf(present, configuration, toSend);
  if (changes.length === 0) return { isAdopted: isForeign };
  // An empty auth-header keeps what is stored (the API's rule); null is what clears it.
  const isCleared = valueAt(configuration, 'config/auth-header') === '';
  const step: Omit<Step, 'wave'> = {
    action: 'update',
    kind: 'webhook',
    key: 'webhook',
    method: 'PUT',
    path: WEBHOOK_PATH,
    id: undefined,
    body: isCleared ? withValueAt(configuration, 'config/auth-header', null) : configuration,
    // A header has no mask that would keep it: each goes out again with every change.
    secrets: new Map([...secrets].filter(([path]) => headers.includes(path) || toSend.has(path))),
    deviceNames: [],
    expected: view,
    changes,
    place,
    record: { identity: '', secrets: markers(secrets) },
    previousKey: undefined,
  };
  return { step, isAdopted: isForeign };
}
