import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const DOCUMENT = new URL('../../docs/interop.md', import.meta.url);

const PREAMBLE = `# Interoperability

Written by \`npm run interop\`: what the sessions of Graticule do with other BGP speakers, each case against a daemon
process of its own. Daemons without link state run the very same driver with IPv4 unicast in place of it, a switch that
only tests can reach; their routes are discarded.
`;

/** Puts one speaker's outcomes into docs/interop.md, in place of those of the run before. */
export function writeInteropSection(
  name: string,
  version: string,
  rows: ReadonlyArray<{ title: string; outcome: string }>,
): void {
  const before = existsSync(DOCUMENT) ? readFileSync(DOCUMENT, 'utf8') : PREAMBLE;
  const [preamble = PREAMBLE, ...sections] = before.split(/^(?=## )/m);
  const lines = rows.map(({ title, outcome }) => `| ${title} | ${outcome} |`);
  const section = `## ${name}\n\n${version}\n\n| Case | Outcome |\n|---|---|\n${lines.join('\n')}\n`;
  const others = sections
    .filter((each) => !each.startsWith(`## ${name}\n`))
    .map((each) => `${each.trim()}\n`);
  const sorted = [...others, section].sort();
  writeFileSync(DOCUMENT, [`${preamble.trim()}\n`, ...sorted].join('\n'));
}
