import type { Random } from './random.ts';

export type RandomDocument = Record<string, unknown>;

/** The environment that the references of random documents name. */
export const RANDOM_ENVIRONMENT: Readonly<Record<string, string>> = {
  SECRET_A: 'a-first-secret',
  SECRET_B: 'a-second-secret',
  HEADER: 'Bearer a-third-secret',
};

/**
 * A declarative document out of small pools, so that two of them share, exchange and lose things; some say nothing of a
 * kind. What it refers to is usually in it.
 */
export function randomDocument(random: Random): RandomDocument {
  const document: RandomDocument = {};
  const models = some(random, 3, () => model(random)).filter(
    uniqueBy(({ name, version }) => `${name}@${version}`),
  );
  const devices = some(random, 3, () => device(random)).filter(uniqueBy(({ name }) => name));
  if (random.chance(0.9)) {
    document['peers'] = some(random, 5, () => peer(random))
      .filter(uniqueBy(({ name }) => name))
      .filter(uniqueBy((item) => `${item['peer-address']} ${item['peer-port']}`));
  }
  if (random.chance(0.9)) document['models'] = models;
  if (random.chance(0.9)) document['devices'] = devices;
  if (random.chance(0.9)) {
    document['subscriptions'] = some(random, 3, () => subscription(random, models, devices)).filter(
      uniqueBy(({ name }) => name),
    );
  }
  if (random.chance(0.5)) document['webhook'] = webhook(random);
  return document;
}

function peer(random: Random) {
  return {
    name: `p${random.below(6)}`,
    'peer-address': `127.0.1.${1 + random.below(6)}`,
    'peer-port': random.below(2) * 1790,
    'user-peer-as': random.pick(['65001', '0.65001']),
    ...(random.chance(0.5) ? { 'hold-time': random.pick([0, 30, 90]) } : {}),
    ...(random.chance(0.4) ? { 'auth-password': secret(random) } : {}),
    ...(random.chance(0.3) ? { description: random.pick(['', 'a', 'b: "c"']) } : {}),
  };
}

function device(random: Random) {
  const gnmi = random.chance(0.6);
  return {
    name: `d${random.below(6)}`,
    address: random.pick(['127.0.2.1', '127.0.2.2', 'leaf.example']),
    netos: random.pick(['srlinux', 'eos']),
    ...(random.chance(0.5) ? { labels: { role: random.pick(['leaf', 'spine']) } } : {}),
    ...(gnmi ? { gnmi: { username: 'u', ...(random.chance(0.6) ? { password: secret(random) } : {}) } } : {}),
    ...(gnmi ? {} : { snmp: { community: secret(random), retries: random.below(3) } }),
  };
}

function model(random: Random) {
  const fields = ['f1', 'f2', 'f3', 'f4', 'f5']
    .filter(() => random.chance(0.6))
    .map((name) => ({ name, type: random.pick(['string', 'uint32', 'counter64']) }));
  if (random.chance(0.5)) fields.reverse();
  const mappings = ['gnmi *', 'gnmi eos', 'snmp *']
    .filter(() => random.chance(0.5))
    .map((platform) => {
      const [protocol, netos] = platform.split(' ') as [string, string];
      const paths = fields
        .filter(() => random.chance(0.8))
        .map(({ name }) => [name, protocol === 'gnmi' ? `/a/${random.pick(['b', 'c'])}` : 'IF-MIB::ifMtu']);
      return { protocol, netos, field_mappings: Object.fromEntries(paths) };
    });
  return {
    name: `m${random.below(3)}`,
    version: random.pick(['1.0.0', '1.1.0', '2.0.0']),
    description: random.pick(['', 'x']),
    active: random.chance(0.5),
    fields,
    mappings,
  };
}

function subscription(
  random: Random,
  models: readonly { name: string; version: string }[],
  devices: readonly { name: string }[],
) {
  const chosen =
    models.length > 0 && random.chance(0.95) ? random.pick(models) : { name: 'm0', version: '1.0.0' };
  const names = devices.filter(() => random.chance(0.4)).map(({ name }) => name);
  return {
    name: `s${random.below(4)}`,
    'model-name': chosen.name,
    'model-version': random.chance(0.5) ? 'latest' : chosen.version,
    mode: 'sample',
    'interval-ms': random.pick([1_000, 10_000]),
    devices: { names, ...(random.chance(0.3) ? { labels: { role: 'leaf' } } : {}) },
    enabled: random.chance(0.5),
  };
}

function webhook(random: Random) {
  return {
    enabled: random.chance(0.5),
    config: {
      url: random.pick(['https://receiver.example/a', 'https://receiver.example/b']),
      ...(random.chance(0.5) ? { 'auth-header': { env: 'HEADER' } } : {}),
      ...(random.chance(0.5)
        ? {
            headers: {
              'X-Site': random.pick(['ber', 'muc']),
              ...(random.chance(0.5) ? { 'X-Key': secret(random) } : {}),
            },
          }
        : {}),
    },
  };
}

function secret(random: Random): { env: string; version?: number } {
  return { env: random.pick(['SECRET_A', 'SECRET_B']), ...(random.chance(0.2) ? { version: 2 } : {}) };
}

function some<Item>(random: Random, most: number, make: () => Item): Item[] {
  return Array.from({ length: random.below(most + 1) }, make);
}

function uniqueBy<Item>(key: (item: Item) => unknown): (item: Item) => boolean {
  const seen = new Set<unknown>();
  return (item) => !seen.has(key(item)) && seen.add(key(item)) !== undefined;
}
