/**
 * `npm run backup -- export FILE` and `… import FILE`: the Config table and the keyring, of the local run, or with `--aws` of
 * whatever the AWS environment and the product's own variables name. What the engine observed is not in it: a worker makes
 * that anew.
 */
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { exportBackup, importBackup } from '../store/backup.ts';
import { readSettings } from './environment.ts';
import { withLocalData } from './open-data.ts';

const { values, positionals } = parseArgs({
  options: { aws: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [command, path, ...rest] = positionals;
try {
  if ((command !== 'export' && command !== 'import') || path === undefined || rest.length > 0) {
    throw new Error('say export FILE or import FILE');
  }
  const { dataDirectory } = readSettings(process.env, true);
  const work = () => (command === 'export' ? writeBackup(path) : importBackup(readFileSync(path, 'utf8')));
  const items = await (values.aws ? work() : withLocalData(dataDirectory, work));
  console.log(`${items} items and the keyring ${command === 'export' ? 'are in' : 'are taken from'} ${path}`);
} catch (error) {
  console.error(`backup: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

/** Never over another file, and for nobody else's eyes: whoever has the file has every password. */
async function writeBackup(target: string): Promise<number> {
  const file = openSync(target, 'wx', 0o600);
  try {
    const { text, items } = await exportBackup(new Date());
    writeFileSync(file, text);
    return items;
  } finally {
    closeSync(file);
  }
}
