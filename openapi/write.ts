/** `npm run openapi`: writes the document where people read it and where `functions/engine` serves it from, and the examples of docs/api. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openApiDocument } from './document.ts';
import type { Example } from './example.ts';
import { withExamples } from './pages.ts';

const root = resolve(import.meta.dirname, '..');
const examples = JSON.parse(readFileSync(resolve(root, 'openapi/examples.json'), 'utf8')) as Example[];
const document = openApiDocument(examples);

writeFileSync(resolve(root, 'docs/openapi.json'), `${JSON.stringify(document, null, 2)}\n`);

const packed = gzipSync(JSON.stringify(document), { level: 9 }).toString('base64');
writeFileSync(
  resolve(root, 'functions/openapi-document.ts'),
  `/** docs/openapi.json, gzip'd, in base64. Written by \`npm run openapi\`. */
export const OPENAPI_GZIP_BASE64 =
  '${packed}';
`,
);
console.log(
  `docs/openapi.json: ${Object.keys(document['paths'] as object).length} paths, ${packed.length} characters packed`,
);

const pages = resolve(root, 'docs/api');
for (const name of readdirSync(pages)) {
  const path = resolve(pages, name);
  const page = readFileSync(path, 'utf8');
  const written = withExamples(page, examples);
  if (written !== page) writeFileSync(path, written);
}
