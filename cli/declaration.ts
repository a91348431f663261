/** Reads declarative files into what they want, or into everything that is wrong with them. */
import { dirname, resolve } from 'node:path';
import { type BodySchema, nearestName, validateBody } from '../core/body.ts';
import { deviceConfiguration } from '../core/device-request.ts';
import { mappingWarnings } from '../core/mapping/warnings.ts';
import { EXPORT_FORMAT } from '../core/model.ts';
import { modelImport } from '../core/model-request.ts';
import { peerConfiguration } from '../core/peer-request.ts';
import { Problem } from '../core/problem.ts';
import { SECRET_MASK } from '../core/secret.ts';
import { toObject } from '../core/string-map.ts';
import { subscriptionConfiguration } from '../core/subscription-request.ts';
import { webhookRequest } from '../core/webhook-request.ts';
import { Failure } from './exit-code.ts';
import { isObject, type Json, type JsonObject } from './json-text.ts';
import { parseSecretReference, REFERENCE_HINT } from './secret-reference.ts';
import {
  formatPlace,
  type Mistake,
  type Path,
  type Place,
  readSourceFiles,
  type SourceFile,
} from './source-file.ts';
import {
  identityOf,
  type Kind,
  keyOf,
  SECRET_PLACES,
  type Wanted,
  type WantedSecret,
  type WantedState,
  type WantedWebhook,
  withValueAt,
} from './wanted.ts';

export interface Declaration {
  readonly wanted: WantedState;
  readonly mistakes: readonly Mistake[];
  /** Worth a look, and in nobody's way. */
  readonly warnings: readonly Mistake[];
}

const SECTIONS: Readonly<Record<string, Kind>> = {
  peers: 'peer',
  devices: 'device',
  models: 'model',
  subscriptions: 'subscription',
};
const SECTION_NAMES = [...Object.keys(SECTIONS), 'webhook'];

/** A header of this name most likely carries a secret. */
const SECRET_HEADER = /key|token|secret|password|auth|signature|credential/i;

/** The API's own schema for what files say of a kind. */
export const SCHEMAS = {
  peer: peerConfiguration,
  device: deviceConfiguration,
  subscription: subscriptionConfiguration,
  webhook: webhookRequest,
} as const;

/** `workingDirectory` is where documents that a file names are looked for if the file's own folder is not known. */
export function readDeclaration(files: readonly SourceFile[], workingDirectory: string): Declaration {
  return new Reader(workingDirectory).read(files);
}

class Reader {
  private readonly mistakes: Mistake[] = [];
  private readonly warnings: Mistake[] = [];
  private readonly objects: Partial<Record<Kind, Wanted[]>> = {};
  private webhook: WantedWebhook | undefined;
  private readonly workingDirectory: string;

  constructor(workingDirectory: string) {
    this.workingDirectory = workingDirectory;
  }

  read(files: readonly SourceFile[]): Declaration {
    for (const file of files) this.readFile(file);
    for (const kind of Object.keys(this.objects) as Kind[]) this.refuseDoubles(kind);
    return {
      wanted: { objects: this.objects, webhook: this.webhook },
      mistakes: inOrder(this.mistakes),
      warnings: inOrder(this.warnings),
    };
  }

  private readFile(file: SourceFile): void {
    if (file.mistakes.length > 0) {
      this.mistakes.push(...file.mistakes);
      return;
    }
    const { content } = file;
    if (content === null || content === undefined) return;
    if (!isObject(content)) {
      this.wrong(file.placeOf([]), `a file has members: ${SECTION_NAMES.join(', ')}`);
      return;
    }
    // A model's export document lies among the files that name it, and asks for nothing by itself.
    if (content['format'] === EXPORT_FORMAT) return;
    for (const [section, value] of Object.entries(content)) {
      const kind = SECTIONS[section];
      if (kind !== undefined) this.readList(file, section, kind, value);
      else if (section === 'webhook') this.readWebhook(file, value);
      else {
        const nearest = nearestName(section, SECTION_NAMES);
        const hint =
          nearest === undefined ? `there are ${SECTION_NAMES.join(', ')}` : `did you mean ${nearest}?`;
        this.wrong(file.placeOfKey([section]), `${section} is not known here; ${hint}`);
      }
    }
  }

  private readList(file: SourceFile, section: string, kind: Kind, value: unknown): void {
    if (!Array.isArray(value)) {
      this.wrong(file.placeOf([section]), `${section} is a list; for none of them write ${section}: []`);
      return;
    }
    this.objects[kind] ??= [];
    for (const [index, item] of value.entries()) {
      const path = [section, index];
      const place = file.placeOf(path);
      if (!isObject(item)) {
        this.wrong(place, `each of ${section} has members, such as name`);
        continue;
      }
      const found =
        kind === 'model'
          ? this.readModel(file, path, item)
          : kind === 'subscription'
            ? this.readSubscription(file, path, item)
            : this.readPlain(file, path, kind, item);
      if (found !== undefined) this.objects[kind].push(found);
    }
  }

  private readPlain(
    file: SourceFile,
    path: Path,
    kind: 'peer' | 'device',
    item: JsonObject,
  ): Wanted | undefined {
    const { body, secrets } = this.takeSecrets(file, path, item, SECRET_PLACES[kind]);
    const checked = this.validate(file, path, SCHEMAS[kind], body);
    if (checked === undefined) return undefined;
    return this.wantedOf(file, path, kind, kind === 'device' ? withLabels(checked) : checked, secrets);
  }

  private readSubscription(file: SourceFile, path: Path, item: JsonObject): Wanted | undefined {
    const { devices } = item;
    const deviceNames: { name: string; place: Place }[] = [];
    let body = item;
    if (isObject(devices) && devices['names'] !== undefined) {
      const { names, ...rest } = devices;
      body = { ...item, devices: rest };
      if (!Array.isArray(names))
        this.wrong(file.placeOf([...path, 'devices', 'names']), 'names is a list of device names');
      for (const [index, name] of (Array.isArray(names) ? names : []).entries()) {
        const place = file.placeOf([...path, 'devices', 'names', index]);
        if (typeof name === 'string') deviceNames.push({ name, place });
        else this.wrong(place, 'the name of a device is text');
      }
    }
    const checked = this.validate(file, path, SCHEMAS.subscription, body);
    if (checked === undefined) return undefined;
    const selected = withLabels(checked['devices'] as JsonObject);
    const ids = [...new Set(selected['ids'] as readonly number[])].sort((a, b) => a - b);
    const configuration = { ...checked, devices: { ...selected, ids } };
    return { ...this.wantedOf(file, path, 'subscription', configuration, new Map()), deviceNames };
  }

  /** A model stands in the file itself, or in an export document that it names. */
  private readModel(file: SourceFile, path: Path, item: JsonObject): Wanted | undefined {
    const { active = false, ...given } = item;
    if (typeof active !== 'boolean') this.wrong(file.placeOf([...path, 'active']), 'active is true or false');
    const { document, ...rest } = given;
    if (document === undefined) {
      return this.modelOf(file, path, { format: EXPORT_FORMAT, ...given }, file, path, active === true);
    }
    const extra = Object.keys(rest)[0];
    if (extra !== undefined) {
      this.wrong(
        file.placeOfKey([...path, extra]),
        `${extra} stands in the document; beside it only active may be given`,
      );
      return undefined;
    }
    const place = file.placeOf([...path, 'document']);
    if (typeof document !== 'string') {
      this.wrong(place, 'document is the path of an export document');
      return undefined;
    }
    try {
      const folder = dirname(resolve(this.workingDirectory, file.name));
      const [source] = readSourceFiles([resolve(folder, document)], this.workingDirectory);
      if (source === undefined || source.mistakes.length > 0) {
        this.mistakes.push(...(source?.mistakes ?? []));
        return undefined;
      }
      return this.modelOf(source, [], source.content, file, path, active === true);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.wrong(place, error.message);
      return undefined;
    }
  }

  private modelOf(
    source: SourceFile,
    sourcePath: Path,
    body: unknown,
    file: SourceFile,
    path: Path,
    active: boolean,
  ): Wanted | undefined {
    const checked = this.validate(source, sourcePath, modelImport, body);
    if (checked === undefined) return undefined;
    const { format: _format, ...model } = checked;
    const fields = model['fields'] as readonly JsonObject[];
    const names = fields.map(({ name }) => String(name));
    const mappings = (model['mappings'] as readonly JsonObject[]).map((mapping, index) => {
      const entries = mapping['field_mappings'] as unknown as [string, string][];
      const netos = String(mapping['netos']);
      for (const warning of mappingWarnings(mapping['protocol'] as 'gnmi' | 'snmp', netos, entries, names)) {
        const place = source.placeOf([...sourcePath, 'mappings', index, 'field_mappings', warning.field]);
        this.warnings.push({ place, sentence: `${warning.field}: ${warning.detail} (${warning.code})` });
      }
      return { ...mapping, field_mappings: toObject(entries) };
    });
    return this.wantedOf(file, path, 'model', { ...model, mappings, active }, new Map());
  }

  private readWebhook(file: SourceFile, value: unknown): void {
    const place = file.placeOf(['webhook']);
    if (this.webhook !== undefined) {
      this.wrong(place, `webhook stands already at ${formatPlace(this.webhook.place)}`);
      return;
    }
    if (!isObject(value)) {
      this.wrong(place, 'webhook has members: enabled, config');
      return;
    }
    const headers = isObject(value['config']) ? value['config']['headers'] : undefined;
    const referring = Object.entries(isObject(headers) ? headers : {});
    const places = referring.filter(([, text]) => isObject(text)).map(([name]) => `config/headers/${name}`);
    for (const [name, text] of referring) {
      if (typeof text !== 'string' || text === '' || !SECRET_HEADER.test(name)) continue;
      const sentence = `the value of ${name} looks like a secret and stands here in clear; ${REFERENCE_HINT}`;
      this.warnings.push({ place: file.placeOf(['webhook', 'config', 'headers', name]), sentence });
    }
    const { body, secrets } = this.takeSecrets(file, ['webhook'], value, ['config/auth-header', ...places]);
    const checked = this.validate(file, ['webhook'], SCHEMAS.webhook, body);
    if (checked === undefined) return;
    const config = checked['config'] as JsonObject;
    if (checked['enabled'] === true && config['url'] === '') {
      this.wrong(file.placeOf(['webhook', 'config', 'url']), 'url is required when the output is enabled');
      return;
    }
    const configuration = withValueAt(checked, 'config/auth-header', config['auth-header'] ?? '');
    this.webhook = { place, configuration, secrets };
  }

  /** Replaces references by the mask, so that the API's own schema can check the rest. */
  private takeSecrets(
    file: SourceFile,
    path: Path,
    item: JsonObject,
    places: readonly string[],
  ): { body: JsonObject; secrets: Map<string, WantedSecret> } {
    const secrets = new Map<string, WantedSecret>();
    let body = item;
    for (const secretPlace of places) {
      const segments = secretPlace.split('/');
      const value = segments.reduce<unknown>((at, member) => (isObject(at) ? at[member] : undefined), item);
      if (value === undefined || value === '') continue;
      const place = file.placeOf([...path, ...segments]);
      body = withValueAt(body, secretPlace, SECRET_MASK);
      if (typeof value === 'string' || typeof value === 'number') {
        const sentence =
          value === SECRET_MASK
            ? `${segments.at(-1)} is the mask, which says nothing here; ${REFERENCE_HINT}`
            : `${segments.at(-1)} is a secret and stands here in clear; ${REFERENCE_HINT}, and change the secret`;
        this.wrong(place, sentence);
        continue;
      }
      const reference = parseSecretReference(value);
      if (typeof reference === 'string') this.wrong(place, `${segments.at(-1)}: ${reference}`);
      else secrets.set(secretPlace, { reference, place });
    }
    return { body, secrets };
  }

  /** Checks by the API's own schema; each member that is wrong becomes a mistake with its place. */
  private validate(file: SourceFile, path: Path, schema: BodySchema, body: unknown): JsonObject | undefined {
    try {
      return validateBody(schema, [], body) as unknown as JsonObject;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      for (const { pointer, code, detail } of error.extras.errors ?? []) {
        const segments = pointer
          .split('/')
          .slice(1)
          .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
        const at = [...path, ...segments];
        const name = segments.at(-1);
        const place = code === 'unknown-member' ? file.placeOfKey(at) : file.placeOf(at);
        const sentence =
          code === 'unknown-member' && !detail.startsWith(String(name)) ? `${name}: ${detail}` : detail;
        this.wrong(place, sentence);
      }
      return undefined;
    }
  }

  private wantedOf(
    file: SourceFile,
    path: Path,
    kind: Kind,
    configuration: JsonObject,
    secrets: ReadonlyMap<string, WantedSecret>,
  ): Wanted {
    const key = keyOf(kind, configuration);
    return { kind, key, place: file.placeOf(path), configuration, secrets, deviceNames: [] };
  }

  /** Two with one name could not be told apart; two peers with one address the API refuses. */
  private refuseDoubles(kind: Kind): void {
    const byKey = new Map<string, Wanted>();
    const byIdentity = new Map<string, Wanted>();
    for (const item of this.objects[kind] ?? []) {
      const earlier = byKey.get(item.key);
      const identity = kind === 'peer' ? identityOf(kind, item.configuration) : item.key;
      const holder = byIdentity.get(identity);
      if (earlier !== undefined) {
        this.wrong(item.place, `the ${kind} ${item.key} stands already at ${formatPlace(earlier.place)}`);
      } else if (holder !== undefined) {
        this.wrong(
          item.place,
          `the ${kind} ${item.key} has the address, port and local address of ${holder.key} at ${formatPlace(holder.place)}`,
        );
      }
      byKey.set(item.key, earlier ?? item);
      byIdentity.set(identity, holder ?? item);
    }
  }

  private wrong(place: Place, sentence: string): void {
    this.mistakes.push({ place, sentence });
  }
}

function withLabels(checked: JsonObject): JsonObject {
  return { ...checked, labels: toObject(checked['labels'] as unknown as [string, string][]) as Json };
}

/** By file as they came, then from top to bottom. */
function inOrder(mistakes: readonly Mistake[]): Mistake[] {
  const files = [...new Set(mistakes.map(({ place }) => place.file))];
  return mistakes.toSorted(
    ({ place: a }, { place: b }) =>
      files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column,
  );
}
