import { expect, it } from 'vitest';
import { MalformedUpdateLog } from '../../worker/malformed-update-log.ts';

it('writes a malformed UPDATE down whole, ten a minute at most, and says how many it left out', () => {
  const lines: Array<Record<string, unknown>> = [];
  const log = new MalformedUpdateLog(7, (_level, _message, fields) => lines.push(fields));
  const problem = { code: 3, subcode: 6, data: new Uint8Array(0), text: 'ORIGIN: value 9' };
  for (let index = 0; index < 25; index += 1) log.note(Uint8Array.of(0xff, index), [problem], index * 1000);
  expect(lines).toHaveLength(10);
  expect(lines[9]).toEqual({ 'peer-id': 7, problems: ['ORIGIN: value 9'], update: 'ff09' });
  log.note(Uint8Array.of(0xaa), [problem], 60_000);
  expect(lines[10]).toMatchObject({ update: 'aa', 'left-out-before': 15 });
});
