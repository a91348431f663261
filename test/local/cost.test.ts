import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formatCost, readCostInputs } from '../../local/cost.ts';
import { monthlyCost, NOTHING } from '../../local/cost-model.ts';
import { PRICES, PRICES_AS_OF } from '../../local/prices.ts';

const total = (argv: readonly string[]) =>
  monthlyCost(readCostInputs(argv)).reduce((sum, { dollars }) => sum + dollars, 0);

const SMALL = '--peers 10 --routers 1000 --changes-per-minute 10 --devices 100 --interval 60 --rows 30'.split(
  ' ',
);

describe('a month', () => {
  it('costs less than $20 empty, in a public network', () => {
    console.log(formatCost(NOTHING));
    expect(total([])).toBeLessThan(20);
  });

  it('costs less than $60 with 10 peers, 1,000 routers, 10 changes a minute and 100 devices in individual mode', () => {
    console.log(formatCost(readCostInputs(SMALL)));
    expect(total(SMALL)).toBeLessThan(60);
  });

  it('costs less in batch mode, and more in a private network', () => {
    expect(total([...SMALL, '--batch'])).toBeLessThan(total(SMALL));
    expect(total([...SMALL, '--network', 'private-nat'])).toBeGreaterThan(total(SMALL) + 28);
    expect(total([...SMALL, '--network', 'private'])).toBeGreaterThan(total(SMALL) + 60);
  });

  it('costs what docs/cost.md says', () => {
    const page = readFileSync('docs/cost.md', 'utf8');
    const rows = { empty: [], filled: SMALL, 'filled, `--batch`': [...SMALL, '--batch'] };
    for (const [name, argv] of Object.entries(rows)) {
      const dollars = ['public', 'private-nat', 'private'].map(
        (network) => `$${total([...argv, '--network', network]).toFixed(2)}`,
      );
      expect(page).toContain(`| ${name} | ${dollars.join(' | ')} |`);
    }
  });

  it('is reckoned with prices that each name the page where they were read', () => {
    expect(PRICES_AS_OF).toMatch(/^20\d\d-\d\d-\d\d$/);
    for (const [name, { dollars, source }] of Object.entries(PRICES)) {
      expect(dollars, name).toBeGreaterThan(0);
      expect(source, name).toMatch(/^https:\/\/\S+\/\S+/);
    }
  });

  it('names the option that is wrong', () => {
    expect(() => readCostInputs(['--peers', 'many'])).toThrow('--peers is many');
    expect(() => readCostInputs(['--interval', '0'])).toThrow('--interval is 0');
    expect(() => readCostInputs(['--network', 'moon'])).toThrow('--network is moon');
  });
});
