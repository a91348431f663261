import { expect, it } from 'vitest';
import { Allowance } from '../../../worker/gnmi/allowance.ts';

it('an allowance takes a burst at once, then so much a second, and saves up no more than a burst', () => {
  const allowance = new Allowance(1_000, 2);
  expect(allowance.take(2_000, 0)).toBe(0);
  expect(allowance.take(500, 0)).toBe(500);
  expect(allowance.take(500, 500)).toBe(500);
  expect(allowance.take(0, 1_000)).toBe(0);
  expect(allowance.take(2_000, 60_000)).toBe(0);
  expect(allowance.take(1, 60_000)).toBe(1);
  // A wall clock that is set back gives nothing and takes nothing.
  expect(allowance.take(0, 0)).toBe(1);
});
