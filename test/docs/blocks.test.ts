import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/**
 * By page and section: the test that types or compares its fenced blocks, or after a colon why nobody can. `*`: all sections.
 * The blocks of docs/api stand between markers; `test/openapi/examples.test.ts` makes them from recorded answers.
 */
const BLOCKS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'README.md': {
    '': ': a drawing',
    'Two commands': 'test/interop/docs/readme.ts',
    'Five minutes': 'test/interop/docs/readme.ts',
    'From a device to your receiver': 'test/interop/docs/readme.ts',
  },
  'CONTRIBUTING.md': { '': ': the names of the runs; .ci/run makes them' },
  'docs/architecture.md': { '': ': a drawing' },
  'docs/backup.md': {
    'The local run': 'test/interop/docs/backup-page.ts',
    Rotation: 'test/interop/docs/backup-page.ts',
  },
  'docs/bgp-fsm.md': { '': 'test/protocols/bgp/fsm.test.ts' },
  'docs/cli.md': {
    Install: 'test/interop/cases/cli.ts',
    Commands: 'test/cli/stack.test.ts',
    Files: 'test/cli/stack.test.ts',
    'plan and apply': 'test/cli/stack.test.ts',
  },
  'docs/cost.md': {
    '': 'test/interop/cases/cost.ts',
    'Where the numbers come from': 'test/interop/cases/cost.ts',
  },
  'docs/deploy.md': {
    'The first time': 'test/interop/deployed/deployment.ts',
    'Without Docker': 'test/interop/docs/deploy-page.ts',
    Routers: ': configuration of routers that nobody has here, and the page says so',
    'What the tests show, and what only AWS can': 'test/interop/docs/deploy-page.ts',
  },
  'docs/runbook.md': { '*': 'test/interop/docs/desk.ts' },
};

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync('docs')
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** Headings of the second level that have fenced blocks below them, `''` for what is above the first. */
function sectionsWithBlocks(page: string): string[] {
  return readFileSync(page, 'utf8')
    .split(/^## /m)
    .flatMap((text, index) =>
      /^```/m.test(text) ? [index === 0 ? '' : (text.split('\n', 1)[0] as string)] : [],
    );
}

describe('a fenced block of the documentation', () => {
  it.each(PAGES)('is typed or compared by a test, or it says why not: %s', (page) => {
    const known = BLOCKS[page] ?? {};
    const sections = sectionsWithBlocks(page);
    for (const section of sections) expect(known[section] ?? known['*'], `${page}: ${section}`).toBeDefined();
    const gone = Object.keys(known).filter((section) => section !== '*' && !sections.includes(section));
    expect(gone, `${page} has no such section with a block any more`).toEqual([]);
  });

  it('is typed by a test that reads its page', () => {
    for (const [page, sections] of Object.entries(BLOCKS)) {
      for (const by of Object.values(sections)) {
        if (by.startsWith(':')) continue;
        expect(existsSync(by), by).toBe(true);
        expect(readFileSync(by, 'utf8'), `${by} reads ${page}`).toContain(page);
      }
    }
  });
});
