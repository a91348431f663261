import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Metafile, type Plugin } from 'esbuild';
import { BUNDLE_OPTIONS, bundleAll, LATER, ROOT } from '../../../infra/bundle.ts';
import type { TestCase } from '../../harness.ts';
import { type ColdStart, coldStart, type Endpoint, withTokenTable } from '../bundles/cold-start.ts';

/** Bytes of what a function has, minified: with DynamoDB's client alone, or with any other of the SDK beside it. */
const LIMIT_DYNAMODB = 480_000;
const LIMIT_MORE = 750_000;

/** Import time, as a multiple of that of middy and the same SDK clients alone; asserted a tenth above the worst that was measured. */
const TARGET_RATIO = 1.3;
const ASSERTED_RATIO = 1.25;

const RUNS = 15;

/** The class that each client package exports. */
const CLIENTS: Readonly<Record<string, string>> = {
  'client-dynamodb': 'DynamoDBClient',
  'client-s3': 'S3Client',
  'client-secrets-manager': 'SecretsManagerClient',
  'client-sqs': 'SQSClient',
};

interface Row {
  readonly name: string;
  readonly clients: readonly string[];
  /** Those that its import leaves to the request that wants them. */
  readonly laterClients: readonly string[];
  readonly bytes: number;
  /** Of the file that is loaded when it is wanted; 0 where there is none. */
  readonly laterBytes: number;
  readonly gzipBytes: number;
  readonly referenceBytes: number;
  readonly times: Medians;
}

function clientsIn(output: Metafile['outputs'][string]): string[] {
  const found = new Set<string>();
  for (const input of Object.keys(output.inputs)) {
    const client = /@aws-sdk\/(client-[a-z0-9-]+)\//.exec(input)?.[1];
    if (client !== undefined) found.add(client);
  }
  return [...found].sort();
}

/** Middy and these clients, each made, and nothing else: bundled with our options, and with what we cut out of the SDK or not. */
async function bundleReference(
  clients: readonly string[],
  outfile: string,
  plugins: readonly Plugin[],
): Promise<void> {
  const names = clients.map((client) => CLIENTS[client] as string);
  const imports = clients.map((client, index) => `import { ${names[index]} } from '@aws-sdk/${client}';`);
  const made = names.map((name) => `new ${name}({})`).join(', ');
  await build({
    ...BUNDLE_OPTIONS,
    plugins: [...plugins],
    stdin: {
      contents: `import middy from '@middy/core';\n${imports.join('\n')}\nexport const handler = middy().handler(async () => [${made}]);`,
      resolveDir: ROOT,
      sourcefile: 'reference.js',
    },
    outfile,
  });
}

/** Files of middy and clients. */
interface References {
  /** All clients that the function has, whole. */
  readonly whole: string;
  /** Those that its import loads, with the same cut out of them. */
  readonly loaded: string;
}

interface Medians extends ColdStart {
  readonly referenceMilliseconds: number;
  /** Of less: see `References`. */
  readonly loadedMilliseconds: number;
}

/** All in turn, so that whatever else the machine does meets each; the medians. */
async function compare(
  ours: string,
  name: string,
  { whole, loaded }: References,
  endpoint: Endpoint,
): Promise<Medians> {
  const imports: number[] = [];
  const answers: number[] = [];
  const references: number[] = [];
  const loadedReferences: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const { importMilliseconds, answeredMilliseconds } = await coldStart(ours, name, endpoint);
    imports.push(importMilliseconds);
    if (answeredMilliseconds !== undefined) answers.push(answeredMilliseconds);
    references.push((await coldStart(whole, 'reference', endpoint)).importMilliseconds);
    loadedReferences.push((await coldStart(loaded, 'reference', endpoint)).importMilliseconds);
  }
  const median = (values: number[]) => values.sort((a, b) => a - b)[RUNS >> 1] as number;
  return {
    importMilliseconds: median(imports),
    answeredMilliseconds: answers.length === 0 ? undefined : median(answers),
    referenceMilliseconds: median(references),
    loadedMilliseconds: median(loadedReferences),
  };
}

const ratioOf = ({ times }: Row): number => times.importMilliseconds / times.referenceMilliseconds;

/** Against less: the libraries, too, without what we cut out and what we load later. */
const loadedRatioOf = ({ times }: Row): number => times.importMilliseconds / times.loadedMilliseconds;

function tableOf(rows: readonly Row[]): string {
  const head = [
    '| Function | SDK clients | Minified | gzip | Import | middy and the same clients | Ratio | With the same cuts | Import and first request |',
    '|---|---|---|---|---|---|---|---|---|',
  ];
  const lines = rows.map((row) => {
    const names = (clients: readonly string[]) =>
      clients.map((client) => client.slice('client-'.length)).join(', ');
    const later = row.laterClients.length === 0 ? '' : `; later ${names(row.laterClients)}`;
    const { importMilliseconds, answeredMilliseconds, referenceMilliseconds } = row.times;
    const kilobytes = (bytes: number) => `${Math.round(bytes / 1_000)} KB`;
    const answered = answeredMilliseconds === undefined ? '' : `${answeredMilliseconds.toFixed(0)} ms`;
    const cells = [
      row.name,
      `${names(row.clients)}${later}`,
      row.laterBytes === 0 ? kilobytes(row.bytes) : `${kilobytes(row.bytes)}, ${kilobytes(row.laterBytes)}`,
      kilobytes(row.gzipBytes),
      `${importMilliseconds.toFixed(0)} ms`,
      `${referenceMilliseconds.toFixed(0)} ms, ${kilobytes(row.referenceBytes)}`,
      ratioOf(row).toFixed(2),
      loadedRatioOf(row).toFixed(2),
      answered,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [...head, ...lines].join('\n');
}

/** Puts the table where the page has the last one. */
function writePage(table: string): void {
  const page = join(ROOT, 'docs/benchmarks.md');
  const text = readFileSync(page, 'utf8');
  const replaced = text.replace(
    /(<!-- bundles: begin -->\n)[\s\S]*?(<!-- bundles: end -->)/,
    (_all, begin, end) => `${begin}${table}\n${end}`,
  );
  writeFileSync(page, replaced);
}

export const testCase: TestCase = {
  title: 'each function is small, and starts about as fast as its libraries alone',
  inCi: false,
  async run({ check, log, scratchDirectory }) {
    const { outputs } = await bundleAll(join(scratchDirectory, 'ours'));
    const laterOutput = Object.entries(outputs).find(([path]) => path.endsWith(`ours/${LATER}`))?.[1];
    const rows: Row[] = [];
    for (const [path, output] of Object.entries(outputs)) {
      const name = /functions\/([a-z-]+)\/index\.js$/.exec(path)?.[1];
      if (name === undefined) continue;
      const ours = join(scratchDirectory, 'ours/functions', name, 'index.js');
      const clients = clientsIn(output);
      const later = output.imports.some((imported) => imported.path === `./${LATER}`)
        ? laterOutput
        : undefined;
      const laterClients = later === undefined ? [] : clientsIn(later);
      const allClients = [...clients, ...laterClients].sort();
      const whole = join(scratchDirectory, `whole-${allClients.join('-')}.mjs`);
      await bundleReference(allClients, whole, []);
      const loaded = join(scratchDirectory, `loaded-${clients.join('-')}.mjs`);
      await bundleReference(clients, loaded, BUNDLE_OPTIONS.plugins);
      const times = await withTokenTable(scratchDirectory, (endpoint) =>
        compare(ours, name, { whole, loaded }, endpoint),
      );
      rows.push({
        name,
        clients,
        laterClients,
        bytes: output.bytes,
        laterBytes: later?.bytes ?? 0,
        gzipBytes: gzipSync(readFileSync(ours)).length,
        referenceBytes: statSync(whole).size,
        times,
      });
    }
    const table = tableOf(rows);
    for (const line of table.split('\n')) log(line);
    for (const { name, clients, laterClients, bytes, laterBytes } of rows) {
      const limit = clients.length + laterClients.length === 1 ? LIMIT_DYNAMODB : LIMIT_MORE;
      await check(`${name} is at most ${limit / 1_000} KB`, () =>
        assert.ok(bytes + laterBytes <= limit, `${bytes} and ${laterBytes} bytes`),
      );
    }
    const worst = Math.max(...rows.map(ratioOf));
    await check(
      `no import takes more than ${ASSERTED_RATIO} times its libraries' (target ${TARGET_RATIO})`,
      () => assert.ok(worst <= ASSERTED_RATIO, `${worst}`),
    );
    writePage(table);
    log(`ratio ${worst.toFixed(2)}`);
  },
};
