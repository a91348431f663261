/**
 * `npm run build`: the command line as a package of its own in dist/, one bundle that needs nothing but Node.
 * `npm pack ./dist` makes the tarball.
 */
import { chmodSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const ROOT = resolve(import.meta.dirname, '..');

/** Some of what is bundled was written for `require`. */
const BANNER = `#!/usr/bin/env node
import { createRequire as graticuleRequire } from 'node:module';
const require = graticuleRequire(import.meta.url);`;

/** Builds into `folder`, which is emptied first. */
export async function buildCli(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  await build({
    entryPoints: { graticule: join(ROOT, 'cli/main.ts') },
    absWorkingDir: ROOT,
    outdir: folder,
    bundle: true,
    // What reads AWS is loaded only when a file refers to a secret there.
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    mainFields: ['module', 'main'],
    banner: { js: BANNER },
    minifySyntax: true,
    logLevel: 'warning',
  });
  chmodSync(join(folder, 'graticule.js'), 0o755);
  const product = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, unknown>;
  const manifest = {
    name: 'graticule',
    version: product['version'],
    description: 'The command line of Graticule.',
    license: product['license'],
    type: 'module',
    engines: product['engines'],
    bin: { graticule: 'graticule.js' },
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  // The page's links lead to what is in the repository only.
  const page = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8');
  writeFileSync(join(folder, 'README.md'), page.replace(/\[([^\]]+)\]\((?!https?:)[^)]+\)/g, '`docs/$1`'));
}

if (import.meta.main) await buildCli(join(ROOT, 'dist'));
