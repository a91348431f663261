import { type Command, takeWords } from '../command.ts';
import { DECLARATIVE_FLAGS, prepare, say, secretsOf, statePath } from '../declarative.ts';
import { EXIT } from '../exit-code.ts';
import { formatJsonText } from '../json-text.ts';
import { formatPlan, planJson } from '../plan-text.ts';
import { formatPlace } from '../source-file.ts';

export const planCommand: Command = {
  name: 'plan',
  summary: 'what apply would do; changes nothing',
  usage: ['plan [-f FILE …] [--check]'],
  flags: {
    ...DECLARATIVE_FLAGS,
    check: { type: 'boolean', text: 'end with 6 when there is something to do' },
  },
  help: 'Files name peers, devices, models, subscriptions and the webhook. A kind that no file speaks of is left alone.',
  async run(context) {
    takeWords(context, 0);
    const { plan } = await prepare(context, statePath(context));
    const { mistakes } = await secretsOf(context, plan);
    for (const { place, sentence } of mistakes)
      say(context, `${formatPlace(place)}: warning: apply would stop: ${sentence}`);
    const { terminal, settings } = context;
    terminal.print(settings.output === 'json' ? formatJsonText(planJson(plan)) : formatPlan(plan, terminal));
    const isPending = plan.steps.length > 0 || plan.adoptions.length > 0;
    return context.flags['check'] === true && isPending ? EXIT.pending : EXIT.ok;
  },
};
