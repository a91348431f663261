import { validateBody } from '../core/body.ts';
import type { Device } from '../core/device.ts';
import type { Model } from '../core/model.ts';
import { invalidBody, type MemberError } from '../core/problem.ts';
import { type DeviceStatus, UNSEEN_STREAM, viewStream } from '../core/stream-status.ts';
import {
  chooseMapping,
  LATEST,
  resolveModel,
  type Subscription,
  type SubscriptionConfiguration,
  selectsDevice,
  viewSubscriptionConfiguration,
} from '../core/subscription.ts';
import { SUBSCRIPTION_READ_ONLY, subscriptionConfiguration } from '../core/subscription-request.ts';
import { listDeviceStatuses } from '../store/device-status-store.ts';
import { listDevices } from '../store/device-store.ts';
import { nextId } from '../store/id-store.ts';
import { listModels } from '../store/model-store.ts';
import {
  createSubscription,
  getSubscription,
  listSubscriptions,
  type NewUse,
  removeSubscription,
  replaceSubscription,
} from '../store/subscription-store.ts';
import { type ApiRequest, apiHandler } from './http.ts';
import { findLiveWorkers } from './live-workers.ts';
import { resourceOperations } from './resource.ts';

export const handler = apiHandler(
  'subscriptions',
  resourceOperations({
    path: '/api/v1/subscriptions',
    parameter: 'subscriptionId',
    noun: 'subscription',
    validate: (body) => validateBody(subscriptionConfiguration, SUBSCRIPTION_READ_ONLY, body),
    list: listSubscriptions,
    get: getSubscription,
    create,
    replace,
    remove: removeSubscription,
    view: async (subscription, request) => viewSubscription(subscription, await readSurroundings(request)),
    viewAll: async (subscriptions, request) => {
      const surroundings = await readSurroundings(request);
      return subscriptions.map((subscription) => viewSubscription(subscription, surroundings));
    },
  }),
);

async function create(asked: SubscriptionConfiguration): Promise<Subscription> {
  const pinnedModelId = await checkReferences(asked, undefined);
  const id = await nextId('subscription');
  const subscription = { id, revision: 1, configuration: asked, pinnedModelId };
  await createSubscription(subscription, usesOf(subscription));
  return subscription;
}

async function replace(previous: Subscription, asked: SubscriptionConfiguration): Promise<Subscription> {
  const pinnedModelId = await checkReferences(asked, previous);
  const isPinKept = pinnedModelId !== null && pinnedModelId === previous.pinnedModelId;
  // A pin is the model itself: the name that it has by now is not a change of the subscription.
  const configuration = isPinKept ? { ...asked, 'model-name': previous.configuration['model-name'] } : asked;
  if (pinnedModelId === previous.pinnedModelId && stable(configuration) === stable(previous.configuration)) {
    return previous;
  }
  const next = { id: previous.id, revision: previous.revision + 1, configuration, pinnedModelId };
  await replaceSubscription(previous, next, usesOf(next));
  return next;
}

/** The id of the model that is pinned, or null; 400 `unknown-reference` for a model or devices that are not there. */
async function checkReferences(
  asked: SubscriptionConfiguration,
  previous: Subscription | undefined,
): Promise<number | null> {
  const [models, devices] = await Promise.all([listModels(), listDevices()]);
  const errors: MemberError[] = [];
  const unknown = (pointer: string, detail: string) =>
    errors.push({ pointer, code: 'unknown-reference', detail });
  const name = asked['model-name'];
  const version = asked['model-version'];
  const named = models.filter((model) => model.name === name);
  const pinned = version === LATEST ? undefined : named.find((model) => model.version === version);
  const tracksAsBefore =
    version === LATEST && previous?.pinnedModelId === null && previous.configuration['model-name'] === name;
  if (named.length === 0 && !tracksAsBefore) unknown('/model-name', `there is no model ${name}`);
  else if (version !== LATEST && pinned === undefined) {
    unknown('/model-version', `the model ${name} has no version ${version}`);
  }
  const known = new Set(devices.map(({ id }) => id));
  for (const [index, id] of asked.devices.ids.entries()) {
    if (!known.has(id)) unknown(`/devices/ids/${index}`, `there is no device ${id}`);
  }
  if (errors.length > 0) throw invalidBody(errors);
  return pinned?.id ?? null;
}

function usesOf({ configuration, pinnedModelId }: Omit<Subscription, 'id' | 'revision'>): NewUse[] {
  const models: NewUse[] = pinnedModelId === null ? [] : [{ kind: 'model', id: pinnedModelId }];
  const ids = [...new Set(configuration.devices.ids)];
  return [...models, ...ids.map((id): NewUse => ({ kind: 'device', id }))];
}

interface Surroundings {
  readonly models: readonly Model[];
  readonly devices: readonly Device[];
  readonly statuses: ReadonlyMap<number, DeviceStatus>;
  readonly liveWorkers: ReadonlySet<string>;
}

async function readSurroundings(request: ApiRequest): Promise<Surroundings> {
  const [models, devices, statuses, liveWorkers] = await Promise.all([
    listModels(),
    listDevices(),
    listDeviceStatuses(),
    findLiveWorkers(request.now),
  ]);
  return { models, devices, statuses, liveWorkers };
}

function viewSubscription(subscription: Subscription, surroundings: Surroundings) {
  const { models, devices, statuses, liveWorkers } = surroundings;
  const { configuration } = subscription;
  const { model, reason } = resolveModel(subscription, models);
  const selected = devices.filter((device) => selectsDevice(configuration, device));
  const choices = selected.map((device) =>
    model === undefined ? undefined : chooseMapping(model, device, configuration.protocol),
  );
  const overall = !configuration.enabled
    ? 'disabled'
    : reason !== ''
      ? reason
      : selected.length === 0
        ? 'no-devices'
        : choices.every((choice) => choice?.ok === false)
          ? 'no-mapping'
          : liveWorkers.size === 0
            ? 'no-worker'
            : '';
  return {
    id: subscription.id,
    ...viewSubscriptionConfiguration(subscription, models),
    'model-id': model?.id ?? null,
    reason: overall,
    status: selected.map((device, index) => {
      const status = statuses.get(device.id);
      const stream = status?.streams.find(({ subscriptionId }) => subscriptionId === subscription.id);
      if (stream !== undefined && liveWorkers.has(status?.worker ?? '')) {
        return viewStream(device.id, device.configuration.name, stream);
      }
      const choice = choices[index];
      const why = overall !== '' ? overall : choice?.ok === false ? choice.reason : 'waiting-owner';
      return viewStream(device.id, device.configuration.name, { ...UNSEEN_STREAM, reason: why });
    }),
  };
}

function stable(configuration: SubscriptionConfiguration): string {
  const { devices, ...rest } = configuration;
  const members = Object.entries(rest).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([members, devices.ids, devices.labels.toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}
