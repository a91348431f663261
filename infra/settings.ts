import { isIPv4 } from 'node:net';
import { SIZES } from '../contract/sizes.ts';

/** How workers reach routers and AWS; docs/deploy.md tells what each costs and what it does to sessions. */
export type NetworkKind = 'public' | 'private' | 'private-nat';

/** What a deployment is told, by CDK context (`-c network=private`, or `context` in cdk.json). */
export interface Settings {
  /** The stack's name, for a second deployment in one account and region. */
  readonly name: string;
  /** `production`: whatever holds data outlives the stack. `development`: all goes with it. */
  readonly stage: 'production' | 'development';
  readonly network: NetworkKind;
  /** Of the VPC. */
  readonly cidr: string;
  /** The worker's image, made elsewhere; `''`: CDK builds it with Docker from the Dockerfile. */
  readonly image: string;
  readonly workers: number;
  readonly workerCpuUnits: number;
  readonly workerMegabytes: number;
  /** Ranges whose routers may open sessions to the workers; none: workers do not listen. */
  readonly bgpListenFrom: readonly string[];
  /** `''`: each session uses its peer's AS. */
  readonly localAs: string;
  /** `''`: one is made. */
  readonly routerId: string;
  /** Private ranges that the webhook may reach. */
  readonly webhookAllow: readonly string[];
  /** Receives every alarm; `''`: nobody does. */
  readonly alarmEmail: string;
  /** Whose rights a deployment uses: the roles that `cdk bootstrap` made, or the caller's own. */
  readonly rights: 'bootstrap' | 'caller';
}

/** Each setting, and what it is when nobody says. */
const DEFAULTS = {
  name: 'Graticule',
  stage: 'production',
  network: 'public',
  cidr: '10.142.0.0/24',
  image: '',
  workers: String(SIZES.workerCount),
  'worker-cpu': String(SIZES.workerCpuUnits),
  'worker-memory': String(SIZES.workerMegabytes),
  'bgp-listen-from': '',
  'local-as': '',
  'router-id': '',
  'webhook-allow': '',
  'alarm-email': '',
  rights: 'bootstrap',
} as const;

type Name = keyof typeof DEFAULTS;

export const SETTING_NAMES = Object.keys(DEFAULTS) as Name[];

/** vCPU units, and the GiB that Fargate has with them. */
const FARGATE_GIGABYTES: Readonly<Record<number, readonly number[]>> = {
  256: [0.5, 1, 2],
  512: [1, 2, 3, 4],
  1024: [2, 3, 4, 5, 6, 7, 8],
  2048: Array.from({ length: 13 }, (_, index) => index + 4),
  4096: Array.from({ length: 23 }, (_, index) => index + 8),
};

/** An image in ECR: account, region, repository, and tag or digest. */
export const ECR_IMAGE = /^(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com\/([^:@]+)[:@](.+)$/;

/** Reads the settings. Throws one error that names everything that is wrong. */
export function readSettings(context: (name: string) => unknown): Settings {
  const wrong: string[] = [];
  const text = (name: Name): string => String(context(name) ?? DEFAULTS[name]).trim();
  const refuse = (name: Name, why: string) => wrong.push(`-c ${name}=${text(name)}: ${why}`);
  const oneOf = <Value extends string>(name: Name, values: readonly Value[]): Value => {
    const found = values.find((value) => value === text(name));
    if (found === undefined) refuse(name, `give ${values.join(', or ')}`);
    return found ?? (values[0] as Value);
  };
  const integer = (name: Name, least: number, most: number): number => {
    const value = /^\d{1,6}$/.test(text(name)) ? Number(text(name)) : Number.NaN;
    if (!(value >= least && value <= most)) refuse(name, `give a whole number from ${least} to ${most}`);
    return value;
  };
  const ranges = (name: Name): string[] => {
    const list = text(name)
      .split(',')
      .filter((range) => range !== '');
    if (!list.every(isRange)) refuse(name, 'give IPv4 ranges such as 10.0.0.0/8, joined by commas');
    return list;
  };

  const settings: Settings = {
    name: text('name'),
    stage: oneOf('stage', ['production', 'development']),
    network: oneOf('network', ['public', 'private', 'private-nat']),
    cidr: text('cidr'),
    image: text('image'),
    workers: integer('workers', 0, 16),
    workerCpuUnits: integer('worker-cpu', 256, 4_096),
    workerMegabytes: integer('worker-memory', 512, 30_720),
    bgpListenFrom: ranges('bgp-listen-from'),
    localAs: text('local-as'),
    routerId: text('router-id'),
    webhookAllow: ranges('webhook-allow'),
    alarmEmail: text('alarm-email'),
    rights: oneOf('rights', ['bootstrap', 'caller']),
  };
  if (!/^[A-Za-z][A-Za-z0-9-]{0,40}$/.test(settings.name)) {
    refuse('name', 'give letters, digits and hyphens, a letter first, at most 41');
  }
  const prefix = Number(settings.cidr.split('/')[1]);
  if (!isRange(settings.cidr) || prefix < 16 || prefix > 26)
    refuse('cidr', 'give an IPv4 range of /16 to /26');
  const gigabytes = FARGATE_GIGABYTES[settings.workerCpuUnits];
  if (gigabytes === undefined)
    refuse('worker-cpu', `Fargate has ${Object.keys(FARGATE_GIGABYTES).join(', ')}`);
  else if (!gigabytes.includes(settings.workerMegabytes / 1_024)) {
    refuse('worker-memory', `with that CPU Fargate has ${gigabytes.map((size) => size * 1_024).join(', ')}`);
  }
  if (settings.routerId !== '' && (!isIPv4(settings.routerId) || settings.routerId === '0.0.0.0')) {
    refuse('router-id', 'give four octets such as 10.0.0.1, not all zero');
  }
  if (!/^(\d{1,10}|\d{1,5}\.\d{1,5})?$/.test(settings.localAs)) {
    refuse('local-as', 'give an AS number such as 65001, 4200000001 or 0.65001');
  }
  if (settings.network === 'private' && settings.image !== '' && !ECR_IMAGE.test(settings.image)) {
    refuse('image', 'give one in ECR: workers of network=private reach no other registry');
  }
  if (!/^([^@\s]+@[^@\s]+)?$/.test(settings.alarmEmail)) refuse('alarm-email', 'give a mail address');
  if (wrong.length > 0) throw new Error(`these settings cannot be used:\n${wrong.join('\n')}`);
  return settings;
}

function isRange(text: string): boolean {
  const [address, prefix] = text.split('/');
  return isIPv4(address ?? '') && /^\d{1,2}$/.test(prefix ?? '') && Number(prefix) <= 32;
}
