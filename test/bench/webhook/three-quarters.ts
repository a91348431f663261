import type { ChildProcess } from 'node:child_process';
import { peakMegabytes, processorSeconds, type Sink } from './programs.ts';

export interface Rates {
  /** Requests a second of the clock. */
  readonly rate: number;
  /** Requests a second of the sending process's processor time, all threads; of no other process. */
  readonly perCore: number;
  /** Of the sending process, resident. */
  readonly megabytes: number;
}

/**
 * Waits until the receiver has seen all of `wanted` requests and tells the rates of the last three quarters: the first is
 * warm-up, and what a sender costs is not what its start costs. Progress is what the receiver has seen, for every sender.
 */
export async function lastThreeQuarters(sink: Sink, sender: ChildProcess, wanted: number): Promise<Rates> {
  let processor = 0;
  let megabytes = 0;
  const read = async () => {
    const { requests } = await sink.look();
    const at = performance.now();
    // One that ends by itself may be gone when its last request is seen: then the reading before, of 20 ms ago, counts.
    if (sender.exitCode === null && sender.signalCode === null) {
      try {
        processor = processorSeconds(sender);
        megabytes = peakMegabytes(sender) || megabytes;
      } catch (thrown) {
        if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown;
      }
    } else if (requests < wanted) {
      throw new Error(`the sender ended at ${requests} requests of ${wanted}`);
    }
    return { requests, at, processor };
  };
  const untilSeen = async (requests: number) => {
    for (;;) {
      const reading = await read();
      if (reading.requests >= requests) return reading;
      await new Promise((settle) => setTimeout(settle, 20));
    }
  };
  const from = await untilSeen(wanted / 4);
  const to = await untilSeen(wanted);
  const sent = Math.max(1, to.requests - from.requests);
  return {
    rate: sent / ((to.at - from.at) / 1000),
    perCore: sent / Math.max(0.01, to.processor - from.processor),
    megabytes,
  };
}
