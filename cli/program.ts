import { parseArgs } from 'node:util';
import { PRODUCT_VERSION } from '../contract/version.ts';
import { nearestName } from '../core/body.ts';
import { SECRET_MASK } from '../core/secret.ts';
import { networkClient } from './client.ts';
import type { Command, CommandContext, Flag, FlagValues } from './command.ts';
import { applyCommand } from './commands/apply.ts';
import { devicesCommand } from './commands/devices.ts';
import { exportCommand } from './commands/export.ts';
import { testCommand } from './commands/live-test.ts';
import { modelsCommand } from './commands/models.ts';
import { peersCommand } from './commands/peers.ts';
import { planCommand } from './commands/plan.ts';
import { subscriptionsCommand } from './commands/subscriptions.ts';
import { topologyCommand } from './commands/topology.ts';
import { watchCommand } from './commands/watch.ts';
import { EXIT, type ExitCode, Failure } from './exit-code.ts';
import { commandHelp, overview } from './help.ts';
import { readSettings, type SettingFlags } from './settings.ts';
import { printable, type Terminal, wrapped } from './terminal.ts';

export const COMMANDS: readonly Command[] = [
  planCommand,
  applyCommand,
  exportCommand,
  peersCommand,
  modelsCommand,
  devicesCommand,
  subscriptionsCommand,
  testCommand,
  topologyCommand,
  watchCommand,
];

/** Taken by every command, before or after its name. */
export const COMMON_FLAGS: Readonly<Record<string, Flag>> = {
  url: { type: 'string', value: 'URL', text: 'of the stack (GRATICULE_URL)' },
  'token-file': { type: 'string', value: 'FILE', text: 'holds the token (or GRATICULE_API_TOKEN)' },
  'ca-file': { type: 'string', value: 'FILE', text: 'an authority to trust (GRATICULE_CA_FILE)' },
  timeout: { type: 'string', value: 'SECONDS', text: 'for one answer, 60 (GRATICULE_TIMEOUT)' },
  output: { type: 'string', short: 'o', value: 'FORMAT', text: 'table or json (GRATICULE_OUTPUT)' },
  config: { type: 'string', value: 'FILE', text: 'settings (~/.config/graticule/config.yaml)' },
  'allow-http': { type: 'boolean', text: 'send token and secrets without encryption' },
  help: { type: 'boolean', short: 'h', text: 'about a command' },
  version: { type: 'boolean', short: 'V', text: 'of this program' },
};

export interface ProgramInput {
  /** Without the program's own name. */
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  readonly terminal: Terminal;
  /** Fires at the first Ctrl-C, with the Failure to end with as its reason. */
  readonly interrupt: AbortSignal;
}

/** Runs one command and says on standard error why it failed, if it did. Never throws. */
export async function runProgram(input: ProgramInput): Promise<ExitCode> {
  const hidden = new Set<string>();
  try {
    return await run(input, hidden);
  } catch (error) {
    const { terminal } = input;
    if (error instanceof Failure) {
      // Without a message nobody is there to read one.
      for (const line of error.message.split('\n').filter((text) => text !== ''))
        terminal.say(wrapped(`graticule: ${withoutSecrets(line, hidden)}`, terminal.columns, '  '));
      return error.exitCode;
    }
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    terminal.say(`graticule: this should not happen; please report it: ${withoutSecrets(what, hidden)}`);
    return EXIT.refused;
  }
}

async function run(input: ProgramInput, hidden: Set<string>): Promise<ExitCode> {
  const { terminal, interrupt } = input;
  const name = commandName(input.argv);
  const command = name === undefined || name === 'help' ? undefined : findCommand(name);
  const { words, flags } = parseFlags(input.argv, { ...COMMON_FLAGS, ...command?.flags });
  if (flags['version'] === true) {
    terminal.print(`graticule ${PRODUCT_VERSION}`);
    return EXIT.ok;
  }
  if (command === undefined || flags['help'] === true) {
    const topic = command ?? (words[1] === undefined ? undefined : findCommand(words[1]));
    terminal.print(
      topic === undefined
        ? overview(COMMANDS, COMMON_FLAGS, terminal.columns)
        : commandHelp(topic, terminal.columns),
    );
    // Nothing asked for is no success: a script that meant something must notice.
    return input.argv.length === 0 ? EXIT.usage : EXIT.ok;
  }
  const settings = readSettings(flags as SettingFlags, input.environment, input.workingDirectory);
  if (settings.token !== '') hidden.add(settings.token);
  const clientOf = (signal: AbortSignal) =>
    networkClient({
      ...settings,
      environment: input.environment,
      signal,
      onWait: (sentence) => terminal.say(wrapped(`graticule: ${sentence}`, terminal.columns, '  ')),
    });
  const context: CommandContext = {
    words: words.slice(1),
    flags,
    settings,
    terminal,
    environment: input.environment,
    workingDirectory: input.workingDirectory,
    interrupt,
    client: clientOf(interrupt),
    steadyClient: clientOf(new AbortController().signal),
    hide: (secret) => hidden.add(secret),
  };
  return command.run(context);
}

/** The first word that is no flag and no flag's value. */
function commandName(argv: readonly string[]): string | undefined {
  const flags = Object.assign({}, COMMON_FLAGS, ...COMMANDS.map((command) => command.flags));
  return parseArgs({ args: [...argv], options: optionsOf(flags), strict: false, allowPositionals: true })
    .positionals[0];
}

function findCommand(name: string): Command {
  const found = COMMANDS.find((command) => command.name === name);
  if (found !== undefined) return found;
  const nearest = nearestName(name, [...COMMANDS.map((command) => command.name), 'help']);
  const hint = nearest === undefined ? 'graticule help lists them' : `did you mean ${nearest}?`;
  throw new Failure(`there is no command "${printable(name)}"; ${hint}`, EXIT.usage);
}

/** Refuses what `known` does not have; a flag given twice counts the last time, unless it may be given often. */
function parseFlags(
  argv: readonly string[],
  known: Readonly<Record<string, Flag>>,
): { words: readonly string[]; flags: FlagValues } {
  const { tokens, values, positionals } = parseArgs({
    args: [...argv],
    options: optionsOf(known),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const flag = known[token.name];
    const written = printable(token.rawName);
    if (flag === undefined) {
      const nearest = nearestName(token.name, Object.keys(known));
      const hint = nearest === undefined ? 'see graticule help' : `did you mean --${nearest}?`;
      throw new Failure(`there is no flag ${written} here; ${hint}`, EXIT.usage);
    }
    const isMissing = token.value === undefined || (!token.inlineValue && token.value.startsWith('--'));
    if (flag.type === 'string' && isMissing) throw new Failure(`${written} needs a value`, EXIT.usage);
    if (flag.type === 'boolean' && token.value !== undefined)
      throw new Failure(`${written} takes no value`, EXIT.usage);
  }
  return { words: positionals, flags: values as FlagValues };
}

function optionsOf(flags: Readonly<Record<string, Flag>>) {
  return Object.fromEntries(
    Object.entries(flags).map(([name, { type, short, multiple }]) => [
      name,
      { type, ...(short === undefined ? {} : { short }), ...(multiple === true ? { multiple } : {}) },
    ]),
  );
}

/** A short value, such as `abc`, would be found everywhere; nobody is helped by a sentence of asterisks. */
const LEAST_HIDDEN_CHARACTERS = 4;

function withoutSecrets(sentence: string, hidden: ReadonlySet<string>): string {
  let clean = sentence;
  for (const secret of hidden) {
    if (secret.length >= LEAST_HIDDEN_CHARACTERS) clean = clean.replaceAll(secret, SECRET_MASK);
  }
  return clean;
}
