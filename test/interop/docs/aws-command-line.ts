/** The AWS command line, as a reader of the runbook has it: pointed at the emulators of a stack, or at one of an account. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AWS_COMMAND_LINE, pythonEnvironment } from '../../support/install.ts';

type Environment = Readonly<Record<string, string>>;

/** What the local run has no emulator of. */
const ACCOUNT_SERVICES = ['cloudwatch', 'lambda'];

export class AwsCommandLine {
  /** The folder that belongs on the PATH. */
  readonly bin: string;
  private readonly folder: string;

  /** @param dataDirectory of the local run, which writes there where its emulators listen */
  constructor(folder: string, dataDirectory: string) {
    this.folder = folder;
    this.bin = join(folder, 'bin');
    mkdirSync(this.bin, { recursive: true });
    const aws = join(pythonEnvironment([AWS_COMMAND_LINE]), 'aws');
    const program = join(this.bin, 'aws');
    writeFileSync(
      program,
      `#!/bin/sh
set -a
case $1 in ${ACCOUNT_SERVICES.join('|')}) . '${folder}/account.env' ;; *) . '${folder}/stack.env' ;; esac
exec '${aws}' "$@"
`,
    );
    chmodSync(program, 0o755);
    const stack: Environment = JSON.parse(readFileSync(join(dataDirectory, 'environment.json'), 'utf8'));
    this.write('stack.env', { ...stack, AWS_DEFAULT_REGION: stack['AWS_REGION'] ?? '' });
  }

  /** From here on the services of an account are asked of an emulator of one. */
  useAccount(environment: Environment): void {
    this.write(
      'account.env',
      Object.fromEntries(Object.entries(environment).filter(([name]) => name.startsWith('AWS_'))),
    );
  }

  private write(name: string, environment: Environment): void {
    const lines = Object.entries(environment).map(([variable, value]) => `${variable}='${value}'\n`);
    writeFileSync(join(this.folder, name), lines.join(''));
  }
}
