import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const PAGE = readFileSync('docs/threat-model.md', 'utf8');

const ROWS = PAGE.split('\n')
  .filter((line) => /^\| [STRIDE]/.test(line) && !line.startsWith('| Threat'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

describe('the threat model', () => {
  it('has a boundary for each side of the product, and every kind of STRIDE', () => {
    const kinds = new Set(ROWS.flatMap(([, kind = '']) => kind.split(', ')));
    expect([...kinds].sort()).toEqual(['D', 'E', 'I', 'R', 'S', 'T']);
    expect(PAGE.match(/^## /gm)?.length).toBeGreaterThanOrEqual(7);
  });

  for (const [, kind, threat = '', answer = '', shownBy = ''] of ROWS) {
    it(`${kind}: ${threat}: is answered, and what shows it exists`, () => {
      expect(answer).not.toBe('');
      const tests = shownBy.split(' · ').map((each) => /^`(test\/[^`]+)` › (.+)$/.exec(each));
      for (const named of tests) {
        const [, file = '', title = ''] = named ?? [];
        expect(existsSync(file), `${shownBy} names a file`).toBe(true);
        expect(readFileSync(file, 'utf8').replaceAll("\\'", "'"), title).toContain(title);
      }
    });
  }
});
