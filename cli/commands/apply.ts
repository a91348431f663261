import { applyPlan, StateKeeper } from '../apply.ts';
import { type Command, type CommandContext, takeWords } from '../command.ts';
import { DECLARATIVE_FLAGS, prepare, refuse, say, secretsOf, statePath } from '../declarative.ts';
import { EXIT, type ExitCode, Failure } from '../exit-code.ts';
import { formatJsonText } from '../json-text.ts';
import { formatPlan, formatStep, planJson } from '../plan-text.ts';
import { lockState, writeState } from '../state-file.ts';

export const applyCommand: Command = {
  name: 'apply',
  summary: 'make the stack as the files want it',
  usage: ['apply [-f FILE …]'],
  flags: DECLARATIVE_FLAGS,
  help: 'Does what plan shows, and writes down in the state file what it made: it removes that when the files no longer have it, and nothing else. Cut short, it is to be run again.',
  async run(context) {
    takeWords(context, 0);
    const path = statePath(context);
    const unlock = lockState(path);
    try {
      return await apply(context, path);
    } finally {
      unlock();
    }
  },
};

async function apply(context: CommandContext, path: string): Promise<ExitCode> {
  const { terminal, settings } = context;
  const { plan, current, state } = await prepare(context, path);
  const secrets = await secretsOf(context, plan);
  refuse(context, secrets.mistakes, EXIT.usage, 'nothing was changed');
  const isJson = settings.output === 'json';
  const keeper = new StateKeeper(
    { ...state, url: settings.url.href },
    (next) => writeState(path, next),
    Date.now,
  );
  const { done, failures, left } = await applyPlan({
    plan,
    current,
    client: context.steadyClient,
    secrets,
    keeper,
    interrupt: context.interrupt,
    onStep: (step, id) => {
      if (!isJson) terminal.print(formatStep(step, id, terminal));
    },
  });
  if (isJson) {
    const told = failures.map(({ sentence }) => sentence);
    terminal.print(formatJsonText({ ...planJson(plan), done, failures: told, left }));
  } else if (plan.steps.length === 0) {
    terminal.print(formatPlan(plan, terminal));
  } else {
    terminal.print(`${done} done, ${plan.unchanged} as wanted.`);
  }
  for (const { sentence } of failures) say(context, `graticule: ${sentence}`);
  const rest = `${done} of ${plan.steps.length} steps done, ${left} not begun; apply again to go on`;
  if (context.interrupt.aborted && left > 0) throw new Failure(`interrupted: ${rest}`, EXIT.interrupted);
  if (failures[0] !== undefined) throw new Failure(rest, failures[0].exitCode);
  return EXIT.ok;
}
