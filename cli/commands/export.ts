import { type Command, takeWords } from '../command.ts';
import { readCurrent } from '../current.ts';
import { say } from '../declarative.ts';
import { EXIT } from '../exit-code.ts';
import { formatExport } from '../export.ts';

export const exportCommand: Command = {
  name: 'export',
  summary: 'the stack as a declarative file',
  usage: ['export > graticule.yaml'],
  flags: {},
  help: 'Secrets and values of headers are not in it: references to environment variables stand in their place. apply --adopt takes over what it describes.',
  async run(context) {
    takeWords(context, 0);
    const { text, notes } = formatExport(await readCurrent(context.client), context.settings.output);
    context.terminal.print(text);
    for (const note of notes) say(context, `graticule: ${note}`);
    return EXIT.ok;
  },
};
