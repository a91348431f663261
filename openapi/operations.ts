import type { OperationDocuments } from './operation.ts';
import { DEVICE_OPERATIONS } from './operations/devices.ts';
import { ENGINE_OPERATIONS } from './operations/engine.ts';
import { MODEL_OPERATIONS } from './operations/models.ts';
import { OUTPUT_OPERATIONS } from './operations/outputs.ts';
import { PEER_OPERATIONS } from './operations/peers.ts';
import { SUBSCRIPTION_OPERATIONS } from './operations/subscriptions.ts';
import { TOKEN_OPERATIONS } from './operations/tokens.ts';
import { TOPOLOGY_OPERATIONS } from './operations/topology.ts';

/** What the document says of every operation. */
export const OPERATIONS: OperationDocuments = {
  ...PEER_OPERATIONS,
  ...TOPOLOGY_OPERATIONS,
  ...ENGINE_OPERATIONS,
  ...OUTPUT_OPERATIONS,
  ...MODEL_OPERATIONS,
  ...DEVICE_OPERATIONS,
  ...SUBSCRIPTION_OPERATIONS,
  ...TOKEN_OPERATIONS,
};
