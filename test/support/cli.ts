import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { runProgram } from '../../cli/program.ts';
import { terminalOf } from '../../cli/terminal.ts';

export interface CliRun {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

export interface CliOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
  /** As if a person sat before a terminal of so many columns. */
  readonly terminalColumns?: number;
  readonly interrupt?: AbortSignal;
}

/** Runs the command line in this process. */
export async function runCli(argv: readonly string[], options: CliOptions = {}): Promise<CliRun> {
  let output = '';
  let errors = '';
  const isTTY = options.terminalColumns !== undefined;
  const environment = { HOME: '/nonexistent', ...options.environment };
  const code = await runProgram({
    argv,
    environment,
    workingDirectory: options.workingDirectory ?? '/nonexistent',
    terminal: terminalOf(
      {
        isTTY,
        columns: options.terminalColumns ?? 80,
        write: (text) => {
          output += text;
        },
      },
      {
        write: (text) => {
          errors += text;
        },
      },
      environment,
    ),
    interrupt: options.interrupt ?? new AbortController().signal,
  });
  return { code, output, errors };
}

const MAIN = resolve(import.meta.dirname, '../../cli/main.ts');

export interface CliProcess {
  readonly ended: Promise<CliRun & { readonly signal: NodeJS.Signals | null }>;
  /** Everything on standard output so far. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
}

/** Runs the command line as its user does, in a process of its own; its output is a pipe. */
export function startCli(argv: readonly string[], options: CliOptions = {}): CliProcess {
  const child = spawn(process.execPath, [MAIN, ...argv], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', ...options.environment },
    ...(options.workingDirectory === undefined ? {} : { cwd: options.workingDirectory }),
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  return {
    ended: new Promise((settle, refuse) => {
      child.once('error', refuse);
      child.once('close', (code, signal) => settle({ code: code ?? -1, signal, output, errors }));
    }),
    output: () => output,
    kill: (signal) => child.kill(signal),
  };
}

export interface FakeAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface FakeStack {
  readonly url: string;
  /** `METHOD path`, in the order in which they came. */
  readonly requests: { readonly line: string; readonly authorization: string | undefined }[];
  stop(): Promise<void>;
}

/** A server that answers as it is told, by `METHOD path`; a list is one answer after the other, the last for ever. */
export async function startFakeStack(
  answers: Readonly<Record<string, FakeAnswer | readonly FakeAnswer[]>>,
  options: { readonly server?: Server; readonly scheme?: 'http' | 'https' } = {},
): Promise<FakeStack> {
  const requests: FakeStack['requests'] = [];
  const server = options.server ?? createServer();
  server.on('request', (incoming: IncomingMessage, response) => {
    const line = `${incoming.method} ${incoming.url}`;
    const seen = requests.filter((request) => request.line === line).length;
    requests.push({ line, authorization: incoming.headers.authorization });
    incoming.resume();
    const given = answers[line] ?? { status: 404, body: { message: 'Not Found' } };
    const list = Array.isArray(given) ? (given as readonly FakeAnswer[]) : [given as FakeAnswer];
    const answer = list[Math.min(seen, list.length - 1)] as FakeAnswer;
    const isText = typeof answer.body === 'string';
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
    response.end(isText ? answer.body : JSON.stringify(answer.body));
  });
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${options.scheme ?? 'http'}://127.0.0.1:${port}`,
    requests,
    stop: () =>
      new Promise((settle) => {
        server.close(() => settle());
        server.closeAllConnections();
      }),
  };
}
