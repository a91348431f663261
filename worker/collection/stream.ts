import type { StreamPlan } from '../../core/collection-plan.ts';
import type { RecordBatch } from '../../core/record.ts';
import type { StreamStatus } from '../../core/stream-status.ts';

/** What a running stream tells of itself; the frame adds what it knows. */
export type StreamFigures = Pick<
  StreamStatus,
  | 'state'
  | 'encoding'
  | 'lastSuccess'
  | 'lastError'
  | 'updates'
  | 'rows'
  | 'drops'
  | 'coercionErrors'
  | 'cycleIncomplete'
  | 'clockSkew'
  | 'unmatchedPaths'
>;

/** A stream as its protocol runs it: it reconnects, keeps its schedule and ends by itself only when it is stopped. */
export interface Stream {
  figures(): StreamFigures;
  /** The newest rows that it holds, as records; valid until the stream next hears of its device. */
  latest(): RecordBatch;
  /** Ends it at once; a cycle that is not complete is never delivered. */
  stop(): Promise<void>;
}

export interface StreamPorts {
  /** Takes the records of one complete cycle; they are valid during the call. */
  deliver(records: RecordBatch): void;
  /** Something other than a counter has changed in the figures. */
  changed(): void;
  /**
   * What there was to tell at first has been told, be it nothing, or could not be: a stream that this one takes over
   * from is not waited for any longer. A cycle that is delivered says the same.
   */
  settled(): void;
}

/** Opens streams of one protocol. What goes wrong on the way is the stream's state, never a throw. */
export type OpenStream = (plan: StreamPlan, ports: StreamPorts) => Stream;
