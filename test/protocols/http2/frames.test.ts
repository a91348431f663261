import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bytesOf, Conversation } from './conversation.ts';

interface Case {
  readonly name: string;
  readonly rfc: string;
  readonly in: readonly string[];
  readonly events: readonly string[];
  readonly out: readonly string[];
}

const { cases }: { cases: Case[] } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../vectors/http2/frames.json'), 'utf8'),
);

describe('a client connection', () => {
  it.each(cases)('takes $name as RFC $rfc says', ({ in: frames, events, out }) => {
    const bytes = bytesOf(frames.join(''));
    // However the octets are cut.
    for (const most of [bytes.length, 1, 2, 3, 7, 9, 10, 13]) {
      const talk = new Conversation();
      talk.open();
      talk.sent();
      for (let at = 0; at < bytes.length; at += most) talk.receive(bytes.subarray(at, at + most));
      expect(talk.events, `cut in ${most}`).toEqual(events);
      expect(talk.sent(), `cut in ${most}`).toEqual(out);
    }
  });
});
