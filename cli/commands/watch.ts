import { Refusal } from '../client.ts';
import { type Command, type CommandContext, cell, objects, takeWords } from '../command.ts';
import { EXIT, Failure } from '../exit-code.ts';
import { formatJsonLine, type Json, type JsonObject } from '../json-text.ts';
import { printable, wrapped } from '../terminal.ts';

/** The longest that the API waits for a change. */
const WAIT_SECONDS = 20;

export const watchCommand: Command = {
  name: 'watch',
  summary: 'what changes in the topology, as it happens',
  usage: ['watch [--since VERSION] [--events]'],
  flags: {
    since: { type: 'string', value: 'VERSION', text: 'begin after this version, as an answer gave it' },
    events: { type: 'boolean', text: 'print the last events with before and after, and end' },
  },
  help: 'A line a change until Ctrl-C, which ends with 130; with --output json each line is one JSON object.',
  async run(context) {
    takeWords(context, 0);
    if (context.flags['events'] === true) {
      const { json } = await context.client.get('/api/topology/events');
      const events = objects(Array.isArray(json) ? json : []);
      for (const event of events.toReversed()) printEvent(context, event);
      return EXIT.ok;
    }
    let version = typeof context.flags['since'] === 'string' ? context.flags['since'] : '';
    if (version === '') version = await versionNow(context);
    let isFresh = false;
    for (;;) {
      const answer = await changesAfter(context, version);
      if (answer === 'expired') {
        if (isFresh) throw new Failure('the log does not reach back to the version of now', EXIT.refused);
        say(context, 'that version is no longer in the log; changes were missed, and it goes on from now');
        version = await versionNow(context);
        isFresh = true;
        continue;
      }
      isFresh = false;
      const next = answer?.['to'];
      if (typeof next !== 'string') throw new Failure('the answer names no version', EXIT.refused);
      for (const change of objects((answer?.['changes'] ?? []) as readonly Json[]))
        printChange(context, change);
      version = next;
    }
  },
};

async function versionNow({ client }: CommandContext): Promise<string> {
  return cell((await client.get('/api/topology')).json, 'version');
}

/** On standard error, so that a program that reads the changes is not disturbed. */
function say({ terminal }: CommandContext, sentence: string): void {
  terminal.say(wrapped(`graticule: ${sentence}`, terminal.columns, '  '));
}

/** What has changed after a version, once something has; `expired` when the log no longer reaches back to it. */
async function changesAfter(
  { client }: CommandContext,
  version: string,
): Promise<JsonObject | undefined | 'expired'> {
  const query = new URLSearchParams({ since: version, wait: String(WAIT_SECONDS) });
  try {
    return (await client.get(`/api/topology/changes?${query}`)).json as JsonObject | undefined;
  } catch (error) {
    if (error instanceof Refusal && error.status === 410) return 'expired';
    throw error;
  }
}

function printChange({ terminal, settings }: CommandContext, change: JsonObject): void {
  if (settings.output === 'json') {
    terminal.print(formatJsonLine(change));
    return;
  }
  const object = change['object'] as JsonObject | undefined;
  const what = [cell(object, 'attributes', 'node-name'), cell(object, 'descriptor', 'ip-reachability')];
  const words = [cell(change, 'action'), cell(change, 'kind'), cell(change, 'id'), ...what];
  terminal.print(wrapped(printable(words.filter((word) => word !== '-').join(' ')), terminal.columns, '  '));
}

function printEvent({ terminal, settings }: CommandContext, event: JsonObject): void {
  if (settings.output === 'json') {
    terminal.print(formatJsonLine(event));
    return;
  }
  const differs =
    event['before'] == null && event['after'] == null
      ? ''
      : ` ${formatJsonLine(event['before'] ?? null)} → ${formatJsonLine(event['after'] ?? null)}`;
  const words = [cell(event, 'at'), cell(event, 'action'), cell(event, 'kind'), cell(event, 'object-id')];
  terminal.print(wrapped(printable(words.join(' ') + differs), terminal.columns, '  '));
}
