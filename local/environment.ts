import { isIP, isIPv4 } from 'node:net';
import { resolve } from 'node:path';
import { asNumberRefusal, parseAsNumber } from '../core/as-number.ts';

/** What the local run is told, by environment variables. */
export interface LocalSettings {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  /** Absolute. */
  readonly dataDirectory: string;
  /** `''`: one is made at the first start and kept. */
  readonly apiToken: string;
  readonly localAs: string;
  readonly routerId: string;
  /** `''`: no worker listens. */
  readonly bgpListen: string;
  readonly workers: number;
  /** A DynamoDB other than the emulator that comes with us. */
  readonly dynamodbEndpoint: string | undefined;
}

/** Sentences for the person who set the variables, each naming one. */
export class EnvironmentError extends Error {
  readonly sentences: readonly string[];
  constructor(sentences: readonly string[]) {
    super(sentences.join('\n'));
    this.sentences = sentences;
  }
}

export const MAXIMUM_WORKERS = 16;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings of the local run; an empty variable is as good as none. `hasEmulator`: a DynamoDB emulator is
 * installed for this platform. Throws an EnvironmentError that names everything that is wrong at once.
 */
export function readSettings(environment: Environment, hasEmulator: boolean): LocalSettings {
  const wrong: string[] = [];
  const given = (name: string): string => environment[name]?.trim() ?? '';
  const refuse = (name: string, why: string) => {
    wrong.push(`${name} is ${JSON.stringify(given(name))}: ${why}.`);
  };
  const integer = (name: string, fallback: number, least: number, most: number): number => {
    const text = given(name);
    if (text === '') return fallback;
    const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    refuse(name, `give a whole number from ${least} to ${most}`);
    return fallback;
  };

  const host = given('GRATICULE_HOST') || '127.0.0.1';
  if (isIP(host) === 0 && host !== 'localhost') {
    refuse('GRATICULE_HOST', 'give an IP address of this machine, or localhost');
  } else if (!isLoopback(host) && given('GRATICULE_ALLOW_PLAIN_HTTP') !== '1') {
    refuse(
      'GRATICULE_HOST',
      'other machines could reach it, and tokens and passwords would cross the network in clear; put a TLS proxy before 127.0.0.1, or set GRATICULE_ALLOW_PLAIN_HTTP=1 if the network is private',
    );
  }
  const apiToken = given('GRATICULE_API_TOKEN');
  if (apiToken !== '' && !/^[A-Za-z0-9\-._~+/]{16,512}=*$/.test(apiToken)) {
    // Not quoted back: it is a secret.
    wrong.push(
      'GRATICULE_API_TOKEN is not usable: give 16 to 512 of the characters that a bearer token may have (letters, digits, - . _ ~ + /).',
    );
  }
  const localAs = given('GRATICULE_LOCAL_AS');
  if (localAs !== '') {
    const number = parseAsNumber(localAs);
    const why =
      number === undefined
        ? 'give an AS number such as 65001, 4200000001 or 0.65001'
        : asNumberRefusal(number);
    if (why !== undefined) refuse('GRATICULE_LOCAL_AS', why);
  }
  const routerId = given('GRATICULE_ROUTER_ID');
  if (routerId !== '' && (!isIPv4(routerId) || routerId === '0.0.0.0')) {
    refuse('GRATICULE_ROUTER_ID', 'give four octets such as 10.0.0.1, not all zero');
  }
  const bgpListen = given('GRATICULE_BGP_LISTEN');
  if (bgpListen !== '' && !bgpListen.split(',').every(isListenAddress)) {
    refuse('GRATICULE_BGP_LISTEN', 'give address:port, several joined by commas, IPv6 in brackets');
  }
  const endpoint = given('AWS_ENDPOINT_URL_DYNAMODB');
  if (endpoint !== '' && !isHttpUrl(endpoint)) {
    refuse('AWS_ENDPOINT_URL_DYNAMODB', 'give the http URL of a DynamoDB emulator');
  }
  if (endpoint === '' && !hasEmulator) {
    wrong.push(
      'AWS_ENDPOINT_URL_DYNAMODB is not set, and the DynamoDB emulator that comes with this product runs on Linux x64 only: start another one (DynamoDB Local, or any that speaks its API) and set the variable to its URL, e.g. http://127.0.0.1:8000.',
    );
  }
  const settings: LocalSettings = {
    host,
    port: integer('GRATICULE_PORT', 8080, 0, 65_535),
    dataDirectory: resolve(given('GRATICULE_DATA_DIR') || '.graticule'),
    apiToken,
    localAs,
    routerId,
    bgpListen,
    workers: integer('GRATICULE_WORKERS', 1, 0, MAXIMUM_WORKERS),
    dynamodbEndpoint: endpoint === '' ? undefined : endpoint,
  };
  if (wrong.length > 0) throw new EnvironmentError(wrong);
  return settings;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

function isListenAddress(text: string): boolean {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text.trim());
  if (match === null) return false;
  const [, v6, v4, port] = match;
  const known = v6 === undefined ? isIPv4(v4 ?? '') : isIP(v6) === 6;
  return known && Number(port) >= 1 && Number(port) <= 65_535;
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
