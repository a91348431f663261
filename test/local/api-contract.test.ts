import { afterAll, beforeAll, describe, it } from 'vitest';
import { CONTRACT, contractCaseCount } from '../contract/contract.ts';
import { conforming } from '../support/answer-conformance.ts';
import { contractClient } from '../support/contract-client.ts';
import { type Stack, startStack } from '../support/stack.ts';

describe('the API, over the gateway of the running stack', () => {
  let stack: Stack;

  beforeAll(async () => {
    console.log(`contract: ${contractCaseCount()} cases against the gateway`);
    stack = await startStack();
  });

  afterAll(async () => {
    const answers = [...conforming.values()].reduce((sum, each) => sum + each, 0);
    console.log(
      `contract: ${answers} answers of ${conforming.size} operations are as the OpenAPI document declares`,
    );
    await stack.stop();
  });

  for (const { resource, cases } of CONTRACT) {
    describe(resource, () => {
      for (const { sentence, run } of cases) {
        it(sentence, () => run(contractClient(stack.send, stack.token)));
      }
    });
  }
});
