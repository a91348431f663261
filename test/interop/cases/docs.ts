import type { TestCase } from '../../harness.ts';
import { debianCommand } from '../../support/install.ts';
import { backup } from '../docs/backup-page.ts';
import { deployment } from '../docs/deploy-page.ts';
import { deviceToReceiver, fiveMinutes } from '../docs/readme.ts';
import { keyring, network, noWorker, sessions } from '../docs/runbook.ts';

export const testCase: TestCase = {
  title: 'what README, runbook, backup and deploy page tell to type prints what they show',
  inCi: true,
  run: async (context) => {
    debianCommand('curl', 'curl');
    debianCommand('jq', 'jq');
    await fiveMinutes(context);
    await deviceToReceiver(context);
    await noWorker(context);
    await sessions(context);
    await network(context, async (desk) => {
      await deployment(context, desk);
      await backup(context, desk);
    });
    await keyring(context);
  },
};
