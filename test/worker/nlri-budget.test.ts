import { expect, it } from 'vitest';
import { NlriBudget } from '../../worker/nlri-budget.ts';

it('counts what all peers have together, and says when one more is too many', () => {
  const budget = new NlriBudget();
  expect(budget.account(1, 1_000_000)).toBe(true);
  budget.limit = 100;
  expect(budget.account(1, 60)).toBe(true);
  expect(budget.account(2, 40)).toBe(true);
  expect(budget.account(2, 41)).toBe(false);
  expect(budget.account(2, 0)).toBe(true);
  expect(budget.account(1, 100)).toBe(true);
  expect(budget.account(3, 1)).toBe(false);
});
