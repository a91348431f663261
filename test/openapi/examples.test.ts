import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROUTES } from '../../contract/routes.ts';
import type { Example } from '../../openapi/example.ts';
import { examplesOn, withExamples } from '../../openapi/pages.ts';
import { STORY } from '../../openapi/story/steps.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { type ExampleNetwork, startExampleNetwork } from '../support/story/example-network.ts';
import { playStory, STORY_ENVIRONMENT } from '../support/story/play.ts';

const kept = JSON.parse(readFileSync('openapi/examples.json', 'utf8')) as Example[];
const byName = new Map(kept.map((example) => [example.name, example]));

const pages = readdirSync('docs/api').map((name) => {
  const text = readFileSync(`docs/api/${name}`, 'utf8');
  return { name, text, ...examplesOn(text) };
});

describe('every example', () => {
  let network: ExampleNetwork;
  let stack: Stack;
  let played: readonly Example[];

  beforeAll(async () => {
    network = await startExampleNetwork();
    stack = await startStack({ environment: STORY_ENVIRONMENT });
    played = await playStory(stack, network.ids);
  }, 180_000);

  afterAll(async () => {
    await stack?.stop();
    await network?.stop();
  });

  it('answers what it says, played in order against the running stack', () => {
    const record = 'run `npm run openapi:record` and look at what changed';
    for (const [index, { name, unsettled = [] }] of STORY.entries()) {
      const answered = settled(played[index], unsettled);
      expect(answered, `${name}: ${record}`).toEqual(settled(byName.get(name), unsettled));
    }
    expect(played.map(({ name }) => name)).toEqual(kept.map(({ name }) => name));
    console.log(`examples: ${played.length} calls made, each answered as written`);
  });

  it('of the OpenAPI document is one of those', () => {
    const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));
    const shown = [...exampleObjects(document.paths)];
    for (const [name, value] of shown) {
      const example = byName.get(name);
      expect(example, name).toBeDefined();
      expect([example?.body, example?.answer]).toContainEqual(value);
    }
    console.log(`examples: ${shown.length} in docs/openapi.json`);
  });

  it('of docs/api is one of those, and no command stands there that is none', () => {
    for (const { name, text, strays } of pages) {
      expect(strays, `${name} has a curl command outside of <!-- example … -->`).toBe(0);
      expect(withExamples(text, kept), `${name}: run \`npm run openapi\``).toBe(text);
    }
    const names = pages.flatMap((page) => page.names);
    console.log(`examples: ${names.length} in ${pages.length} pages of docs/api`);
  });

  it('there is one for every operation, and it stands on a page', () => {
    for (const { method, path, scope } of ROUTES) {
      const mine = kept.filter(({ operation }) => operation === `${method} ${path}`);
      expect(
        mine.some(({ status }) => status < 300),
        `${method} ${path} succeeds`,
      ).toBe(true);
      const named = pages.filter((page) => mine.some(({ name }) => page.names.includes(name)));
      expect(named.length, `${method} ${path} stands on a page`).toBeGreaterThan(0);
      if (scope === null) expect(mine.some(({ isAnonymous }) => isAnonymous)).toBe(true);
    }
  });
});

/** As JSON has it, without the members of the answer that are not compared. */
function settled(example: Example | undefined, without: readonly string[]): unknown {
  const copy = JSON.parse(JSON.stringify(example ?? null));
  for (const member of without) delete copy?.answer?.[member];
  return copy;
}

/** Name and value of everything under an `examples` of media types. */
function* exampleObjects(value: unknown): Generator<[string, unknown]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (name !== 'examples' || Array.isArray(member)) yield* exampleObjects(member);
    else for (const [example, shown] of Object.entries(member as object)) yield [example, shown.value];
  }
}
