import { expect, it } from 'vitest';
import { warmUp } from '../../../worker/bgp/warm-up.ts';

it('goes through its made UPDATEs, and gives way to others meanwhile', async () => {
  let turns = 0;
  let isOver = false;
  const other = () => {
    turns += 1;
    if (!isOver) setImmediate(other);
  };
  setImmediate(other);
  expect(await warmUp()).toBeGreaterThan(1000);
  isOver = true;
  expect(turns).toBeGreaterThan(10);
});
