/** `npm run cost -- --peers 10 --routers 1000 …`: what an installation of that size costs in a month, by service. */
import { parseArgs } from 'node:util';
import { type CostInputs, monthlyCost, monthlyUsage, NOTHING } from './cost-model.ts';
import { PRICES, PRICES_AS_OF, type PriceName } from './prices.ts';

const NUMBERS = {
  peers: 'peers',
  routers: 'routers',
  'changes-per-minute': 'changesPerMinute',
  devices: 'devices',
  interval: 'intervalSeconds',
  rows: 'rows',
  workers: 'workers',
  'api-requests-per-minute': 'apiRequestsPerMinute',
} as const satisfies Record<string, keyof CostInputs>;

/** Throws a sentence that names the option which is wrong. */
export function readCostInputs(argv: readonly string[]): CostInputs {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      ...Object.fromEntries(Object.keys(NUMBERS).map((name) => [name, { type: 'string' as const }])),
      batch: { type: 'boolean', default: false },
      network: { type: 'string', default: 'public' },
    },
  });
  const given = values as Record<string, string | boolean | undefined>;
  const numbers = Object.entries(NUMBERS).flatMap(([option, member]) => {
    const text = given[option];
    if (text === undefined) return [];
    const number = Number(text);
    const least = option === 'interval' || option === 'workers' ? 1 : 0;
    if (!(Number.isFinite(number) && number >= least)) {
      throw new Error(`--${option} is ${text}; give a number of at least ${least}`);
    }
    return [[member, number] as const];
  });
  const network = given['network'];
  if (network !== 'public' && network !== 'private' && network !== 'private-nat') {
    throw new Error(`--network is ${network}; give public, private or private-nat`);
  }
  return { ...NOTHING, ...Object.fromEntries(numbers), batch: given['batch'] === true, network };
}

export function formatCost(inputs: CostInputs): string {
  const usage = monthlyUsage(inputs);
  const lines = monthlyCost(inputs).filter(({ dollars }) => dollars > 0);
  const total = lines.reduce((sum, { dollars }) => sum + dollars, 0);
  const row = (left: string, dollars: number) => `${left.padEnd(44)}${`$${dollars.toFixed(2)}`.padStart(9)}`;
  const counted = (Object.keys(usage) as PriceName[])
    .filter((name) => usage[name] > 0)
    .map((name) =>
      row(
        `  ${Math.round(usage[name]).toLocaleString('en')} × ${PRICES[name].per}`.slice(0, 43),
        usage[name] * PRICES[name].dollars,
      ),
    );
  return [
    `A month in us-east-1 at list prices of ${PRICES_AS_OF}, without free tiers (docs/cost.md):`,
    ...lines.map(({ service, dollars }) => row(service, dollars)),
    row('Together', total),
    'made of',
    ...counted,
  ].join('\n');
}

if (import.meta.main) {
  try {
    console.log(formatCost(readCostInputs(process.argv.slice(2))));
  } catch (error) {
    console.error(`cost: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 2;
  }
}
