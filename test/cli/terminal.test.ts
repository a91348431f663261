import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { formatExport } from '../../cli/export.ts';
import { formatJsonText, parseJsonText } from '../../cli/json-text.ts';
import { formatTable } from '../../cli/table.ts';
import { printable, terminalOf, wrapped } from '../../cli/terminal.ts';
import { Random, testSeed } from '../support/random.ts';

const UNPRINTABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there.
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/;

const HOSTILE = 'a\u001b]0;title\u0007b\u009b2Jc\u202ed\u2028e\ttab\r\nnew\\line"quote';

const narrow = (columns: number) =>
  terminalOf({ isTTY: true, columns, write: () => {} }, { write: () => {} }, { NO_COLOR: '1' });

describe('what goes to a terminal', () => {
  it('is broken into lines that fit, keeps every word, and keeps its first indentation', () => {
    const random = new Random(testSeed('terminal'));
    for (let round = 0; round < 500; round += 1) {
      const words = Array.from({ length: 1 + random.below(20) }, () => 'x'.repeat(1 + random.below(12)));
      const text = ' '.repeat(random.below(5)) + words.join(' ');
      const columns = 20 + random.below(60);
      const lines = wrapped(text, columns, '  ').split('\n');
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
      expect(lines.join(' ').split(' ').filter(Boolean)).toEqual(words);
      expect(lines[0]?.startsWith(/^ */.exec(text)?.[0] ?? '')).toBe(true);
    }
    expect(wrapped(`to ${'y'.repeat(50)}`, 20, '  ')).toBe(
      `to\n  ${'y'.repeat(18)}\n  ${'y'.repeat(18)}\n  ${'y'.repeat(14)}`,
    );
  });

  it('shows a table where it fits and a list for each row where it does not', () => {
    const rows = [
      { name: 'rr1', error: 'x'.repeat(60) },
      { name: '', error: '' },
    ];
    const columns = [
      { title: 'NAME', value: (row: (typeof rows)[0]) => row.name },
      { title: 'LAST ERROR', value: (row: (typeof rows)[0]) => row.error },
    ];
    expect(formatTable(rows, columns, narrow(80), '').split('\n')).toHaveLength(3);
    const list = formatTable(rows, columns, narrow(20), '').split('\n');
    expect(Math.max(...list.map((line) => line.length))).toBeLessThanOrEqual(20);
    expect(list.slice(0, 2)).toEqual(['NAME: rr1', 'LAST ERROR: xxxxxxxx']);
    expect(formatTable([], columns, narrow(20), 'There are none.')).toBe('There are none.');
  });

  it('has no control character of others in it, and JSON and YAML read back as they were', () => {
    expect(printable(HOSTILE)).not.toMatch(UNPRINTABLE);
    const json = formatJsonText({ text: HOSTILE });
    expect(json).not.toMatch(UNPRINTABLE);
    expect(JSON.parse(json)).toEqual({ text: HOSTILE });
    const peer = {
      id: 1,
      name: 'a',
      'peer-address': '192.0.2.1',
      'user-peer-as': '65001',
      description: HOSTILE,
    };
    const objects = { peer: [peer], device: [], model: [], subscription: [] };
    const webhook = { enabled: false, config: { url: '', headers: {} } };
    const { text } = formatExport({ objects, webhook }, 'table');
    expect(text).not.toMatch(UNPRINTABLE);
    expect(parse(text).peers[0].description).toBe(HOSTILE);
  });

  it('keeps every digit', () => {
    const text =
      '{\n  "identifier": 18446744073709551615,\n  "metric": 1.5,\n  "empty": [],\n  "none": {}\n}';
    expect(formatJsonText(parseJsonText(text) ?? null)).toBe(text);
    expect(parseJsonText('{')).toBeUndefined();
  });
});
