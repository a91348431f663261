import { RUNTIME_KEYS } from '../contract/tables.ts';
import type { DeliveryHead } from '../core/delivery-message.ts';
import type { DeliveryTally } from '../core/delivery-tally.ts';
import { tallyWrite } from './delivery-counters.ts';
import {
  ABSENT,
  ConditionFailed,
  getItem,
  type Item,
  retryingConflicts,
  SCHEMA_VERSION,
  transact,
} from './table.ts';

/**
 * How far one message has come. Requests before `settled` have their outcome; those from there to `claimed` are being
 * sent by `holder`, and if it dies they may have been; those after `claimed` were not touched.
 */
export interface DeliveryProgress {
  readonly holder: string;
  readonly settled: Place;
  readonly claimed: Place;
  /** When the holder's time is over at the latest, ms since the epoch. */
  readonly until: number;
}

/** A place between two requests of a message: how many requests and records are before it. */
export interface Place {
  readonly requests: number;
  readonly records: number;
}

/** Longer than any message lives in the queue or among its dead letters. */
const LIFE_SECONDS = 21 * 86_400;

const RETRY_MILLISECONDS = [100, 400, 1_000];

export async function getDeliveryProgress(id: string): Promise<DeliveryProgress | undefined> {
  const item = await getItem('runtime', RUNTIME_KEYS.delivery(id));
  return item === undefined ? undefined : progressFromItem(item);
}

/**
 * Moves a message on from `previous` to `next` and adds what happened in between to the counters, both or neither.
 * Throws ConditionFailed, with the item that stands there, when someone else has moved it. Any other failure is tried
 * again: the requests are sent, and what became of them is known nowhere else.
 */
export async function advanceDelivery(
  head: DeliveryHead,
  previous: DeliveryProgress | undefined,
  next: DeliveryProgress,
  tally: DeliveryTally,
): Promise<void> {
  const item: Item = {
    ...RUNTIME_KEYS.delivery(head.id),
    v: SCHEMA_VERSION,
    ...next,
    expires: Math.floor(head.packedAt / 1000) + LIFE_SECONDS,
  };
  const condition =
    previous === undefined
      ? ABSENT
      : {
          expression: '#holder = :holder AND #settled = :settled AND #claimed = :claimed',
          values: { ':holder': previous.holder, ':settled': previous.settled, ':claimed': previous.claimed },
        };
  const write = () =>
    retryingConflicts(() => transact([{ put: item, table: 'runtime', condition }, tallyWrite(head, tally)]));
  for (let tries = 0; ; tries += 1) {
    try {
      await write();
      return;
    } catch (error) {
      if (error instanceof ConditionFailed) {
        // A try that failed without an answer may have been made after all.
        if (tries > 0 && error.item !== undefined && isSame(progressFromItem(error.item), next)) return;
        throw error;
      }
      const wait = RETRY_MILLISECONDS[tries];
      if (wait === undefined) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

function isSame(a: DeliveryProgress, b: DeliveryProgress): boolean {
  return (
    a.holder === b.holder &&
    a.settled.requests === b.settled.requests &&
    a.claimed.requests === b.claimed.requests
  );
}

export function progressFromItem(item: Item): DeliveryProgress {
  return {
    holder: item['holder'],
    settled: item['settled'],
    claimed: item['claimed'],
    until: item['until'],
  };
}
