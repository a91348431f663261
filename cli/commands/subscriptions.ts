import { type Command, cell, findByWord, objects, show, takeWords, usageFailure } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import type { Json, JsonObject } from '../json-text.ts';
import type { Column } from '../table.ts';

const SUBSCRIPTIONS = '/api/v1/subscriptions';

const COLUMNS: ReadonlyArray<Column<JsonObject>> = [
  { title: 'ID', value: (subscription) => cell(subscription, 'id') },
  { title: 'NAME', value: (subscription) => cell(subscription, 'name') },
  {
    title: 'MODEL',
    value: (subscription) => `${cell(subscription, 'model-name')}@${cell(subscription, 'model-version')}`,
  },
  { title: 'MODE', value: (subscription) => cell(subscription, 'mode') },
  { title: 'INTERVAL MS', value: (subscription) => cell(subscription, 'interval-ms') },
  { title: 'DEVICES', value: (subscription) => streams(subscription).length },
  {
    title: 'RUNNING',
    value: (subscription) =>
      streams(subscription).filter(({ state }) => state === 'streaming' || state === 'polling').length,
  },
  { title: 'REASON', value: (subscription) => cell(subscription, 'reason') || '-' },
];

const STREAM_COLUMNS: ReadonlyArray<Column<JsonObject>> = [
  { title: 'DEVICE', value: (stream) => cell(stream, 'device') },
  { title: 'STATE', value: (stream) => cell(stream, 'state') },
  { title: 'PROTOCOL', value: (stream) => cell(stream, 'protocol') || '-' },
  { title: 'RECORDS', value: (stream) => cell(stream, 'records') },
  { title: 'LAST SUCCESS', value: (stream) => cell(stream, 'last-success') },
  { title: 'REASON', value: (stream) => cell(stream, 'reason') || '-' },
  { title: 'LAST ERROR', value: (stream) => cell(stream, 'last-error', 'detail') },
];

export const subscriptionsCommand: Command = {
  name: 'subscriptions',
  summary: 'what is collected from whom, and how that goes',
  usage: ['subscriptions', 'subscriptions get SUBSCRIPTION'],
  flags: {},
  help: 'SUBSCRIPTION is an id or a name; get shows each of its devices. Subscriptions are created and changed by apply.',
  async run(context) {
    const [action = 'list', word] = takeWords(context, 2);
    if (action !== 'list' && action !== 'get')
      throw usageFailure(`subscriptions ${action} is not known; see graticule help subscriptions`);
    const subscriptions = objects(await context.client.list(SUBSCRIPTIONS));
    if (action === 'list') {
      show(context, subscriptions, subscriptions, COLUMNS, 'There are no subscriptions.');
    } else {
      const found = findByWord(subscriptions, word, 'subscription');
      show(context, found, streams(found), STREAM_COLUMNS, 'It selects no device.');
    }
    return EXIT.ok;
  },
};

function streams(subscription: JsonObject): JsonObject[] {
  return objects((subscription['status'] ?? []) as readonly Json[]);
}
