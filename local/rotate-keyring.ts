/** `npm run rotate-keyring`: what the function of that name does in AWS, on the data of the local run. */
import { parseArgs } from 'node:util';
import { guardCalls } from './aws.ts';
import { readSettings } from './environment.ts';
import { withLocalData } from './open-data.ts';

const { values } = parseArgs({ options: { 'keep-days': { type: 'string' } } });
const { dataDirectory } = readSettings(process.env, true);
const { handler } = await import('../functions/rotate-keyring.ts');
try {
  guardCalls(() => 'rotate-keyring');
  const days = values['keep-days'];
  const result = await withLocalData(dataDirectory, () =>
    handler(days === undefined ? {} : { 'keep-days': Number(days) }),
  );
  console.log(JSON.stringify(result));
  process.exitCode = result.unreadable.length > 0 ? 1 : 0;
} catch (error) {
  console.error(`rotate-keyring: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
