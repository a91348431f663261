/** What a page shows, as a pattern: values that are others at each run stand for their shape, `…` for anything. */

/** Values that no two runs have in common, each as an expression that finds it and then stands for it. */
const VOLATILE: readonly string[] = [
  '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z',
  '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
  'sha256:[0-9a-f]{64}',
  '\\b\\d\\d:\\d\\d:\\d\\d\\b',
  '\\(\\d+\\.\\d s\\)',
  '"[nl]\\.[\\w-]{22}"',
  '"(?:id|key|keyId)":"[0-9a-f]{12}"',
  'has no key [0-9a-f]{12}',
  '"(?:from|to)":"[\\w-]+"',
  '"local-identifier":"[\\d.]+"',
];

/** Members whose numbers are counts or times of their run. */
const COUNTED = [
  'age-ms',
  'beat-age-ms',
  'in-octets',
  'in-unicast-pkts',
  'local-port',
  'messages-received',
  'messages-sent',
  'ms',
  'nlris',
  'reencrypted',
  'updates',
  'uptime-seconds',
];

/** @param more expressions of what is volatile on this page alone */
export function patternOf(shown: string, more: readonly string[] = []): RegExp {
  const volatile = [...VOLATILE, ...more, ...COUNTED.map((member) => `"${member}":\\d+`)];
  const finder = new RegExp(`${volatile.map((source) => `(${source})`).join('|')}|(…)`, 'g');
  let pattern = '';
  let end = 0;
  for (const match of shown.matchAll(finder)) {
    pattern += literally(shown.slice(end, match.index));
    const group = match.slice(1).findIndex((text) => text !== undefined);
    pattern += volatile[group] ?? '[^\\n]*?';
    end = match.index + match[0].length;
  }
  return new RegExp(`^${pattern}${literally(shown.slice(end))}$`, 'm');
}

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
