/** `npm run openapi:record`: plays the story on a new stack and keeps its answers in openapi/examples.json. */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { startStack } from '../support/stack.ts';
import { startExampleNetwork } from '../support/story/example-network.ts';
import { playStory, STORY_ENVIRONMENT } from '../support/story/play.ts';

const network = await startExampleNetwork();
const stack = await startStack({ environment: STORY_ENVIRONMENT });
try {
  const examples = await playStory(stack, network.ids);
  const path = resolve(import.meta.dirname, '../../openapi/examples.json');
  writeFileSync(path, `${JSON.stringify(examples, null, 2)}\n`);
  console.log(`${examples.length} answers in openapi/examples.json; now run npm run openapi`);
} finally {
  await stack.stop();
  await network.stop();
}
