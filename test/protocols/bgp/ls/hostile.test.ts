import { describe, expect, it } from 'vitest';
import { mutatedCases } from '../../../support/link-state-mutations.ts';
import { testSeed } from '../../../support/random.ts';

const seed = testSeed('hostile link state');

describe('what a peer may send instead', () => {
  it('never makes a decoder throw, nor take more than 8 reader steps an octet, in 20,000 mutated objects', () => {
    const result = mutatedCases(seed, 20_000);
    console.log(`hostile link state: ${JSON.stringify(result)}`);
    expect(result.failures).toEqual([]);
    expect(result.mostStepsPerOctet).toBeLessThanOrEqual(8);
  });
});
