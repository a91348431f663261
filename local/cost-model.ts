/** What an installation costs in a month: calls counted in the local run, times list prices. Pure. */
import { ALARMS, type Alarm } from '../contract/alarms.ts';
import { GRANTS } from '../contract/grants.ts';
import { METRICS, type Metric } from '../contract/metrics.ts';
import { QUEUES } from '../contract/queues.ts';
import { SIZES } from '../contract/sizes.ts';
import { PACKING_MILLISECONDS } from '../worker/delivery/packer.ts';
import { PRICES, type PriceName } from './prices.ts';

export interface CostInputs {
  readonly peers: number;
  /** The network's; costs only while it is loaded, and storage. */
  readonly routers: number;
  /** Changes of the network in a minute; each is told by every peer. */
  readonly changesPerMinute: number;
  readonly devices: number;
  /** Of the one subscription that collects each device. */
  readonly intervalSeconds: number;
  /** Records of one device in one interval. */
  readonly rows: number;
  /** One request a cycle in place of one a record. */
  readonly batch: boolean;
  readonly network: 'public' | 'private' | 'private-nat';
  readonly workers: number;
  readonly apiRequestsPerMinute: number;
}

export const NOTHING: CostInputs = {
  peers: 0,
  routers: 0,
  changesPerMinute: 0,
  devices: 0,
  intervalSeconds: 60,
  rows: 0,
  batch: false,
  network: 'public',
  workers: 1,
  apiRequestsPerMinute: 0,
};

export const MONTH_HOURS = 730;
const MONTH_SECONDS = MONTH_HOURS * 3_600;

/** What runs and what it does in a month, in the units that AWS bills. */
export type Usage = Readonly<Record<PriceName, number>>;

/** Calls of one kind of activity, as the quota guard counts them; `npm run interop -- cost` measures each again. */
export interface Calls {
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly queueRequests: number;
}

/** A worker without anything to do, in a second: a reading of versions, a third of a heartbeat, what is read each minute. */
export const IDLE_WORKER_SECOND: Calls = {
  readUnits: 1 + 1 / 3 + 12 / 60,
  writeUnits: 1 / 3,
  // A receive of jobs waits for ten seconds.
  queueRequests: 1 / 10,
};

/** The engine's metrics, told by one worker each minute: five partitions read. */
export const METRICS_REPORT: Calls = { readUnits: 5, writeUnits: 0, queueRequests: 0 };

/** Statuses of up to a hundred are one item, written each ten seconds while counters move. */
const STATUS_CHUNK = 100;
const STATUS_EVERY_SECONDS = 10;
/** Compressed; octets of the first of an item, and of each more. */
export const PEER_STATUS_OCTETS = { first: 560, each: 31 };
export const DEVICE_STATUS_OCTETS = { first: 300, each: 15 };

/** One change of one object, told by one peer: a log item and the head; the log item is removed when it is an hour old. */
export const TOPOLOGY_CHANGE: Calls = { readUnits: 0, writeUnits: 2, queueRequests: 0 };
export const TOPOLOGY_REMOVAL: Calls = { readUnits: 0, writeUnits: 1, queueRequests: 0 };

/** One message from the worker to the receiver: two transactions of two items; sent, received, deleted. */
export const DELIVERY_MESSAGE: Calls = { readUnits: 1.3, writeUnits: 8, queueRequests: 3 };
/** The worker's own counters, at most so often. */
export const COLLECTED_COUNT: Calls = { readUnits: 0, writeUnits: 2, queueRequests: 0 };
const COLLECTED_EVERY_SECONDS = 10;

/** Lambda polls each queue by five connections, each waiting for 20 s; not to be seen locally. */
const LAMBDA_POLLERS = 5;
const LAMBDA_POLL_SECONDS = 20;
/** Of one invocation of the sender, with a receiver that answers in some tens of milliseconds. */
const SENDER_SECONDS = 0.1;
/** Of one request of the API; memory as in infrastructure. */
const API_SECONDS = 0.03;
const API_GIGABYTES = 0.5;

const SECRETS = 2;
/** One record as a body of its own with the request's and the answer's headers and its share of TLS; and in an array. */
const RECORD_OCTETS = { individual: 650, batch: 350 };
const METRICS_LINE_OCTETS = 700;

/** The fraction of a second between messages, when cycles come at random times and wait for each other. */
export function messagesPerSecond(cyclesPerSecond: number): number {
  return cyclesPerSecond === 0 ? 0 : 1 / (PACKING_MILLISECONDS / 1_000 + 1 / cyclesPerSecond);
}

/** The item's write units each time that a status of so many is written. */
export function statusWriteUnits(count: number, { first, each }: { first: number; each: number }): number {
  let units = 0;
  for (let left = count; left > 0; left -= STATUS_CHUNK) {
    units += Math.ceil((first + each * (Math.min(left, STATUS_CHUNK) - 1)) / 1_024);
  }
  return units;
}

/** Calls in so many seconds; everything but what happens once. */
export function callsIn(seconds: number, inputs: CostInputs): Calls {
  const { workers, peers, devices, changesPerMinute, intervalSeconds } = inputs;
  const changes = (changesPerMinute / 60) * peers;
  const cycles = devices / intervalSeconds;
  const messages = messagesPerSecond(cycles);
  const statusUnits =
    statusWriteUnits(peers, PEER_STATUS_OCTETS) + statusWriteUnits(devices, DEVICE_STATUS_OCTETS);
  const rates: [number, Calls][] = [
    [workers, IDLE_WORKER_SECOND],
    [1 / 60, METRICS_REPORT],
    [statusUnits / STATUS_EVERY_SECONDS, { readUnits: 0, writeUnits: 1, queueRequests: 0 }],
    [changes, TOPOLOGY_CHANGE],
    [changes, TOPOLOGY_REMOVAL],
    [messages, DELIVERY_MESSAGE],
    [devices > 0 ? workers / COLLECTED_EVERY_SECONDS : 0, COLLECTED_COUNT],
  ];
  const sum = (member: keyof Calls) =>
    seconds * rates.reduce((total, [rate, calls]) => total + rate * calls[member], 0);
  return {
    readUnits: sum('readUnits'),
    writeUnits: sum('writeUnits'),
    queueRequests: sum('queueRequests'),
  };
}

export function monthlyUsage(inputs: CostInputs): Usage {
  const calls = callsIn(MONTH_SECONDS, inputs);
  const consumers = Object.values(QUEUES).filter(({ consumer }) => consumer !== undefined).length;
  const messages = MONTH_SECONDS * messagesPerSecond(inputs.devices / inputs.intervalSeconds);
  const records = (MONTH_SECONDS / inputs.intervalSeconds) * inputs.devices * inputs.rows;
  const requests = (MONTH_SECONDS / 60) * inputs.apiRequestsPerMinute;
  const senderGigabytes = (QUEUES.deliveries.consumer?.memoryMegabytes ?? 0) / 1_024;
  const octets = records * (inputs.batch ? RECORD_OCTETS.batch : RECORD_OCTETS.individual);
  const isPrivate = inputs.network !== 'public';
  return {
    fargateCpuHour: (inputs.workers * SIZES.workerCpuUnits * MONTH_HOURS) / 1_024,
    fargateGigabyteHour: (inputs.workers * SIZES.workerMegabytes * MONTH_HOURS) / 1_024,
    publicAddressHour: isPrivate ? 0 : inputs.workers * MONTH_HOURS,
    natGatewayHour: inputs.network === 'private-nat' ? MONTH_HOURS : 0,
    natGatewayGigabyte: inputs.network === 'private-nat' ? octetsOfQueue(records) / 1e9 : 0,
    // SQS, Secrets Manager, CloudWatch Logs and two of ECR, in two zones; DynamoDB and S3 have gateways of their own.
    interfaceEndpointHour: inputs.network === 'private' ? 5 * 2 * MONTH_HOURS : 0,
    dynamodbWriteUnit: calls.writeUnits,
    dynamodbReadUnit: calls.readUnits + requests * 4,
    sqsRequest: calls.queueRequests + (consumers * LAMBDA_POLLERS * MONTH_SECONDS) / LAMBDA_POLL_SECONDS,
    lambdaRequest: messages + requests,
    lambdaGigabyteSecond:
      messages * SENDER_SECONDS * senderGigabytes + requests * API_SECONDS * API_GIGABYTES,
    customMetric: metricsOf(inputs),
    alarm: alarmMetrics(),
    logGigabyte:
      (inputs.workers * METRICS_LINE_OCTETS * MONTH_HOURS * 60 + messages * METRICS_LINE_OCTETS) / 1e9,
    secret: SECRETS,
    apiRequest: requests,
    outGigabyte: octets / 1e9,
  };
}

/** Records are compressed on their way to the queue. */
function octetsOfQueue(records: number): number {
  return records * 40;
}

function metricsOf(inputs: CostInputs): number {
  const all: readonly Metric[] = Object.values(METRICS);
  // While records flow, two more; what counts faults costs only in the hours in which there are some.
  return all.filter(({ reported }) => reported === 'always').length + (inputs.devices > 0 ? 2 : 0);
}

/** Principals whose errors no alarm watches: the worker is no function, and CloudFormation itself tells of the set-up. */
const WITHOUT_ALARM: readonly string[] = ['worker', 'setup'];

/** An alarm costs for each metric that it watches: those over every function, once a function. */
export function alarmMetrics(): number {
  const functions = Object.keys(GRANTS).filter((name) => !WITHOUT_ALARM.includes(name)).length;
  const alarms: readonly Alarm[] = ALARMS;
  return alarms.reduce(
    (sum, { dimensions }) =>
      sum +
      (Object.values(dimensions).some((value) => typeof value === 'object' && 'every' in value)
        ? functions
        : 1),
    0,
  );
}

const SERVICES: Readonly<Record<PriceName, string>> = {
  fargateCpuHour: 'Fargate',
  fargateGigabyteHour: 'Fargate',
  publicAddressHour: 'Network',
  natGatewayHour: 'Network',
  natGatewayGigabyte: 'Network',
  interfaceEndpointHour: 'Network',
  outGigabyte: 'Network',
  dynamodbWriteUnit: 'DynamoDB',
  dynamodbReadUnit: 'DynamoDB',
  sqsRequest: 'SQS',
  lambdaRequest: 'Lambda',
  lambdaGigabyteSecond: 'Lambda',
  customMetric: 'CloudWatch',
  alarm: 'CloudWatch',
  logGigabyte: 'CloudWatch',
  secret: 'Secrets Manager',
  apiRequest: 'API Gateway',
};

/** Dollars a month by service, in falling order. */
export function monthlyCost(inputs: CostInputs): { readonly service: string; readonly dollars: number }[] {
  const usage = monthlyUsage(inputs);
  const sums = new Map<string, number>();
  for (const name of Object.keys(usage) as PriceName[]) {
    const service = SERVICES[name];
    sums.set(service, (sums.get(service) ?? 0) + usage[name] * PRICES[name].dollars);
  }
  return [...sums]
    .map(([service, dollars]) => ({ service, dollars }))
    .toSorted((a, b) => b.dollars - a.dollars);
}
