import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import type { CaseContext } from '../../harness.ts';
import { type Desk, page, ROOT } from './desk.ts';
import { commandsIn } from './page.ts';
import { Reader } from './reader.ts';
import { patternOf } from './shown.ts';

const BACKUP = page('docs/backup.md');

/** The commands of the page on the data of a stack that runs. */
export async function backup(context: CaseContext, desk: Desk): Promise<void> {
  await context.check('docs/backup.md: the commands of export, import and rotation', async () => {
    const file = join(desk.folder, 'backup.jsonl');
    const reader = new Reader({
      workingDirectory: ROOT,
      environment: { GRATICULE_DATA_DIR: desk.stack.dataDirectory },
      otherwise: { 'backup.jsonl': file },
    });
    try {
      const commands = commandsIn(BACKUP);
      assert.equal(commands.length, 3);
      for (const command of commands) {
        const isImport = command.text.includes(' import ');
        if (isImport) await reader.type(`export GRATICULE_DATA_DIR=${join(desk.folder, 'imported')}`);
        const printed = await reader.type(`${command.text}\necho "ended with $?"`);
        assert.match(printed, /ended with 0$/, command.text);
        if (isImport) await reader.type(`export GRATICULE_DATA_DIR=${desk.stack.dataDirectory}`);
        if (command.shown !== undefined) assert.match(printed, patternOf(command.shown));
      }
    } finally {
      await reader.close();
    }
  });
}
