import { describe, expect, it } from 'vitest';
import { parseJson } from '../../core/plain-json.ts';

describe('reading JSON that others wrote', () => {
  it('tells one-character names apart, however they are escaped and whatever was read before', () => {
    const names = ['\\', '"', '\n', '\t', '/', 'A', '\u0000', 'é', '__proto__'];
    for (const before of names) {
      for (const name of names) {
        parseJson(`{"a":1,${JSON.stringify(before)}:2}`);
        const read = parseJson(`{"a":1,${JSON.stringify(name)}:2}`) as object;
        expect(Object.keys(read)).toEqual(['a', name]);
      }
    }
    expect(Object.keys(parseJson('{"\\u0041":1,"\\/":2}') as object)).toEqual(['A', '/']);
  });

  it('gives what JSON.parse gives, and throws where it throws', () => {
    const text = '{"x":[1.50,-0,1e3,true,null,"a\\u00e9\\n"],"y":{"x":"\\\\"},"x2":[]}';
    expect(parseJson(text)).toEqual(JSON.parse(text));
    for (const bad of ['', '{', '"\\', '"\\x"', '{"a":"\\n",}', '["\\n"] x', '{"\\n" 1}', '"\\ud800']) {
      expect(() => parseJson(bad), bad).toThrow(SyntaxError);
    }
    const deep = `${'['.repeat(500)}"\\n"${']'.repeat(500)}`;
    expect(parseJson(deep)).toEqual(JSON.parse(deep));
  });
});
