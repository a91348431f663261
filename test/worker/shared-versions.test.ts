import { expect, it } from 'vitest';
import { SharedVersions } from '../../worker/shared-versions.ts';

it('one reading serves both who ask once a second, and none is older than half a second', async () => {
  let now = 0;
  let readings = 0;
  const shared = new SharedVersions(
    () => now,
    async () => {
      readings += 1;
      return new Map([['peer', readings]]);
    },
  );
  for (const offset of [0, 100, 400, 499]) {
    readings = 0;
    for (let second = 0; second < 10; second += 1) {
      now += 1_000;
      const first = (await shared.current()).get('peer');
      now += offset;
      expect((await shared.current()).get('peer')).toBe(first);
      now -= offset;
    }
    expect(readings).toBe(10);
  }
  now += 10_000;
  const before = readings;
  await shared.current();
  now += 500;
  await shared.current();
  expect(readings).toBe(before + 2);
});

it('a reading that failed is made again by whoever asks next', async () => {
  let isBroken = true;
  const shared = new SharedVersions(
    () => 0,
    async () => {
      if (isBroken) throw new Error('no answer');
      return new Map();
    },
  );
  await expect(shared.current()).rejects.toThrow('no answer');
  isBroken = false;
  expect(await shared.current()).toEqual(new Map());
});
