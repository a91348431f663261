/**
 * Runs cases that need more than Node and npm (real peers, long times, other programs to be measured beside).
 * A case is one file in `test/{interop,soak,bench}/cases/` that exports `testCase`; nothing else registers it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

export interface TestCase {
  /** One sentence: what a pass of this case shows. */
  readonly title: string;
  /** Runs on each CI, not only when named; `soak` cases then run at a tenth of their size. */
  readonly inCi: boolean;
  run(context: CaseContext): Promise<void>;
}

export interface CaseContext {
  /** Runs one named expectation: it passes unless it throws. A failed one does not stop the case. */
  check(sentence: string, expectation: () => unknown): Promise<void>;
  /** A line of the case's own output: figures, times, counts. */
  log(line: string): void;
  /** An empty folder of this run, removed at its end. */
  readonly scratchDirectory: string;
  /** 1 for the whole size, 0.1 in CI. */
  readonly scale: number;
  /** Printed at the start; `--seed` repeats a run. */
  readonly seed: number;
  /** `--large`, for the sizes that a case keeps for those who ask. */
  readonly large: boolean;
}

/**
 * Finds the cases of a folder, runs those named on the command line (else all that are for CI), prints and counts.
 * @param lastLine the count of what passed and failed, or for figures the last line that each case logged, which is
 *     the ratio that it is run for; the count then stands before it.
 */
export async function runCases(
  folder: string,
  argv: readonly string[],
  lastLine: 'count' | 'logged' = 'count',
): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      seed: { type: 'string' },
      scale: { type: 'string' },
      large: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
    },
  });
  const files = readdirSync(join(folder, 'cases'))
    .filter((name) => name.endsWith('.ts'))
    .sort();
  const names = files.map((name) => basename(name, '.ts'));
  const unknown = positionals.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    console.error(`no case named ${unknown.join(', ')}; there are: ${names.join(', ')}`);
    process.exitCode = 2;
    return;
  }
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
  const scale = values.scale === undefined ? 1 : Number(values.scale);
  const wanted: Array<{ name: string; testCase: TestCase }> = [];
  for (const name of positionals.length > 0 ? positionals : names) {
    const module: { testCase: TestCase } = await import(
      pathToFileURL(join(folder, 'cases', `${name}.ts`)).href
    );
    if (positionals.length > 0 || values.list || module.testCase.inCi) wanted.push({ name, ...module });
  }
  if (values.list) {
    for (const { name, testCase } of wanted) console.log(`${name}: ${testCase.title}`);
    return;
  }
  const counted = { passed: 0, failed: 0 };
  const logged: string[] = [];
  for (const { name, testCase } of wanted) {
    const options = { seed, scale, large: values.large };
    const { passed, failed, lastLogged } =
      wanted.length === 1
        ? await runCase(name, testCase, options)
        : await runInProcessOfItsOwn(folder, name, options);
    counted.passed += passed;
    counted.failed += failed;
    if (lastLogged !== undefined) logged.push(lastLogged);
  }
  console.log(`\n${closingLine(counted)}`);
  if (lastLine === 'logged') for (const line of logged) console.log(line);
  // A case that failed may have left servers and timers behind, which would keep the run from ever ending.
  process.exit(counted.failed === 0 && counted.passed > 0 ? 0 : 1);
}

interface Counted {
  readonly passed: number;
  readonly failed: number;
  readonly lastLogged?: string | undefined;
}

type CaseOptions = Pick<CaseContext, 'seed' | 'scale' | 'large'>;

async function runCase(name: string, testCase: TestCase, options: CaseOptions): Promise<Counted> {
  const counted = { passed: 0, failed: 0 };
  let lastLogged: string | undefined;
  console.log(`\n== ${name}: ${testCase.title} (seed ${options.seed}, scale ${options.scale})`);
  const scratchDirectory = mkdtempSync(join(tmpdir(), `graticule-${name}-`));
  const started = performance.now();
  const fail = (sentence: string, error: unknown) => {
    counted.failed += 1;
    console.log(
      `  FAILED ${sentence}\n${indent(error instanceof Error ? (error.stack ?? error.message) : String(error))}`,
    );
  };
  try {
    await testCase.run({
      ...options,
      scratchDirectory,
      log: (line) => {
        lastLogged = line;
        console.log(`  ${line}`);
      },
      check: async (sentence, expectation) => {
        try {
          await expectation();
          counted.passed += 1;
          console.log(`  ok ${sentence}`);
        } catch (error) {
          fail(sentence, error);
        }
      },
    });
    if (counted.passed + counted.failed === 0) fail(name, new Error('the case checked nothing'));
  } catch (error) {
    fail(`${name} did not run to its end`, error);
  } finally {
    rmSync(scratchDirectory, { recursive: true, force: true });
  }
  console.log(`== ${name}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  return { ...counted, lastLogged };
}

/** One of several cases: a case points this process's AWS clients at its own emulators, and leaves memory behind. */
async function runInProcessOfItsOwn(folder: string, name: string, options: CaseOptions): Promise<Counted> {
  const words = [join(folder, 'run.ts'), name, '--seed', `${options.seed}`, '--scale', `${options.scale}`];
  const child = spawn(
    process.execPath,
    [...process.execArgv, ...words, ...(options.large ? ['--large'] : [])],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    process.stdout.write(text);
  });
  await once(child, 'close');
  const [, passed, failed, after = ''] = /^(\d+) passed, (\d+) failed$\n?([\s\S]*)/m.exec(printed) ?? [];
  if (passed !== undefined && failed !== undefined) {
    return { passed: Number(passed), failed: Number(failed), lastLogged: after.trim() || undefined };
  }
  console.log(`  FAILED ${name} ended without its closing line (${child.exitCode ?? child.signalCode})`);
  return { passed: 0, failed: 1 };
}

function closingLine({ passed, failed }: Counted): string {
  return `${passed} passed, ${failed} failed`;
}

/** Where programs that cases install are kept between runs: outside the clone, so that a fresh one finds them. */
export function cacheDirectory(): string {
  const directory =
    process.env['GRATICULE_CACHE_DIR'] ?? join(process.env['HOME'] ?? tmpdir(), '.cache', 'graticule');
  mkdirSync(directory, { recursive: true });
  return directory;
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ');
}
