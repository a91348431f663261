/** What `plan` and `apply` have in common: files, state and stack in, a plan out; or all that stands in its way. */
import { dirname, join, resolve } from 'node:path';
import type { CommandContext, Flag } from './command.ts';
import { readCurrent } from './current.ts';
import { readDeclaration } from './declaration.ts';
import { EXIT, type ExitCode, Failure } from './exit-code.ts';
import { planChanges } from './plan.ts';
import type { CurrentState, Plan } from './plan-steps.ts';
import { resolveSecrets, type SecretValues } from './secret-values.ts';
import { formatPlace, type Mistake, readSourceFiles } from './source-file.ts';
import { type ApplyState, readState } from './state-file.ts';
import { printable, wrapped } from './terminal.ts';

export const DECLARATIVE_FLAGS: Readonly<Record<string, Flag>> = {
  file: {
    type: 'string',
    multiple: true,
    short: 'f',
    value: 'FILE',
    text: 'a file or a folder of them; graticule.yaml when not given',
  },
  state: {
    type: 'string',
    value: 'FILE',
    text: 'what apply made; graticule.state.json beside the first file',
  },
  adopt: { type: 'boolean', text: 'take over what exists and was not made from these files' },
  'resend-secrets': { type: 'boolean', text: 'send every secret again, as after a rotation' },
};

export interface Prepared {
  readonly plan: Plan;
  readonly current: CurrentState;
  readonly state: ApplyState;
}

/** Where the state of these files is. */
export function statePath(context: CommandContext): string {
  const named = context.flags['state'];
  if (typeof named === 'string') return resolve(context.workingDirectory, named);
  const [first] = namedFiles(context);
  if (first === undefined) return join(context.workingDirectory, 'graticule.state.json');
  const path = resolve(context.workingDirectory, first);
  return join(/\.(ya?ml|json)$/.test(path) ? dirname(path) : path, 'graticule.state.json');
}

/** Throws a Failure when something is wrong, after each thing that is has been said. Changes nothing. */
export async function prepare(context: CommandContext, path: string): Promise<Prepared> {
  const { settings, workingDirectory } = context;
  const files = readSourceFiles(namedFiles(context), workingDirectory);
  const { wanted, mistakes, warnings } = readDeclaration(files, workingDirectory);
  refuse(context, mistakes, EXIT.usage, 'nothing was sent');
  for (const { place, sentence } of warnings) say(context, `${formatPlace(place)}: warning: ${sentence}`);
  const state = readState(path);
  if (state.url !== '' && state.url !== settings.url.href) {
    throw new Failure(
      `${path} is of the stack at ${state.url}, and this is ${settings.url.href}; name another with --state, or change its "url" when that stack has moved`,
      EXIT.usage,
    );
  }
  const current = await readCurrent(context.client);
  const plan = planChanges(current, wanted, state, {
    adopt: context.flags['adopt'] === true,
    resendSecrets: context.flags['resend-secrets'] === true,
  });
  for (const note of plan.notes) say(context, `graticule: ${note}`);
  refuse(context, plan.mistakes, EXIT.usage, 'nothing was changed');
  refuse(context, plan.conflicts, EXIT.conflict, 'nothing was changed');
  return { plan, current, state };
}

/** The values of all secrets that the plan sends; what is missing is not said here. */
export async function secretsOf(context: CommandContext, plan: Plan): Promise<SecretValues> {
  const secrets = await resolveSecrets(plan, {
    environment: context.environment,
    readManaged: async (id) => {
      // Loaded when a file refers to it: hardly any does, and the SDK is most of this program.
      const { readManagedSecret } = await import('./secrets-manager.ts');
      return readManagedSecret(id, context.interrupt);
    },
  });
  context.interrupt.throwIfAborted();
  for (const value of secrets.values) context.hide(value);
  return secrets;
}

/** Says every mistake with its place, then ends. */
export function refuse(
  context: CommandContext,
  mistakes: readonly Mistake[],
  exitCode: ExitCode,
  consequence: string,
): void {
  if (mistakes.length === 0) return;
  for (const { place, sentence } of mistakes)
    say(context, `${place.line === 0 ? 'graticule' : formatPlace(place)}: ${sentence}`);
  const what = exitCode === EXIT.conflict ? 'conflict' : 'mistake';
  throw new Failure(
    `${mistakes.length} ${what}${mistakes.length === 1 ? '' : 's'}; ${consequence}`,
    exitCode,
  );
}

export function say({ terminal }: CommandContext, sentence: string): void {
  terminal.say(wrapped(printable(sentence), terminal.columns, '  '));
}

function namedFiles(context: CommandContext): readonly string[] {
  return (context.flags['file'] ?? []) as readonly string[];
}
