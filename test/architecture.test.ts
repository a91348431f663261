import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundleAll, handlerNames, LATER } from '../infra/bundle.ts';

/**
 * The arrows that docs/architecture.md allows, and no others. A room is a top-level folder; each protocol
 * is a room of its own, so that no wire format learns of another.
 */
const ROOMS: Record<string, { rooms: readonly string[]; packages: readonly RegExp[]; pure: boolean }> = {
  contract: { rooms: [], packages: [], pure: true },
  'protocols/bgp': { rooms: [], packages: [], pure: true },
  'protocols/gnmi': { rooms: [], packages: [/^@bufbuild\/protobuf(\/|$)/], pure: true },
  'protocols/http2': { rooms: [], packages: [], pure: true },
  'protocols/snmp': { rooms: [], packages: [/^node:crypto$/], pure: true },
  core: {
    rooms: ['protocols/bgp', 'protocols/gnmi', 'protocols/snmp', 'contract'],
    packages: [/^zod(\/mini)?$/, /^node:crypto$/],
    pure: true,
  },
  store: {
    rooms: ['core', 'contract'],
    packages: [/^@aws-sdk\//, /^node:(crypto|zlib|util)$/],
    pure: false,
  },
  functions: {
    rooms: ['store', 'core', 'protocols/bgp', 'protocols/gnmi', 'protocols/snmp', 'contract'],
    packages: [/^@middy\//, /^@types\/aws-lambda$/, /^aws-lambda$/, /^node:(zlib|crypto|util)$/],
    pure: false,
  },
  worker: {
    rooms: [
      'store',
      'core',
      'protocols/bgp',
      'protocols/gnmi',
      'protocols/http2',
      'protocols/snmp',
      'contract',
    ],
    packages: [/^node:(net|dgram|tls|dns|os|fs|crypto|zlib|timers|perf_hooks|process|util)(\/|$)/, /^koffi$/],
    pure: false,
  },
  infra: {
    rooms: ['contract'],
    packages: [/^aws-cdk-lib(\/|$)/, /^constructs$/, /^cdk-nag$/, /^esbuild$/, /^node:/],
    pure: false,
  },
  local: {
    rooms: [
      'contract',
      'protocols/bgp',
      'protocols/gnmi',
      'protocols/snmp',
      'core',
      'store',
      'functions',
      'worker',
    ],
    packages: [/./],
    pure: false,
  },
  openapi: { rooms: ['core', 'contract'], packages: [/^zod$/, /^node:(fs|path|zlib)$/], pure: false },
  cli: { rooms: ['contract', 'core'], packages: [/^node:/, /^zod$/, /^yaml$/], pure: false },
};

/** Files that alone may import what their room may not: the sender and the detect call speak to receivers. */
const EXTRA_PACKAGES: Record<string, readonly RegExp[]> = {
  'functions/webhook-dial.ts': [/^node:(tls|dns|net)$/],
  'functions/webhook-connection.ts': [/^node:net$/],
  'cli/build.ts': [/^esbuild$/],
  'cli/secrets-manager.ts': [/^@aws-sdk\/client-secrets-manager$/],
};

/** What makes code depend on when and where it runs. Pure rooms get time, chance and settings as arguments. */
const IMPURE = [
  /\bDate\.now\b/,
  /\bnew Date\(\s*\)/,
  /\bperformance\.now\b/,
  /\bMath\.random\b/,
  /\bprocess\.(env|hrtime)\b/,
  /\bset(Timeout|Interval|Immediate)\b/,
  /\brandomBytes\b|\brandomUUID\b|\brandomInt\b/,
  /\bfetch\(/,
];

/** Files that start something when imported. */
const ENTRY_POINTS =
  /^(local|worker|cli)\/(main|health|backup|rotate-keyring)\.ts$|^openapi\/write\.ts$|^infra\/(main|image-context)\.ts$/;

const VAGUE_NAMES = /(^|\/)(utils?|helpers?|common|misc|types|manager|service)(\.ts|\/)/;

const root = resolve(import.meta.dirname, '..');

function sourceFiles(folder: string): string[] {
  const absolute = join(root, folder);
  if (!existsSync(absolute)) return [];
  return readdirSync(absolute, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => join(folder, name))
    .filter((name) => statSync(join(root, name)).isFile());
}

function roomOf(file: string): string {
  const [first, second] = file.split('/');
  return first === 'protocols' ? `protocols/${second}` : (first ?? '');
}

function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`])\/\/.*$/gm, '$1');
}

/** Every module named by an import, a re-export, a dynamic import or an `import('…')` type. */
function importedModules(source: string): string[] {
  const code = withoutComments(source);
  const found: string[] = [];
  for (const pattern of [
    /\b(?:import|export)\b[^;'"`()]*?\bfrom\s*['"]([^'"]+)['"]/g,
    /(?:^|[;\n])\s*import\s*['"]([^'"]+)['"]/g,
    /\bimport\s*\(\s*['"`]([^'"`]+)['"`]\s*\)/g,
    /\brequire\s*\(\s*['"]([^'"]+)['"]\s*\)/g,
  ]) {
    for (const match of code.matchAll(pattern)) found.push(match[1] as string);
  }
  return found;
}

/** Why this import is not allowed from this file, or undefined when it is. */
function forbidden(file: string, module: string): string | undefined {
  const room = roomOf(file);
  const rule = ROOMS[room];
  if (rule === undefined) return `${file}: no room of that name in docs/architecture.md`;
  if (module.startsWith('.')) {
    if (!module.endsWith('.ts') && !module.endsWith('.json'))
      return `${file}: "${module}" must name the .ts file`;
    const target = relative(root, resolve(root, dirname(file), module));
    const targetRoom = roomOf(target);
    if (targetRoom === room) {
      const handlerImportsHandler = room === 'functions' && !isSharedByHandlers(target);
      return handlerImportsHandler ? `${file}: a handler imports another handler, ${target}` : undefined;
    }
    return rule.rooms.includes(targetRoom) ? undefined : `${file}: ${room} may not import ${targetRoom}`;
  }
  if (!module.startsWith('node:') && builtinModules.includes(module))
    return `${file}: write "node:${module}"`;
  const allowed = [...rule.packages, ...(EXTRA_PACKAGES[file] ?? [])].some((pattern) => pattern.test(module));
  return allowed ? undefined : `${file}: ${room} may not import the package "${module}"`;
}

/** A file of functions/ that exports no `handler` is one of the few that the handlers share. */
function isSharedByHandlers(file: string): boolean {
  return !/\bexport (const|async function|function) handler\b/.test(readFileSync(join(root, file), 'utf8'));
}

const files = Object.keys(ROOMS).flatMap((room) => sourceFiles(room));

describe('the architecture', () => {
  it('has only the arrows that docs/architecture.md shows', () => {
    expect(files.length).toBeGreaterThan(0);
    const violations = files.flatMap((file) =>
      importedModules(readFileSync(join(root, file), 'utf8'))
        .map((module) => forbidden(file, module))
        .filter((violation) => violation !== undefined),
    );
    expect(violations).toEqual([]);
  });

  it('keeps clocks, chance, timers and environment out of the pure rooms', () => {
    const violations = files
      .filter((file) => ROOMS[roomOf(file)]?.pure)
      .flatMap((file) => {
        const code = withoutComments(readFileSync(join(root, file), 'utf8'));
        return IMPURE.filter((pattern) => pattern.test(code)).map((pattern) => `${file}: ${pattern.source}`);
      });
    expect(violations).toEqual([]);
  });

  it('has no file whose name says nothing, no default export and no bare re-export of everything', () => {
    expect(files.filter((file) => VAGUE_NAMES.test(file))).toEqual([]);
    const offenders = files.filter((file) =>
      /^\s*export (default\b|\*)/m.test(withoutComments(readFileSync(join(root, file), 'utf8'))),
    );
    expect(offenders).toEqual([]);
  });

  it('is imported by Node itself, every file, without a build', () => {
    // Entry points act when imported; everything that they import is in the list.
    const importable = files.filter((file) => !ENTRY_POINTS.test(file));
    const script = importable.map((file) => `await import(${JSON.stringify(join(root, file))});`).join('\n');
    execFileSync(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'pipe' });
  });

  it('bundles every function and the worker without what may not be in them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'graticule-bundles-'));
    const { outputs } = await bundleAll(folder).finally(() => rmSync(folder, { recursive: true }));
    const bundles = Object.entries(outputs).map(([path, output]) => ({
      name: path.replace(/^.*\/((functions|worker)\/.*|object-store\.js)$/, '$1'),
      inputs: Object.keys(output.inputs),
      external: output.imports.map(({ path: module }) => module),
    }));
    expect(bundles.length).toBe(handlerNames().length + 3);
    for (const { name, inputs, external } of bundles) {
      const isWorker = name.startsWith('worker/');
      const strangers = inputs.filter((input) =>
        /node_modules\/(koffi|@koromix|aws-cdk-lib|constructs|cdk-nag|esbuild|fauxqs|@dynoxide)\/|^(local|infra|cli|test)\//.test(
          input,
        ),
      );
      expect(strangers, name).toEqual([]);
      expect(
        inputs.filter((input) => input.startsWith(isWorker ? 'functions/' : 'worker/')),
        name,
      ).toEqual([]);
      // What is left to be found at run time: Node's own modules, what lies beside, and in the worker what is native.
      const missing = external.filter((module) => !builtinModules.includes(module.replace(/^node:/, '')));
      expect(
        missing.filter((module) => module !== `./${LATER}`),
        name,
      ).toEqual(name === 'worker/main.js' ? ['koffi'] : []);
      // S3's client, and what S3's alone needs, is loaded when it is wanted.
      expect(
        inputs.some((input) => /@aws-sdk\/client-s3\/|\/submodules\/event-streams\//.test(input)),
        name,
      ).toBe(name === LATER);
      // What bodies are checked by is zod's small form: the other takes three times as long to load and to build.
      expect(
        inputs.filter((input) => input.includes('/zod/v4/classic/')),
        name,
      ).toEqual([]);
      // An import of it loads Node's workers, its diff and its parser of arguments, in every cold start.
      if (!isWorker) expect(external, name).not.toContain('node:util');
    }
  });

  it('notices an arrow that is not allowed', () => {
    expect(forbidden('core/peer.ts', '../store/table.ts')).toContain('core may not import store');
    expect(forbidden('protocols/snmp/ber.ts', '../bgp/header.ts')).toContain('may not import protocols/bgp');
    expect(forbidden('core/peer.ts', 'undici')).toContain('may not import the package');
    expect(forbidden('core/peer.ts', 'fs')).toContain('node:fs');
    expect(importedModules("const x: import('node:net').Socket = y; await import('undici');")).toEqual([
      'node:net',
      'undici',
    ]);
  });
});
