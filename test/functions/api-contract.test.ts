import { afterAll, beforeAll, describe, it } from 'vitest';
import { CONTRACT, contractCaseCount } from '../contract/contract.ts';
import { conforming } from '../support/answer-conformance.ts';
import { contractClient } from '../support/contract-client.ts';
import { type Emulators, startEmulators } from '../support/stack.ts';

describe('the API, its handlers invoked directly', () => {
  let emulators: Emulators;

  beforeAll(async () => {
    console.log(`contract: ${contractCaseCount()} cases against the handlers`);
    emulators = await startEmulators();
  });

  afterAll(async () => {
    const answers = [...conforming.values()].reduce((sum, each) => sum + each, 0);
    console.log(
      `contract: ${answers} answers of ${conforming.size} operations are as the OpenAPI document declares`,
    );
    await emulators.stop();
  });

  for (const { resource, cases } of CONTRACT) {
    describe(resource, () => {
      for (const { sentence, run } of cases) {
        it(sentence, () => run(contractClient(emulators.send, emulators.token)));
      }
    });
  }
});
