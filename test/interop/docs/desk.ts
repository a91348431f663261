import { strict as assert } from 'node:assert';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { CaseContext } from '../../harness.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { contractClient } from '../../support/contract-client.ts';
import type { Stack } from '../../support/stack.ts';
import { until } from '../../support/until.ts';
import { AwsCommandLine } from './aws-command-line.ts';
import { blockOf, commandsIn, sectionOf } from './page.ts';
import { Reader } from './reader.ts';

export const ROOT = resolve(import.meta.dirname, '../../..');

/** A page of the clone, or another of its files. */
export const page = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const RUNBOOK = page('docs/runbook.md');

/** How many executions an account may have at once, and how many of them nothing reserved. */
const CONCURRENCY = '[1-9]\\d{2,3}\\t[1-9]\\d{2,3}';

/** A folder as a reader has it: the data directory and the log of what runs. */
export class Desk {
  readonly folder: string;
  readonly stack: Stack;
  readonly api: ApiClient;
  readonly aws: AwsCommandLine;
  private readonly context: CaseContext;
  private readonly preamble: string;

  constructor(context: CaseContext, stack: Stack, name: string) {
    this.context = context;
    this.stack = stack;
    this.api = contractClient(stack.send, stack.token);
    this.folder = join(context.scratchDirectory, name);
    mkdirSync(this.folder, { recursive: true });
    symlinkSync(stack.dataDirectory, join(this.folder, '.graticule'));
    this.aws = new AwsCommandLine(this.folder, stack.dataDirectory);
    const environment = JSON.parse(readFileSync(join(stack.dataDirectory, 'environment.json'), 'utf8'));
    const queues = Object.keys(environment).filter((name) => /^GRATICULE_.*_QUEUE$/.test(name));
    this.preamble = [
      blockOf(RUNBOOK, 'sh').trimEnd(),
      ...queues.map((name) => `${name}='${environment[name]}'`),
    ].join('\n');
  }

  reader(more: Partial<ConstructorParameters<typeof Reader>[0]> = {}): Reader {
    return new Reader({
      workingDirectory: this.folder,
      environment: { PATH: `${this.aws.bin}:${process.env['PATH']}` },
      otherwise: { 'http://127.0.0.1:8080': this.stack.url },
      ...more,
    });
  }

  /** Follows an article of the runbook; `before` runs before each command that begins with one of its names. */
  async article(
    heading: string,
    before: Readonly<Record<string, (reader: Reader) => unknown>> = {},
  ): Promise<void> {
    await this.context.check(`docs/runbook.md: ${heading}`, async () => {
      const reader = this.reader({
        volatile: [CONCURRENCY],
        beforeTyping: () => writeFileSync(join(this.folder, 'graticule.log'), this.stack.output()),
      });
      try {
        await reader.type(this.preamble);
        for (const command of commandsIn(sectionOf(RUNBOOK, heading))) {
          for (const [name, act] of Object.entries(before))
            if (command.text.startsWith(name)) await act(reader);
          await reader.follow(command);
        }
      } finally {
        await reader.close();
      }
    });
  }

  async created(path: string, body: object): Promise<number> {
    const { status, json, text } = await this.api.send({ method: 'POST', path, body });
    assert.equal(status, 201, text);
    return json.id;
  }

  async get(path: string) {
    return (await this.api.send({ method: 'GET', path })).json;
  }

  peerIs(id: number, state: string): Promise<unknown> {
    return until(
      state,
      () => this.get(`/api/bgp/peers/${id}`),
      (peer) => peer.state === state,
      60_000,
    );
  }
}
