import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Metafile } from 'esbuild';
import { BUNDLE_OPTIONS, bundleAll, ROOT } from '../../../infra/bundle.ts';
import type { TestCase } from '../../harness.ts';

/** Bytes of a minified bundle: with DynamoDB's client alone, or with any other of the SDK beside it. */
const LIMIT_DYNAMODB = 480_000;
const LIMIT_MORE = 750_000;

/** Import time, as a multiple of that of middy and the same SDK clients alone; asserted a tenth above the worst that was measured. */
const TARGET_RATIO = 1.3;
const ASSERTED_RATIO = 1.8;

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
  readonly bytes: number;
  readonly gzipBytes: number;
  readonly milliseconds: number;
  readonly referenceBytes: number;
  readonly referenceMilliseconds: number;
}

function clientsIn(output: Metafile['outputs'][string]): string[] {
  const found = new Set<string>();
  for (const input of Object.keys(output.inputs)) {
    const client = /@aws-sdk\/(client-[a-z0-9-]+)\//.exec(input)?.[1];
    if (client !== undefined) found.add(client);
  }
  return [...found].sort();
}

/** Middy and these clients, each made, and nothing else: bundled as ours are. */
async function bundleReference(clients: readonly string[], outfile: string): Promise<void> {
  const names = clients.map((client) => CLIENTS[client] as string);
  const imports = clients.map((client, index) => `import { ${names[index]} } from '@aws-sdk/${client}';`);
  const made = names.map((name) => `new ${name}({})`).join(', ');
  await build({
    ...BUNDLE_OPTIONS,
    stdin: {
      contents: `import middy from '@middy/core';\n${imports.join('\n')}\nexport const handler = middy().handler(async () => [${made}]);`,
      resolveDir: ROOT,
      sourcefile: 'reference.js',
    },
    outfile,
  });
}

/** Milliseconds of processor time in which a fresh process imports a bundle, as Lambda does at a cold start. */
function importMilliseconds(file: string): number {
  const script = `const began = process.cpuUsage(); await import(${JSON.stringify(file)}); const { user, system } = process.cpuUsage(began); console.log((user + system) / 1000);`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
    env: { AWS_REGION: 'eu-central-1' },
    encoding: 'utf8',
  });
  return Number(printed);
}

/** Both in turn, so that whatever else the machine does meets both; the medians. */
function compare(ours: string, reference: string): [number, number] {
  const times: [number[], number[]] = [[], []];
  for (let run = 0; run < RUNS; run += 1) {
    times[0].push(importMilliseconds(ours));
    times[1].push(importMilliseconds(reference));
  }
  const median = (values: number[]) => values.sort((a, b) => a - b)[RUNS >> 1] as number;
  return [median(times[0]), median(times[1])];
}

function tableOf(rows: readonly Row[]): string {
  const head = [
    '| Function | SDK clients | Minified | gzip | Import | middy and the same clients | Ratio |',
    '|---|---|---|---|---|---|---|',
  ];
  const lines = rows.map((row) => {
    const clients = row.clients.map((client) => client.slice('client-'.length)).join(', ');
    const ratio = (row.milliseconds / row.referenceMilliseconds).toFixed(2);
    const kilobytes = (bytes: number) => `${Math.round(bytes / 1_000)} KB`;
    const reference = `${row.referenceMilliseconds.toFixed(0)} ms, ${kilobytes(row.referenceBytes)}`;
    return `| ${row.name} | ${clients} | ${kilobytes(row.bytes)} | ${kilobytes(row.gzipBytes)} | ${row.milliseconds.toFixed(0)} ms | ${reference} | ${ratio} |`;
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
    const rows: Row[] = [];
    for (const [path, output] of Object.entries(outputs)) {
      const name = /functions\/([a-z-]+)\/index\.js$/.exec(path)?.[1];
      if (name === undefined) continue;
      const ours = join(scratchDirectory, 'ours/functions', name, 'index.js');
      const clients = clientsIn(output);
      const reference = join(scratchDirectory, `reference-${clients.join('-')}.mjs`);
      await bundleReference(clients, reference);
      const [milliseconds, referenceMilliseconds] = compare(ours, reference);
      rows.push({
        name,
        clients,
        bytes: output.bytes,
        gzipBytes: gzipSync(readFileSync(ours)).length,
        milliseconds,
        referenceBytes: statSync(reference).size,
        referenceMilliseconds,
      });
    }
    const table = tableOf(rows);
    for (const line of table.split('\n')) log(line);
    for (const { name, clients, bytes } of rows) {
      const limit = clients.length === 1 ? LIMIT_DYNAMODB : LIMIT_MORE;
      await check(`${name} is at most ${limit / 1_000} KB`, () =>
        assert.ok(bytes <= limit, `${bytes} bytes`),
      );
    }
    const worst = Math.max(...rows.map((row) => row.milliseconds / row.referenceMilliseconds));
    await check(
      `no import takes more than ${ASSERTED_RATIO} times its libraries' (target ${TARGET_RATIO})`,
      () => assert.ok(worst <= ASSERTED_RATIO, `${worst}`),
    );
    writePage(table);
    log(`ratio ${worst.toFixed(2)}`);
  },
};
