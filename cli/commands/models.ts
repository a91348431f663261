import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  type Command,
  type CommandContext,
  cell,
  objects,
  show,
  takeWords,
  usageFailure,
} from '../command.ts';
import { EXIT, Failure } from '../exit-code.ts';
import { formatJsonText, isObject, type Json, type JsonObject, parseJsonText } from '../json-text.ts';
import type { Column } from '../table.ts';

const MODELS = '/api/v1/models';

const count = (model: JsonObject, list: string) =>
  Array.isArray(model[list]) ? (model[list] as readonly Json[]).length : 0;

const COLUMNS: ReadonlyArray<Column<JsonObject>> = [
  { title: 'ID', value: (model) => cell(model, 'id') },
  { title: 'NAME', value: (model) => cell(model, 'name') },
  { title: 'VERSION', value: (model) => cell(model, 'version') },
  { title: 'ACTIVE', value: (model) => cell(model, 'active') },
  { title: 'FIELDS', value: (model) => count(model, 'fields') },
  { title: 'MAPPINGS', value: (model) => count(model, 'mappings') },
  { title: 'WARNINGS', value: warnings },
];

export const modelsCommand: Command = {
  name: 'models',
  summary: 'models: what is collected, and how it is read',
  usage: [
    'models',
    'models get MODEL',
    'models export MODEL',
    'models import FILE',
    'models activate|deactivate MODEL',
    'models new-version MODEL',
  ],
  flags: {},
  help: 'MODEL is an id, NAME@VERSION, or the name of a model that has one version. export prints the document that import takes, in this stack or another; an imported model is inactive.',
  async run(context) {
    const [action = 'list', word] = takeWords(context, 2);
    switch (action) {
      case 'list': {
        const models = objects(await context.client.list(MODELS));
        show(context, models, models, COLUMNS, 'There are no models.');
        return EXIT.ok;
      }
      case 'get':
        showModel(context, (await context.client.get(`${MODELS}/${(await find(context, word))['id']}`)).json);
        return EXIT.ok;
      case 'export': {
        const { json } = await context.client.get(`${MODELS}/${(await find(context, word))['id']}/export`);
        context.terminal.print(formatJsonText(json ?? null));
        return EXIT.ok;
      }
      case 'import': {
        const body = readDocument(context, word);
        showModel(context, (await context.client.send('POST', `${MODELS}/import`, { body })).json);
        return EXIT.ok;
      }
      case 'activate':
      case 'deactivate': {
        const path = `${MODELS}/${(await find(context, word))['id']}`;
        const body = { active: action === 'activate' };
        showModel(context, (await context.client.send('PUT', path, { body })).json);
        return EXIT.ok;
      }
      case 'new-version': {
        const path = `${MODELS}/${(await find(context, word))['id']}/new-version`;
        showModel(context, (await context.client.send('POST', path)).json);
        return EXIT.ok;
      }
      default:
        throw usageFailure(`models ${action} is not known; see graticule help models`);
    }
  },
};

/** The model that a word names: an id, `name@version`, or a name that only one version has. */
export function findModel(models: readonly JsonObject[], word: string | undefined): JsonObject {
  if (word === undefined) throw usageFailure('say which model: its id, NAME@VERSION, or its name');
  const fitting = models.filter(
    ({ id, name, version }) => String(id) === word || `${name}@${version}` === word || name === word,
  );
  if (fitting.length > 1) {
    const versions = fitting.map(({ name, version }) => `${name}@${version}`).join(', ');
    throw new Failure(`${word} has several versions: say which (${versions})`, EXIT.refused);
  }
  if (fitting[0] === undefined) throw new Failure(`there is no model ${word}`, EXIT.refused);
  return fitting[0];
}

async function find(context: CommandContext, word: string | undefined): Promise<JsonObject> {
  return findModel(objects(await context.client.list(MODELS)), word);
}

function showModel(context: CommandContext, model: Json | undefined): void {
  show(context, model ?? null, isObject(model) ? [model] : [], COLUMNS, '');
}

function readDocument(context: CommandContext, word: string | undefined): Json {
  if (word === undefined) throw usageFailure('say which file: an export document');
  const path = resolve(context.workingDirectory, word);
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    throw usageFailure(`${word} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  const document = parseJsonText(content);
  if (document === undefined) throw usageFailure(`${word} is not JSON`);
  return document;
}

function warnings(model: JsonObject): number {
  return objects((model['mappings'] ?? []) as readonly Json[]).reduce(
    (sum, mapping) => sum + count(mapping, 'warnings'),
    0,
  );
}
