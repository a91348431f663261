/** docs/deploy.md: what of it can be typed without an account. The rest is deployed to an emulator by the case `deployed`. */
import { strict as assert } from 'node:assert';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CaseContext } from '../../harness.ts';
import { type Desk, page, ROOT } from './desk.ts';
import { commandsIn, type ShownCommand, sectionOf } from './page.ts';
import { Reader } from './reader.ts';

const DEPLOY = page('docs/deploy.md');

/** The image's folder, and the look at a deployment, which a stack on this machine passes too. */
export async function deployment(context: CaseContext, desk: Desk): Promise<void> {
  const typed = async (section: string, first: string, otherwise: Readonly<Record<string, string>>) => {
    const command = commandsIn(sectionOf(DEPLOY, section)).find(({ text }) => text.includes(first));
    const reader = new Reader({ workingDirectory: ROOT, otherwise });
    try {
      return await reader.type(`${(command as ShownCommand).text}\necho "ended with $?"`);
    } finally {
      await reader.close();
    }
  };
  await context.check('docs/deploy.md: the folder that an image is built from', async () => {
    const folder = join(context.scratchDirectory, 'image-folder');
    const printed = await typed('Without Docker', 'npm run image:context', { 'image-context': folder });
    assert.match(printed, /ended with 0$/);
    assert.ok(existsSync(join(folder, 'Dockerfile')), printed);
  });
  await context.check('docs/deploy.md: deploy:smoke finds all as it should be', async () => {
    const token = readFileSync(join(desk.stack.dataDirectory, 'token'), 'utf8').trim();
    const printed = await typed('What the tests show, and what only AWS can', 'npm run deploy:smoke', {
      'https://….execute-api.REGION.amazonaws.com': desk.stack.url,
      'GRATICULE_API_TOKEN=…': `GRATICULE_API_TOKEN=${token}`,
    });
    assert.match(printed, /ended with 0$/);
    assert.doesNotMatch(printed, /FAILED/);
    assert.equal(printed.match(/^ok /gm)?.length, 8, printed);
    assert.ok(!printed.includes(token));
  });
}
