/** What stands in an example for what no two runs share: times, tokens, counters, cursors. Everything else is as answered. */

import { formatVersion } from '../../../core/topology/version.ts';

export const TIME_PLACEHOLDER = '2026-11-21T03:00:00.000Z';
/** A version that could be: clients may check its form. */
export const VERSION_PLACEHOLDER = formatVersion({
  peers: [{ peerId: 1, sequence: 7, beliefs: 3 }],
  timedAt: 0,
});

type Substitute = (value: unknown) => unknown;

const constant = (placeholder: unknown) => () => placeholder;
/** Nothing stays nothing: that a counter stands still says something. */
const ifAny = (placeholder: unknown) => (value: unknown) =>
  value === 0 || value === '' || value === null ? value : placeholder;

const BY_MEMBER: Readonly<Record<string, Substitute>> = {
  'request-id': constant('7d4f6a52-93b1-4c8e-8a57-3f2b1c0d9e8f'),
  token: constant('grt_example'),
  'local-port': ifAny(40112),
  'messages-sent': ifAny(4),
  'messages-received': ifAny(20),
  'uptime-seconds': constant(61),
  attempts: ifAny(1),
  'beat-age-ms': constant(900),
  'age-ms': ifAny(120),
  ms: constant(34),
  'source-addresses': constant(['10.0.0.5']),
  abilities: constant({ 'tcp-md5': true, 'ttl-security': true, 'bgp-listen': false }),
};

/** Of a stream, which counts on while it is looked at; elsewhere these members are what they are. */
const OF_A_STREAM: Readonly<Record<string, Substitute>> = {
  updates: ifAny(3),
  rows: ifAny(1),
  records: ifAny(1),
};

/** Members that hold a version of the topology, where they do. */
const VERSION_MEMBERS = new Set(['version', 'from', 'to']);

/** Alone, or in a line of text. */
const TIME_IN_TEXT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/;

/** The same value with placeholders. */
export function placeholders(value: unknown, member = ''): unknown {
  const substitute = BY_MEMBER[member];
  if (substitute !== undefined) return substitute(value);
  if (Array.isArray(value)) return value.map((item) => placeholders(item, ''));
  if (typeof value === 'object' && value !== null) {
    const isStream = 'coercion-errors' in value && 'drops' in value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        name,
        (isStream ? OF_A_STREAM[name] : undefined)?.(inner) ?? placeholders(inner, name),
      ]),
    );
  }
  if (typeof value !== 'string') return value;
  if (TIME_IN_TEXT.test(value)) return value.replaceAll(new RegExp(TIME_IN_TEXT, 'g'), TIME_PLACEHOLDER);
  if (/^e\.\d+\.\d+\.\d+$/.test(value)) return 'e.1.1.0';
  if (VERSION_MEMBERS.has(member) && /^A[A-Za-z0-9_-]{3,}$/.test(value)) return VERSION_PLACEHOLDER;
  return value;
}
