/** Where the stack is and how to speak to it: by flag, else environment, else file, else what `npm start` here made. */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import { EXIT, Failure } from './exit-code.ts';
import { isLoopback } from './loopback.ts';

export type OutputFormat = 'table' | 'json';

export interface Settings {
  readonly url: URL;
  readonly token: string;
  /** Where the token was found, as the end of a sentence; `''` without one. */
  readonly tokenIsFrom: string;
  /** PEM text of authorities trusted beside the system's. */
  readonly ca: string | undefined;
  readonly timeoutMilliseconds: number;
  readonly output: OutputFormat;
}

/** As the command line gives them. */
export interface SettingFlags {
  readonly url?: string | undefined;
  readonly 'token-file'?: string | undefined;
  readonly 'ca-file'?: string | undefined;
  readonly timeout?: string | undefined;
  readonly output?: string | undefined;
  readonly config?: string | undefined;
  readonly 'allow-http'?: boolean | undefined;
}

const configFile = z.strictObject({
  url: z.string().optional(),
  'token-file': z.string().optional(),
  'ca-file': z.string().optional(),
  timeout: z.union([z.string(), z.number()]).transform(String).optional(),
  output: z.string().optional(),
  'allow-http': z.boolean().optional(),
});

const LOCAL_URL = 'http://127.0.0.1:8080';
const LOCAL_TOKEN_FILE = '.graticule/token';
const DEFAULT_TIMEOUT_SECONDS = 60;

/** Throws a `Failure` that names the setting and where it was found. */
export function readSettings(
  flags: SettingFlags,
  environment: Readonly<Record<string, string | undefined>>,
  workingDirectory: string,
): Settings {
  const file = readConfigFile(flags.config, environment, workingDirectory);
  const setting = (flag: keyof SettingFlags & keyof typeof file.values, variable: string) => {
    const flagged = flags[flag];
    if (flagged !== undefined) return { value: String(flagged), from: `--${flag}`, base: workingDirectory };
    const exported = environment[variable];
    if (exported !== undefined && exported !== '')
      return { value: exported, from: variable, base: workingDirectory };
    const written = file.values[flag];
    return written === undefined
      ? undefined
      : { value: String(written), from: file.path, base: dirname(file.path) };
  };
  const output = setting('output', 'GRATICULE_OUTPUT');
  if (output !== undefined && output.value !== 'table' && output.value !== 'json')
    throw usage(`${output.from} asks for output "${output.value}"; it is table or json`);
  const timeout = setting('timeout', 'GRATICULE_TIMEOUT');
  const seconds = timeout === undefined ? DEFAULT_TIMEOUT_SECONDS : Number(timeout.value);
  if (!(seconds >= 1 && seconds <= 3_600))
    throw usage(`${timeout?.from} is "${timeout?.value}"; a time-out is 1 to 3600 seconds`);
  const url = parseUrl(setting('url', 'GRATICULE_URL') ?? { value: LOCAL_URL, from: 'the default' });
  const allowsHttp = flags['allow-http'] ?? file.values['allow-http'] ?? false;
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !allowsHttp) {
    throw usage(
      `${url.href} is not encrypted, and the token and secrets would go over the network in clear; use https, or say --allow-http`,
    );
  }
  const ca = setting('ca-file', 'GRATICULE_CA_FILE');
  return {
    url,
    ...readToken(setting('token-file', 'GRATICULE_TOKEN_FILE'), flags, environment, workingDirectory, url),
    ca: ca === undefined ? undefined : readText(resolve(ca.base, ca.value), ca.from),
    timeoutMilliseconds: seconds * 1000,
    output: output === undefined ? 'table' : (output.value as OutputFormat),
  };
}

function readToken(
  file: { value: string; from: string; base: string } | undefined,
  flags: SettingFlags,
  environment: Readonly<Record<string, string | undefined>>,
  workingDirectory: string,
  url: URL,
): { token: string; tokenIsFrom: string } {
  const exported = environment['GRATICULE_API_TOKEN'] ?? '';
  if (exported !== '' && flags['token-file'] === undefined) {
    return { token: checkedToken(exported, 'GRATICULE_API_TOKEN'), tokenIsFrom: 'GRATICULE_API_TOKEN' };
  }
  if (file !== undefined) {
    const path = resolve(file.base, file.value);
    return { token: checkedToken(readText(path, file.from).trim(), path), tokenIsFrom: path };
  }
  const local = join(workingDirectory, LOCAL_TOKEN_FILE);
  // The token of the run that was started here goes to this machine only.
  if (isLoopback(url.hostname) && existsSync(local)) {
    const token = checkedToken(readText(local, LOCAL_TOKEN_FILE).trim(), LOCAL_TOKEN_FILE);
    return { token, tokenIsFrom: LOCAL_TOKEN_FILE };
  }
  return { token: '', tokenIsFrom: '' };
}

/** What cannot be in a header would be quoted by Node's own error. */
function checkedToken(token: string, from: string): string {
  if (/^[\x21-\x7e]{1,4096}$/.test(token)) return token;
  throw usage(`${from} holds no token: a token is one word of printable characters`);
}

function readConfigFile(
  flag: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  workingDirectory: string,
): { readonly path: string; readonly values: z.output<typeof configFile> } {
  const named = flag ?? (environment['GRATICULE_CONFIG'] || undefined);
  const home = environment['XDG_CONFIG_HOME'] || join(environment['HOME'] ?? homedir(), '.config');
  const path = resolve(workingDirectory, named ?? join(home, 'graticule', 'config.yaml'));
  if (named === undefined && !existsSync(path)) return { path, values: {} };
  const text = readText(path, flag === undefined ? 'GRATICULE_CONFIG' : '--config');
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    throw usage(`${path} is not YAML: ${String((error as Error).message).split('\n')[0]}`);
  }
  const result = configFile.safeParse(content ?? {});
  if (result.success) return { path, values: result.data };
  const issue = result.error.issues[0];
  const isUnknown = issue?.code === 'unrecognized_keys';
  const member = isUnknown ? issue.keys.join(', ') : issue?.path.join('.');
  const hint = Object.keys(configFile.shape).join(', ');
  throw usage(
    isUnknown
      ? `${path}: ${member} is no setting; there are ${hint}`
      : `${path}: ${member ?? 'its content'} is not of the right type`,
  );
}

function parseUrl({ value, from }: { value: string; from: string }): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw usage(`${from} is "${value}"; a URL is as https://graticule.example`);
  if (url.username !== '' || url.password !== '')
    throw usage(`the URL from ${from} holds a user or password; the token has its own setting`);
  if (url.search !== '' || url.hash !== '') throw usage(`the URL from ${from} has a query or a fragment`);
  return url;
}

function readText(path: string, from: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw usage(`${path}, named by ${from}, cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

function usage(message: string): Failure {
  return new Failure(message, EXIT.usage);
}
