/**
 * What the SDK loads for commands whose input or output is a stream of events. No command of ours is one, and the bundles
 * have this in place of that part of `@smithy/core` (decision 0114).
 */

/** Named as in the package that it stands for. */
export class EventStreamSerde {
  constructor() {
    throw new Error('the bundles have no streams of events');
  }
}

export const eventStreamSerdeProvider = undefined;
