/** The API's configuration part in memory, by the product's own rules: fast enough for thousands of plans. */
import type { Exchange, HttpAnswer, HttpRequest } from '../../cli/http-exchange.ts';
import { validateBody } from '../../core/body.ts';
import { DEVICE_SECRETS } from '../../core/device.ts';
import { DEVICE_READ_ONLY, deviceConfiguration } from '../../core/device-request.ts';
import { type Mapping, type Model, viewModel } from '../../core/model.ts';
import { fieldBody, fieldOrder, mappingBody, modelImport, modelUpdate } from '../../core/model-request.ts';
import { peerIdentity } from '../../core/peer.ts';
import { PEER_READ_ONLY, peerConfiguration } from '../../core/peer-request.ts';
import { invalidBody, Problem } from '../../core/problem.ts';
import { SECRET_MASK, secretChange } from '../../core/secret.ts';
import { toObject } from '../../core/string-map.ts';
import type { Subscription } from '../../core/subscription.ts';
import { SUBSCRIPTION_READ_ONLY, subscriptionConfiguration } from '../../core/subscription-request.ts';
import { replaceWebhook, UNCONFIGURED_WEBHOOK, viewWebhook } from '../../core/webhook.ts';
import { webhookRequest } from '../../core/webhook-request.ts';
import {
  addField,
  addMapping,
  changeField,
  changeMapping,
  dropField,
  dropMapping,
  orderFields,
  refuseUsedModel,
} from '../../functions/model-edits.ts';

type Body = Record<string, unknown>;

interface Stored {
  readonly id: number;
  revision: number;
  configuration: Body;
  /** Values of secrets, by their places. */
  secrets: Record<string, string>;
}

const PATHS = {
  '/api/bgp/peers': 'peer',
  '/api/v1/devices': 'device',
  '/api/v1/models': 'model',
  '/api/v1/subscriptions': 'subscription',
} as const;

/** What a request was, and whether it was a write. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

export class MemoryApi {
  /** Every request but reads, in the order in which they came. */
  readonly writes: Seen[] = [];
  /** Called before each write; what it throws is what the client sees in place of an answer. */
  beforeWrite: (request: Seen) => void = () => {};
  /** Called after each write was done; what it throws hides the answer. */
  afterWrite: (request: Seen) => void = () => {};
  readonly peers = new Map<number, Stored>();
  readonly devices = new Map<number, Stored>();
  readonly models = new Map<number, Model>();
  readonly subscriptions = new Map<number, Stored>();
  webhook = UNCONFIGURED_WEBHOOK;
  private lastId = 0;
  private activations = 0;

  readonly exchange: Exchange = async (request) => {
    await Promise.resolve();
    const path = request.url.pathname;
    const body: unknown = request.body === undefined ? undefined : JSON.parse(request.body);
    const seen = { method: request.method, path, body };
    if (request.method !== 'GET') {
      this.beforeWrite(seen);
      this.writes.push(seen);
    }
    const answer = this.answer(request, path, body as Body);
    if (request.method !== 'GET') this.afterWrite(seen);
    return answer;
  };

  /** Everything that is configured, as one comparable text. */
  revisions(): Record<string, number> {
    const of = (kind: string, stored: Iterable<{ id: number; revision: number }>) =>
      Array.from(stored, ({ id, revision }) => [`${kind} ${id}`, revision] as const);
    return Object.fromEntries([
      ...of('peer', this.peers.values()),
      ...of('device', this.devices.values()),
      ...of('model', this.models.values()),
      ...of('subscription', this.subscriptions.values()),
      ['webhook', this.webhook.revision],
    ]);
  }

  private answer(request: HttpRequest, path: string, body: Body): HttpAnswer {
    try {
      return this.operate(request, path, body);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return answerOf(error.status, error.body(path, 'r'));
    }
  }

  private operate({ method, headers }: HttpRequest, path: string, body: Body): HttpAnswer {
    if (path === '/api/v1/outputs/webhook') {
      if (method === 'GET') return answerOf(200, viewWebhook(this.webhook), this.webhook.revision);
      match(headers, this.webhook.revision);
      this.webhook = replaceWebhook(this.webhook, validateBody(webhookRequest, [], body));
      return answerOf(200, viewWebhook(this.webhook), this.webhook.revision);
    }
    const collection = Object.keys(PATHS).find((known) => path === known || path.startsWith(`${known}/`));
    if (collection === undefined) throw new Problem('not-found', path);
    const [id, ...rest] = path.slice(collection.length + 1).split('/');
    switch (PATHS[collection as keyof typeof PATHS]) {
      case 'peer':
        return this.plain(this.peers, 'peer', method, headers, id ?? '', body);
      case 'device':
        return this.plain(this.devices, 'device', method, headers, id ?? '', body);
      case 'subscription':
        return this.plain(this.subscriptions, 'subscription', method, headers, id ?? '', body);
      case 'model':
        return this.model(method, headers, id ?? '', rest, body);
    }
  }

  private plain(
    stored: Map<number, Stored>,
    kind: 'peer' | 'device' | 'subscription',
    method: string,
    headers: HttpRequest['headers'],
    idText: string,
    body: Body,
  ): HttpAnswer {
    const show = (item: Stored) => ({ id: item.id, ...item.configuration, ...this.live(kind, item) });
    if (method === 'GET' && idText === '') return answerOf(200, [...stored.values()].map(show));
    if (method === 'POST') {
      const { configuration, secrets } = this.checked(kind, body, undefined);
      this.refuseTaken(kind, configuration, 0);
      const item = { id: this.nextId(), revision: 1, configuration, secrets };
      stored.set(item.id, item);
      return answerOf(201, show(item), 1);
    }
    const item = stored.get(Number(idText));
    if (item === undefined) throw new Problem('not-found', `there is no ${kind} ${idText}`);
    if (method === 'GET') return answerOf(200, show(item), item.revision);
    match(headers, item.revision);
    if (method === 'DELETE') {
      if (kind === 'device') {
        const user = [...this.subscriptions.values()].find(({ configuration }) =>
          ((configuration['devices'] as Body)['ids'] as number[]).includes(item.id),
        );
        if (user !== undefined) throw new Problem('conflict', `subscription ${user.id} names it`);
      }
      stored.delete(item.id);
      return answerOf(204, undefined);
    }
    const { configuration, secrets } = this.checked(kind, body, item);
    this.refuseTaken(kind, configuration, item.id);
    const isSame =
      JSON.stringify([sorted(configuration), sorted(secrets)]) ===
      JSON.stringify([sorted(item.configuration), sorted(item.secrets)]);
    if (!isSame) Object.assign(item, { configuration, secrets, revision: item.revision + 1 });
    return answerOf(200, show(item), item.revision);
  }

  private checked(
    kind: 'peer' | 'device' | 'subscription',
    body: Body,
    previous: Stored | undefined,
  ): { configuration: Body; secrets: Record<string, string> } {
    if (kind === 'subscription') {
      const checked = validateBody(subscriptionConfiguration, SUBSCRIPTION_READ_ONLY, body);
      const named = [...this.models.values()].filter(({ name }) => name === checked['model-name']);
      const isThere =
        named.length > 0 &&
        (checked['model-version'] === 'latest' ||
          named.some(({ version }) => version === checked['model-version']));
      if (!isThere) throw unknown('/model-name');
      for (const id of checked.devices.ids) if (!this.devices.has(id)) throw unknown('/devices/ids');
      const devices = { ids: checked.devices.ids, labels: toObject(checked.devices.labels) };
      return { configuration: { ...checked, devices }, secrets: {} };
    }
    let configuration: Body =
      kind === 'peer'
        ? validateBody(peerConfiguration, PEER_READ_ONLY, body)
        : deviceBody(validateBody(deviceConfiguration, DEVICE_READ_ONLY, body));
    const secrets: Record<string, string> = {};
    for (const path of kind === 'peer' ? [['auth-password']] : DEVICE_SECRETS) {
      const place = path.join('/');
      const holder = (path.length === 1 ? configuration : configuration[path[0] as string]) as Body | null;
      const member = path.at(-1) as string;
      const value = String(holder?.[member] ?? '');
      const change = secretChange(place, value, previous?.secrets[place] !== undefined);
      if (
        change.kind === 'keep' &&
        kind === 'device' &&
        previous?.configuration['address'] !== configuration['address']
      )
        throw invalidBody([{ pointer: `/${place}`, code: 'secret-for-new-address', detail: 'new address' }]);
      if (change.kind === 'set') secrets[place] = change.value;
      if (change.kind === 'keep') secrets[place] = previous?.secrets[place] as string;
      if (holder === null) continue;
      const masked = { ...holder, [member]: secrets[place] === undefined ? '' : SECRET_MASK };
      configuration = path.length === 1 ? masked : { ...configuration, [path[0] as string]: masked };
    }
    return { configuration, secrets };
  }

  private refuseTaken(kind: string, configuration: Body, own: number): void {
    const identity = (other: Body) =>
      kind === 'peer'
        ? peerIdentity(other as unknown as Parameters<typeof peerIdentity>[0])
        : kind === 'device'
          ? String(other['name'])
          : '';
    const stored =
      kind === 'peer' ? this.peers : kind === 'device' ? this.devices : new Map<number, Stored>();
    for (const other of stored.values()) {
      if (other.id === own || identity(other.configuration) !== identity(configuration)) continue;
      throw new Problem('conflict', `${kind} ${other.id} has it`, { conflictingId: other.id });
    }
  }

  /** What the engine owns: a plan must not care. */
  private live(kind: string, item: Stored): Body {
    switch (kind) {
      case 'peer':
        return { state: 'idle', 'messages-sent': this.writes.length, session: { reason: 'no-worker' } };
      case 'device':
        return { status: { worker: '', reason: 'no-worker' } };
      default: {
        const { 'model-name': name, 'model-version': version } = item.configuration;
        const pinned = [...this.models.values()].find(
          (model) => model.name === name && model.version === version,
        );
        return { 'model-id': pinned?.id ?? null, reason: '', status: [] };
      }
    }
  }

  private model(
    method: string,
    headers: HttpRequest['headers'],
    idText: string,
    [list, partId]: string[],
    body: Body,
  ): HttpAnswer {
    if (method === 'GET' && idText === '') return answerOf(200, [...this.models.values()].map(viewModel));
    if (method === 'POST' && idText === 'import') {
      const { fields, mappings, format: _format, ...rest } = validateBody(modelImport, [], body);
      const taken = [...this.models.values()].find(
        ({ name, version }) => name === rest.name && version === rest.version,
      );
      if (taken !== undefined) throw new Problem('conflict', 'taken', { conflictingId: taken.id });
      const id = this.nextId();
      const at = new Date(Date.UTC(2026, 0, 1) + id).toISOString();
      const model: Model = {
        ...rest,
        id,
        revision: 1,
        active: false,
        activatedAt: null,
        activation: 0,
        fields: fields.map((field) => ({ id: this.nextId(), ...field })),
        mappings: mappings.map(({ field_mappings: fieldMappings, ...mapping }) => ({
          id: this.nextId(),
          ...mapping,
          fieldMappings,
        })),
        createdAt: at,
        updatedAt: at,
      };
      this.models.set(id, model);
      return answerOf(201, viewModel(model), 1);
    }
    const model = this.models.get(Number(idText));
    if (model === undefined) throw new Problem('not-found', `there is no model ${idText}`);
    if (method === 'GET')
      return answerOf(200, list === 'fields' ? model.fields : viewModel(model), model.revision);
    match(headers, model.revision);
    if (method === 'DELETE' && list === undefined) {
      refuseUsedModel(model, [...this.models.values()], this.subscriptionsAsStored());
      this.models.delete(model.id);
      return answerOf(204, undefined);
    }
    const edited = this.edited(model, method, list, partId, body);
    const next = edited === model ? model : { ...edited, revision: model.revision + 1 };
    this.models.set(model.id, next);
    return method === 'DELETE' ? answerOf(204, undefined) : answerOf(200, viewModel(next), next.revision);
  }

  private edited(model: Model, method: string, list = '', partId = '', body: Body): Model {
    const id = Number(partId);
    if (list === '') {
      const asked = validateBody(modelUpdate, [], body);
      const active = asked.active ?? model.active;
      const activates = active && !model.active;
      const activation = activates ? ++this.activations : model.activation;
      const activatedAt = activates
        ? new Date(Date.UTC(2026, 0, 2) + activation).toISOString()
        : model.activatedAt;
      return {
        ...model,
        name: asked.name ?? model.name,
        description: asked.description ?? model.description,
        active,
        activation,
        activatedAt,
      };
    }
    if (list === 'fields') {
      if (partId === 'order') return orderFields(model, validateBody(fieldOrder, [], body)['field-ids']);
      if (method === 'DELETE') return dropField(model, id);
      const field = validateBody(fieldBody, [], body);
      return method === 'POST'
        ? addField(model, { id: this.nextId(), ...field })
        : changeField(model, { id, ...field });
    }
    if (method === 'DELETE') return dropMapping(model, id);
    const { field_mappings: fieldMappings, ...mapping } = validateBody(mappingBody, ['id', 'warnings'], body);
    const full = (mappingId: number): Mapping => ({ id: mappingId, ...mapping, fieldMappings });
    return method === 'POST' ? addMapping(model, full(this.nextId())) : changeMapping(model, full(id));
  }

  private subscriptionsAsStored(): Subscription[] {
    return [...this.subscriptions.values()].map(({ id, revision, configuration }) => {
      const pinned = [...this.models.values()].find(
        ({ name, version }) =>
          name === configuration['model-name'] && version === configuration['model-version'],
      );
      return {
        id,
        revision,
        configuration: configuration as unknown as Subscription['configuration'],
        pinnedModelId: configuration['model-version'] === 'latest' ? null : (pinned?.id ?? null),
      };
    });
  }

  private nextId(): number {
    this.lastId += 1;
    return this.lastId;
  }
}

function deviceBody(checked: ReturnType<typeof deviceConfiguration.parse>): Body {
  return { ...checked, labels: toObject(checked.labels) };
}

function match(headers: HttpRequest['headers'], revision: number): void {
  const asked = headers['if-match'];
  if (asked !== undefined && asked !== `"${revision}"`) throw new Problem('stale-etag', 'it has changed');
}

function unknown(pointer: string): Problem {
  return invalidBody([{ pointer, code: 'unknown-reference', detail: 'there is none' }]);
}

function answerOf(status: number, body: unknown, revision?: number): HttpAnswer {
  return {
    status,
    headers: {
      'content-type': status < 400 ? 'application/json' : 'application/problem+json',
      ...(revision === undefined ? {} : { etag: `"${revision}"` }),
    },
    text: body === undefined ? '' : JSON.stringify(body),
  };
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.entries(value)
    .map(([name, member]) => [name, sorted(member)])
    .toSorted(([a], [b]) => ((a as string) < (b as string) ? -1 : 1));
}
