import {
  type Command,
  type CommandContext,
  cell,
  findByWord,
  objects,
  show,
  takeWords,
  usageFailure,
} from '../command.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { isObject, type Json, type JsonObject } from '../json-text.ts';
import type { Column } from '../table.ts';

const PEERS = '/api/bgp/peers';

const COLUMNS: ReadonlyArray<Column<JsonObject>> = [
  { title: 'ID', value: (peer) => cell(peer, 'id') },
  { title: 'NAME', value: (peer) => cell(peer, 'name') },
  { title: 'ADDRESS', value: (peer) => cell(peer, 'peer-address') },
  { title: 'AS', value: (peer) => cell(peer, 'user-peer-as') },
  { title: 'STATE', value: (peer) => cell(peer, 'state') },
  { title: 'REASON', value: (peer) => cell(peer, 'session', 'reason') || '-' },
  { title: 'NLRIS', value: (peer) => nlris(peer) },
  { title: 'LAST ERROR', value: (peer) => cell(peer, 'last-error') || '-' },
];

export const peersCommand: Command = {
  name: 'peers',
  summary: 'BGP peers and their sessions',
  usage: ['peers', 'peers get PEER', 'peers enable|disable PEER', 'peers reset|refresh PEER'],
  flags: {},
  help: 'PEER is an id or a name. enable and disable change that one member; reset sends Cease 6/4 and connects again; refresh asks for all routes again (RFC 2918).',
  async run(context) {
    const [action = 'list', word] = takeWords(context, 2);
    switch (action) {
      case 'list': {
        const peers = objects(await context.client.list(PEERS));
        show(context, peers, peers, COLUMNS, 'There are no peers.');
        return EXIT.ok;
      }
      case 'get': {
        const { id } = await find(context, word);
        const { json } = await context.client.get(`${PEERS}/${id}`);
        showPeer(context, json);
        return EXIT.ok;
      }
      case 'enable':
      case 'disable':
        return setEnabled(context, word, action === 'enable');
      case 'reset':
      case 'refresh': {
        const { id } = await find(context, word);
        const { json } = await context.client.send('POST', `${PEERS}/${id}/${action}`);
        const sentence = `The ${action} of peer ${id} is asked for; peers get ${id} shows how it goes.`;
        show(context, json ?? null, [], COLUMNS, sentence);
        return EXIT.ok;
      }
      default:
        throw usageFailure(`peers ${action} is not known; see graticule help peers`);
    }
  },
};

async function find(context: CommandContext, word: string | undefined): Promise<JsonObject> {
  return findByWord(objects(await context.client.list(PEERS)), word, 'peer');
}

/** What GET gives, PUT takes: the mask keeps the password, and If-Match what others changed meanwhile. */
async function setEnabled(
  context: CommandContext,
  word: string | undefined,
  enabled: boolean,
): Promise<ExitCode> {
  const { id } = await find(context, word);
  const { json, etag } = await context.client.get(`${PEERS}/${id}`);
  const changed = { ...(isObject(json) ? json : {}), enabled };
  const answer = await context.client.send('PUT', `${PEERS}/${id}`, { body: changed, ifMatch: etag });
  showPeer(context, answer.json);
  return EXIT.ok;
}

function showPeer(context: CommandContext, peer: Json | undefined): void {
  show(context, peer ?? null, isObject(peer) ? [peer] : [], COLUMNS, '');
}

function nlris(peer: JsonObject): string {
  const counts = isObject(peer['session']) ? peer['session']['nlris'] : undefined;
  if (!isObject(counts)) return '0';
  return String(Object.values(counts).reduce<number>((sum, count) => sum + Number(count), 0));
}
