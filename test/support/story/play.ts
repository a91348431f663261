import type { Example, StoryStep } from '../../../openapi/example.ts';
import { STORY } from '../../../openapi/story/steps.ts';
import { requireDeclaredAnswer } from '../answer-conformance.ts';
import { type ApiAnswer, answerOf } from '../api-client.ts';
import type { Stack } from '../stack.ts';
import { PLAYED_PREFIX, STORY_PREFIX } from './example-network.ts';
import { placeholders, VERSION_PLACEHOLDER } from './placeholders.ts';

/** How long a worker may take to do what a step waits for; generous, since it is no measure. */
const PATIENCE_MILLISECONDS = 60_000;
const POLL_MILLISECONDS = 100;

/** Headers that an example shows. */
const SHOWN_HEADERS = ['etag', 'location', 'link', 'retry-after', 'allow'];

const HEAD_CHARACTERS = 300;

/** The environment of a stack that the story is true of. */
export const STORY_ENVIRONMENT = { GRATICULE_ROUTER_ID: '10.0.0.1' };

/** Plays every step on a new stack and gives each with its answer. `ids` as of the example network. */
export async function playStory(stack: Stack, ids: Readonly<Record<string, string>>): Promise<Example[]> {
  const examples: Example[] = [];
  let version = '';
  for (const step of STORY) {
    const named = withNames(step, { ...ids, $version: VERSION_PLACEHOLDER });
    const sent = withNames(step, { ...ids, $version: version });
    const answer = await untilSettled(stack, sent);
    version = answer.headers['topology-version'] ?? version;
    if (answer.status !== step.status) {
      throw new Error(`${step.name}: ${answer.status} in place of ${step.status}: ${answer.text}`);
    }
    examples.push(exampleOf(named, answer));
  }
  return examples;
}

/** A step's target on the wire. */
export function targetOf(step: Pick<StoryStep, 'operation' | 'path' | 'query'>): string {
  const template = step.operation.split(' ')[1] as string;
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(step.path?.[name] ?? ''),
  );
  const query = new URLSearchParams(step.query).toString();
  return query === '' ? path : `${path}?${query}`;
}

async function untilSettled(stack: Stack, step: StoryStep): Promise<ApiAnswer> {
  const deadline = performance.now() + PATIENCE_MILLISECONDS;
  for (;;) {
    const answer = await send(stack, step);
    if (step.until === undefined || step.until(answer.json as never)) return answer;
    if (performance.now() > deadline) throw new Error(`${step.name} never came true: ${answer.text}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS));
  }
}

async function send(stack: Stack, step: StoryStep): Promise<ApiAnswer> {
  const [method] = step.operation.split(' ') as [string];
  const hasBody = step.body !== undefined;
  const { status, headers, text } = await stack.send({
    method,
    path: targetOf(step),
    headers: {
      ...(step.isAnonymous ? {} : { authorization: `Bearer ${stack.token}` }),
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
      ...step.headers,
    },
    ...(hasBody ? { body: JSON.stringify(step.body).replaceAll(STORY_PREFIX, PLAYED_PREFIX) } : {}),
  });
  const answer = answerOf(status, { ...headers }, text.replaceAll(PLAYED_PREFIX, STORY_PREFIX));
  requireDeclaredAnswer(method, targetOf(step), answer);
  return answer;
}

function exampleOf({ until: _until, unsettled: _unsettled, ...step }: StoryStep, answer: ApiAnswer): Example {
  const shown = SHOWN_HEADERS.filter((name) => answer.headers[name] !== undefined);
  const headers = shown.map((name) => [name, answer.headers[name] as string]);
  const contentType = answer.text === '' ? '' : (answer.headers['content-type'] as string);
  return {
    ...step,
    contentType,
    answerHeaders: placeholders(Object.fromEntries(headers)) as Record<string, string>,
    ...(answer.text === '' ? {} : { answer: placeholders(excerpt(step, answer)) }),
  };
}

function excerpt(step: Pick<StoryStep, 'excerpt'>, answer: ApiAnswer): unknown {
  if (step.excerpt === undefined) return answer.json ?? answer.text;
  if (answer.json === undefined)
    return `${answer.text.slice(0, HEAD_CHARACTERS).split('\n').slice(0, 3).join('\n')}\n`;
  const { openapi, info } = answer.json as { openapi: string; info: { title: string; version: string } };
  return { openapi, info: { title: info.title, version: info.version } };
}

function withNames(step: StoryStep, names: Readonly<Record<string, string>>): StoryStep {
  const replaced = (members: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(members).map(([member, value]) => [
        member,
        value
          .split(',')
          .map((part) => names[part] ?? part)
          .join(','),
      ]),
    );
  return {
    ...step,
    ...(step.path === undefined ? {} : { path: replaced(step.path) }),
    ...(step.query === undefined ? {} : { query: replaced(step.query) }),
  };
}
