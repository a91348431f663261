import { Document, Scalar, visit } from 'yaml';
import { SECRET_MASK } from '../core/secret.ts';
import { SCHEMAS } from './declaration.ts';
import { formatJsonText, isObject, type Json, type JsonObject } from './json-text.ts';
import type { CurrentState } from './plan-steps.ts';
import type { OutputFormat } from './settings.ts';
import { configurationOf, type Kind, keyOf, SECRET_PLACES, valueAt, withValueAt } from './wanted.ts';

/** The stack as a file that `apply --adopt` takes, without a secret in it. */
export function formatExport(
  current: CurrentState,
  output: OutputFormat,
): { readonly text: string; readonly notes: readonly string[] } {
  const variables = new Set<string>();
  /** A name for the variable that a secret is to be in, each used once. */
  const reference = (...words: readonly string[]): JsonObject => {
    const base = words
      .join('_')
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, '_')
      .replace(/^(?=\d)/, '_');
    let name = base;
    for (let number = 2; variables.has(name); number += 1) name = `${base}_${number}`;
    variables.add(name);
    return { env: name };
  };
  const deviceNames = new Map(current.objects.device.map(({ id, name }) => [id, name as Json]));
  const list = (kind: Kind) =>
    current.objects[kind].map((view) => {
      let configuration = inSchemaOrder(kind, configurationOf(kind, view));
      for (const place of SECRET_PLACES[kind]) {
        if (valueAt(configuration, place) !== SECRET_MASK) continue;
        const words = [kind, String(view['name']), ...place.split('/')];
        configuration = withValueAt(configuration, place, reference(...words));
      }
      return configuration;
    });
  const content = {
    peers: list('peer').map(withoutDefaults),
    devices: list('device').map(({ gnmi, snmp, ...device }) => ({
      ...withoutDefaults(device),
      ...spoken('gnmi', gnmi),
      ...spoken('snmp', snmp),
    })),
    models: list('model').map((model) => ({
      ...model,
      fields: parts(model, 'fields', ['name', 'type']),
      mappings: parts(model, 'mappings', ['protocol', 'netos', 'field_mappings']),
    })),
    subscriptions: list('subscription').map((subscription) => {
      const { ids, labels } = subscription['devices'] as JsonObject;
      const names = (ids as readonly number[]).map((id) => deviceNames.get(id) ?? id);
      return {
        ...withoutDefaults(subscription),
        devices: withoutDefaults({ names, labels: labels as Json }),
      };
    }),
    ...webhook(current.webhook, reference),
  };
  const notes = (['peer', 'subscription'] as const).flatMap((kind) => doubles(kind, current));
  if (variables.size > 0)
    notes.push(`secrets are not readable: set ${[...variables].join(', ')} before apply`);
  return { text: output === 'json' ? formatJsonText(content) : yamlText(content), notes };
}

/** What a terminal would act on; line ends aside, which YAML writes as it needs. */
const UNPRINTABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/g;

function yamlText(content: JsonObject): string {
  const document = new Document(content);
  visit(document, {
    Scalar(_key, scalar) {
      if (typeof scalar.value === 'string' && scalar.value.search(UNPRINTABLE) >= 0)
        scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  // Nothing is folded: what was one line stays one.
  return document
    .toString({ lineWidth: 0 })
    .trimEnd()
    .replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function webhook(view: JsonObject, reference: (...words: readonly string[]) => JsonObject): JsonObject {
  if (valueAt(view, 'config/url') === '') return {};
  const config = view['config'] as JsonObject;
  const headers = Object.keys((config['headers'] ?? {}) as JsonObject).map((name) => [
    name,
    reference('webhook', 'header', name),
  ]);
  const { 'auth-header': authHeader, ...rest } = config;
  return {
    webhook: {
      enabled: view['enabled'] as Json,
      config: {
        ...rest,
        headers: Object.fromEntries(headers),
        ...(authHeader === SECRET_MASK ? { 'auth-header': reference('webhook', 'auth', 'header') } : {}),
      },
    },
  };
}

/** The members as the documentation orders them; the stack keeps no order. */
function inSchemaOrder(kind: Kind, configuration: JsonObject): JsonObject {
  if (kind === 'model') return configuration;
  const order = Object.keys(SCHEMAS[kind].shape);
  const rank = (member: string) => (order.includes(member) ? order.indexOf(member) : order.length);
  return Object.fromEntries(Object.entries(configuration).toSorted(([a], [b]) => rank(a) - rank(b)));
}

/** Names that the API lets several have, and files do not. */
function doubles(kind: Kind, current: CurrentState): string[] {
  const keys = current.objects[kind].map((object) => keyOf(kind, object));
  const twice = [...new Set(keys.filter((key, index) => keys.indexOf(key) !== index))];
  return twice.map((key) => `several ${kind}s are called ${key}: rename them before apply`);
}

/** The settings of a protocol that the device speaks, be they all defaults. */
function spoken(protocol: 'gnmi' | 'snmp', settings: Json | undefined): JsonObject {
  return isObject(settings) ? { [protocol]: withoutDefaults(settings) } : {};
}

function parts(model: JsonObject, list: string, members: readonly string[]): Json {
  return (model[list] as readonly JsonObject[]).map((part) =>
    Object.fromEntries(members.map((member) => [member, part[member] as Json])),
  );
}

/** Without what is so when nothing is said: zeros, empty texts, false, null, and empty lists and objects. */
function withoutDefaults(configuration: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(configuration).filter(([, value]) => {
      if (Array.isArray(value)) return value.length > 0;
      if (isObject(value)) return Object.keys(value).length > 0;
      return value !== null && value !== '' && value !== 0 && value !== false;
    }),
  );
}
