import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ALL_ROWS, COVERAGE_PAGE, coveragePage } from './coverage.ts';

describe('the coverage page', () => {
  it('is what the rows and vectors make it: run node test/protocols/bgp/ls/coverage.ts', () => {
    expect(readFileSync(COVERAGE_PAGE, 'utf8')).toBe(coveragePage());
  });

  it('has one row for each code point in each place', () => {
    const keys = ALL_ROWS.map((row) => `${row.code} in ${row.in}`);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
