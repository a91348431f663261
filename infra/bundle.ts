/** All that runs in AWS, bundled by one call: the functions, each a folder for Lambda, and the worker. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type BuildOptions, build, type Metafile } from 'esbuild';

export const ROOT = resolve(import.meta.dirname, '..');

/** Packages with native code: they cannot be bundled, and the image brings them along. */
export const NATIVE_PACKAGES = ['koffi'];

/**
 * A bundled CommonJS package may call `require`, which an ES module does not have. esbuild does not look at a banner: its
 * names must be ones that minification never makes.
 */
const REQUIRE =
  "import{createRequire as graticuleCreateRequire}from'node:module';const require=graticuleCreateRequire(import.meta.url);";

/** How everything is bundled; what a bench compares us with is bundled the same way. */
export const BUNDLE_OPTIONS = {
  absWorkingDir: ROOT,
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // The ES module form of a package, where it has one, is the one whose unused parts can be left out.
  mainFields: ['module', 'main'],
  external: NATIVE_PACKAGES,
  alias: { '@aws-sdk/credential-provider-node': './store/credentials.ts' },
  banner: { js: REQUIRE },
  legalComments: 'none',
  logLevel: 'silent',
} satisfies BuildOptions;

/** Files of `functions/` that Lambda invokes, without their ending. */
export function handlerNames(): string[] {
  return readdirSync(join(ROOT, 'functions'))
    .filter((name) => name.endsWith('.ts'))
    .filter((name) =>
      /\bexport (const|async function|function) handler\b/.test(
        readFileSync(join(ROOT, 'functions', name), 'utf8'),
      ),
    )
    .map((name) => name.slice(0, -'.ts'.length))
    .sort();
}

/**
 * Writes `functions/<name>/index.js` and `worker/{main,health}.js` below `outputDirectory`. The same sources give the
 * same octets, wherever and whenever: nothing in a bundle tells of the machine. Returns what went into each.
 */
export async function bundleAll(outputDirectory: string): Promise<Metafile> {
  const functions = handlerNames().map((name): [string, string] => [
    `functions/${name}/index`,
    `functions/${name}.ts`,
  ]);
  const { metafile } = await build({
    ...BUNDLE_OPTIONS,
    entryPoints: {
      ...Object.fromEntries(functions),
      'worker/main': 'worker/main.ts',
      'worker/health': 'worker/health.ts',
    },
    outdir: outputDirectory,
    metafile: true,
  });
  const folders = ['worker', ...handlerNames().map((name) => join('functions', name))];
  for (const folder of folders) {
    writeFileSync(join(outputDirectory, folder, 'package.json'), '{"type":"module"}\n');
  }
  return metafile;
}
