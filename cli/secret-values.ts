/** Turns references into values, all of them before the first write: half an apply helps nobody. */
import { validateBody } from '../core/body.ts';
import { Problem } from '../core/problem.ts';
import { SCHEMAS } from './declaration.ts';
import { isObject, type JsonObject, parseJsonText } from './json-text.ts';
import type { Plan, Step } from './plan-steps.ts';
import { formatSecretReference, type SecretReference } from './secret-reference.ts';
import type { Mistake } from './source-file.ts';
import { withValueAt } from './wanted.ts';

export interface SecretSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The text of a secret in AWS Secrets Manager; throws an Error with a sentence. */
  readManaged(id: string): Promise<string>;
}

export interface SecretValues {
  readonly mistakes: readonly Mistake[];
  readonly values: readonly string[];
  /** The step's body with its secrets in it. */
  fill(step: Step, body: JsonObject): JsonObject;
}

/** Resolves every secret that a plan sends. */
export async function resolveSecrets(plan: Plan, sources: SecretSources): Promise<SecretValues> {
  const mistakes: Mistake[] = [];
  const values = new Map<SecretReference, string>();
  const managed = new Map<string, Promise<string>>();
  for (const { secrets } of plan.steps) {
    for (const { reference, place } of secrets.values()) {
      try {
        values.set(reference, await resolve(reference, sources, managed));
      } catch (error) {
        mistakes.push({ place, sentence: (error as Error).message });
      }
    }
  }
  const fill = (step: Step, body: JsonObject) =>
    [...step.secrets].reduce(
      (filled, [path, { reference }]) => withValueAt(filled, path, values.get(reference) ?? ''),
      body,
    );
  // A value that the API would refuse is better found before the first write.
  if (mistakes.length === 0) mistakes.push(...plan.steps.flatMap((step) => refusedValues(step, fill)));
  return { mistakes, values: [...values.values()], fill };
}

function refusedValues(step: Step, fill: SecretValues['fill']): Mistake[] {
  if (step.kind === 'model' || step.secrets.size === 0 || step.body === undefined) return [];
  try {
    validateBody(SCHEMAS[step.kind], [], fill(step, step.body));
    return [];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return (error.extras.errors ?? []).flatMap(({ pointer, detail }) => {
      const secret = step.secrets.get(pointer.slice(1));
      if (secret === undefined) return [];
      const from = formatSecretReference(secret.reference);
      return [{ place: secret.place, sentence: `what ${from} holds does not do: ${detail}` }];
    });
  }
}

async function resolve(
  reference: SecretReference,
  sources: SecretSources,
  managed: Map<string, Promise<string>>,
): Promise<string> {
  if (reference.from === 'env') {
    const value = sources.environment[reference.name];
    if (value === undefined) throw new Error(`the environment variable ${reference.name} is not set`);
    if (value === '') throw new Error(`the environment variable ${reference.name} is empty`);
    return value;
  }
  const { id, key } = reference;
  const reading = managed.get(id) ?? sources.readManaged(id);
  managed.set(id, reading);
  const text = await reading;
  if (key === undefined) {
    if (text === '') throw new Error(`the secret ${id} is empty`);
    return text;
  }
  const content = parseJsonText(text);
  const value = isObject(content) ? content[key] : undefined;
  if (typeof value === 'string' && value !== '') return value;
  throw new Error(
    isObject(content)
      ? `the secret ${id} has no text under ${key}`
      : `the secret ${id} is not JSON, so it has no ${key}`,
  );
}
