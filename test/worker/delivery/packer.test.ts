import { describe, expect, it } from 'vitest';
import { Packer } from '../../../worker/delivery/packer.ts';

describe('the packer', () => {
  it('keeps the records of a cycle, whose octets their writer uses again', () => {
    for (const batchMode of [false, true]) {
      const packer = new Packer();
      // A Buffer, whose `slice` is no copy.
      const bytes = Buffer.from('{"a":1}{"a":2}');
      packer.add(3, { bytes, ends: [7, 14] }, batchMode, 0);
      bytes.fill('#');
      const bodies = packer
        .takeAll()
        .flatMap(({ requests }) => requests.map(({ body }) => `${Buffer.from(body)}`));
      expect(bodies).toEqual(batchMode ? ['[{"a":1},{"a":2}]'] : ['{"a":1}', '{"a":2}']);
    }
  });
});
