/**
 * Writes the Dockerfile's context to a folder, for whoever builds the worker's image without CDK:
 * `npm run image:context -- FOLDER [linux/arm64 | linux/amd64]`.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { bundleAll } from './bundle.ts';
import { stageWorkerImage } from './worker-image.ts';

const [folder, platform = 'linux/arm64'] = process.argv.slice(2);
if (folder === undefined || (platform !== 'linux/arm64' && platform !== 'linux/amd64')) {
  console.error('usage: npm run image:context -- FOLDER [linux/arm64 | linux/amd64]');
  process.exit(2);
}
const bundles = mkdtempSync(join(tmpdir(), 'graticule-bundles-'));
try {
  await bundleAll(bundles);
  cpSync(stageWorkerImage(bundles, platform), resolve(folder), { recursive: true });
} finally {
  rmSync(bundles, { recursive: true, force: true });
}
console.log(`the context for ${platform} is in ${folder}`);
