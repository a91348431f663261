import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ShownCommand } from './page.ts';
import { patternOf } from './shown.ts';

/** How long a reader would wait for what the page shows: sessions come up, streams start. */
const PATIENCE_MILLISECONDS = 45_000;

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** What ends the output of a command. */
const MARK = '\u001e';

export interface ReaderOptions {
  readonly workingDirectory: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** What stands on the page and is otherwise here, e.g. the port: in commands and in what they print. */
  readonly otherwise?: Readonly<Record<string, string>>;
  /** Expressions of what is volatile on this page alone. */
  readonly volatile?: readonly string[];
  /** Runs before each command. */
  readonly beforeTyping?: () => void;
}

/** A person with a shell who types what a page shows, one command after the other, and compares. */
export class Reader {
  private readonly shell: ChildProcess;
  private readonly options: ReaderOptions;
  private readonly otherwise: Map<string, string>;
  private output = '';

  constructor(options: ReaderOptions) {
    this.options = options;
    this.otherwise = new Map(Object.entries(options.otherwise ?? {}));
    this.shell = spawn('bash', ['--norc', '--noprofile'], {
      cwd: options.workingDirectory,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...options.environment },
      stdio: ['pipe', 'pipe', 'pipe'],
      // Its background jobs end with it.
      detached: true,
    });
    for (const stream of [this.shell.stdout, this.shell.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
      });
    }
  }

  /** Types one command and returns what was printed until it ended. */
  async type(command: string): Promise<string> {
    this.options.beforeTyping?.();
    const from = this.output.length;
    this.shell.stdin?.write(`${this.here(command)}\nprintf '${MARK}\\n'\n`);
    while (!this.output.includes(MARK, from)) await new Promise((done) => setTimeout(done, 10));
    return this.output.slice(from).replaceAll(`${MARK}\n`, '').trimEnd();
  }

  /**
   * Types a command and compares. What only reads is typed again for a while, as a person would who waits; what the page
   * shows may also come later, from a program in the background. Throws with both texts when it never comes.
   */
  async follow({ text, shown }: ShownCommand): Promise<void> {
    const from = this.output.length;
    let printed = await this.type(text);
    if (shown === undefined) return;
    const pattern = patternOf(this.here(shown), this.options.volatile);
    const deadline = performance.now() + PATIENCE_MILLISECONDS;
    while (!pattern.test(printed) && !pattern.test(this.output.slice(from).replaceAll(MARK, ''))) {
      if (performance.now() > deadline) {
        throw new Error(`${text}\nprinted:\n${printed}\nthe page shows:\n${shown}`);
      }
      await new Promise((done) => setTimeout(done, 250));
      if (isReading(text)) printed = await this.type(text);
    }
    this.takeIds(shown, printed);
  }

  /** An id that the page shows and later asks for is, from here on, the one that was printed in its place. */
  private takeIds(shown: string, printed: string): void {
    const here = printed.match(UUID) ?? [];
    for (const [index, id] of (shown.match(UUID) ?? []).entries()) {
      const own = here[index];
      if (own !== undefined) this.otherwise.set(id, own);
    }
  }

  async close(): Promise<void> {
    if (this.shell.exitCode !== null) return;
    process.kill(-(this.shell.pid as number), 'SIGKILL');
    await once(this.shell, 'exit');
  }

  private here(text: string): string {
    return [...this.otherwise].reduce((changed, [from, to]) => changed.replaceAll(from, to), text);
  }
}

function isReading(command: string): boolean {
  return /^(curl|api|grep|aws) /.test(command) && !/ (-d|-X) /.test(command);
}
