import type { ContractCase } from './contract-case.ts';
import { deviceCases } from './device-cases.ts';
import { engineCases } from './engine-cases.ts';
import { modelCases } from './model-cases.ts';
import { outputCases } from './output-cases.ts';
import { peerCases } from './peer-cases.ts';
import { snapshotCases } from './snapshot-cases.ts';
import { subscriptionCases } from './subscription-cases.ts';
import { tokenCases } from './token-cases.ts';

/** Everything that the API promises; run against the handlers, against the running gateway and against a deployment. */
export const CONTRACT: ReadonlyArray<{ readonly resource: string; readonly cases: readonly ContractCase[] }> =
  [
    { resource: 'engine', cases: engineCases },
    { resource: 'outputs', cases: outputCases },
    { resource: 'peers', cases: peerCases },
    { resource: 'models', cases: modelCases },
    { resource: 'snapshots', cases: snapshotCases },
    { resource: 'devices', cases: deviceCases },
    { resource: 'subscriptions', cases: subscriptionCases },
    { resource: 'tokens', cases: tokenCases },
  ];

/** Printed by each run, so that anybody sees that all were the same. */
export function contractCaseCount(): number {
  return CONTRACT.reduce((count, { cases }) => count + cases.length, 0);
}
