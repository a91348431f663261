import { randomUUID } from 'node:crypto';
import { RUNTIME_KEYS } from '../contract/tables.ts';
import { deleteItem, putItem, queryItems, SCHEMA_VERSION } from './table.ts';
import { announceChange } from './version-store.ts';

/** Something that the owner of a peer is asked to do once. */
export interface PeerCommand {
  readonly id: string;
  readonly command: 'reset' | 'refresh';
  readonly peerId: number;
  readonly requestedAt: string;
}

/** A worker is asked for the newest rows that it has of a model; it leaves them as a snapshot's part under this id. */
export interface SnapshotCommand {
  readonly id: string;
  readonly command: 'snapshot';
  readonly modelId: number;
  readonly requestedAt: string;
}

export type WorkerCommand = PeerCommand | SnapshotCommand;

/** A command that nobody took within this time is void. */
const COMMAND_LIFE_SECONDS = 60;

/** Leaves a command for a worker and tells it so. */
export async function sendCommand<Command extends WorkerCommand>(
  worker: string,
  command: Omit<Command, 'id' | 'requestedAt'>,
  now: Date,
): Promise<Command> {
  const sent = { ...command, id: randomUUID(), requestedAt: now.toISOString() } as Command;
  await putItem('runtime', {
    ...RUNTIME_KEYS.command(worker, sent.id),
    v: SCHEMA_VERSION,
    ...sent,
    expires: Math.floor(now.getTime() / 1000) + COMMAND_LIFE_SECONDS,
  });
  await announceChange('command');
  return sent;
}

/** Takes all commands left for a worker, oldest first, without those that are void. */
export async function takeCommands(worker: string, now: Date): Promise<WorkerCommand[]> {
  const items = await queryItems('runtime', RUNTIME_KEYS.commands(worker));
  await Promise.all(items.map((item) => deleteItem('runtime', { pk: item.pk, sk: item.sk })));
  return items
    .filter((item) => (item['expires'] as number) * 1000 > now.getTime())
    .map(
      ({ id, command, peerId, modelId, requestedAt }): WorkerCommand =>
        command === 'snapshot' ? { id, command, modelId, requestedAt } : { id, command, peerId, requestedAt },
    )
    .sort((a, b) => a.requestedAt.localeCompare(b.requestedAt));
}
