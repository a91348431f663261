import type { StoryStep } from '../example.ts';
import { DEVICE_STEPS } from './devices.ts';
import { ENGINE_STEPS } from './engine.ts';
import { MODEL_STEPS } from './models.ts';
import { OUTPUT_STEPS } from './outputs.ts';
import { PEER_STEPS, SESSION_STEPS } from './peers.ts';
import { SUBSCRIPTION_STEPS } from './subscriptions.ts';
import { TOKEN_STEPS } from './tokens.ts';
import { TOPOLOGY_STEPS } from './topology.ts';

/**
 * Every example of the OpenAPI document and of docs/api, in the order in which they are true of a new stack: each step
 * builds on those before it, so ids are as written. Addresses in 192.0.2.0/24 are simulated ones in a test's run.
 */
export const STORY: readonly StoryStep[] = [
  ...TOKEN_STEPS,
  ...ENGINE_STEPS,
  ...PEER_STEPS,
  ...TOPOLOGY_STEPS,
  ...SESSION_STEPS,
  ...MODEL_STEPS,
  ...DEVICE_STEPS,
  ...SUBSCRIPTION_STEPS,
  ...OUTPUT_STEPS,
];
