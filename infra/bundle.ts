/** All that runs in AWS, bundled by one call: the functions, each a folder for Lambda, and the worker. */
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

export const ROOT = resolve(import.meta.dirname, '..');

/** Packages with native code: they cannot be bundled, and the image brings them along. */
export const NATIVE_PACKAGES = ['koffi'];

/**
 * A bundled CommonJS package may call `require`, which an ES module does not have. esbuild does not look at a banner: its
 * names must be ones that minification never makes.
 */
const REQUIRE =
  "import{createRequire as graticuleCreateRequire}from'node:module';const require=graticuleCreateRequire(import.meta.url);";

/**
 * The SDK would load this part of itself for a command that we do not have. What esbuild puts into a bundle to be loaded
 * later, and all that it shares with the rest, becomes functions that V8 reads twice (decision 0114).
 */
const WITHOUT_EVENT_STREAMS: Plugin = {
  name: 'without-event-streams',
  setup({ onResolve }) {
    onResolve({ filter: /^@smithy\/core\/event-streams$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: join(ROOT, 'store/event-streams.ts') } : undefined,
    );
  },
};

/** What is loaded when it is first wanted: a program of its own, beside those that want it. */
export const LATER = 'object-store.js';

const BESIDE: Plugin = {
  name: 'beside',
  setup({ onResolve }) {
    onResolve({ filter: /\/object-store\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: `./${LATER}`, external: true } : undefined,
    );
  },
};

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
  plugins: [WITHOUT_EVENT_STREAMS],
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
 * Writes `functions/<name>/index.js` and `worker/{main,health}.js` below `outputDirectory`, and `object-store.js`, also beside
 * those that load it. The same sources give the same octets, wherever and whenever: nothing in a bundle tells of the
 * machine. Returns what went into each.
 */
export async function bundleAll(outputDirectory: string): Promise<Metafile> {
  const functions = handlerNames().map((name): [string, string] => [
    `functions/${name}/index`,
    `functions/${name}.ts`,
  ]);
  const { metafile } = await build({
    ...BUNDLE_OPTIONS,
    plugins: [...BUNDLE_OPTIONS.plugins, BESIDE],
    entryPoints: {
      ...Object.fromEntries(functions),
      'worker/main': 'worker/main.ts',
      'worker/health': 'worker/health.ts',
      'object-store': 'store/object-store.ts',
    },
    outdir: outputDirectory,
    metafile: true,
  });
  const folders = ['worker', ...handlerNames().map((name) => join('functions', name))];
  for (const folder of folders) {
    writeFileSync(join(outputDirectory, folder, 'package.json'), '{"type":"module"}\n');
  }
  for (const [path, { imports }] of Object.entries(metafile.outputs)) {
    const isLoadedByIt = imports.some((imported) => imported.path === `./${LATER}`);
    if (isLoadedByIt) {
      copyFileSync(join(outputDirectory, LATER), resolve(ROOT, dirname(path), LATER));
    }
  }
  return metafile;
}
