/** A digest of values that does not depend on how a collector names or groups them. */

export const LEAVES = [
  'in-octets',
  'in-unicast-pkts',
  'in-broadcast-pkts',
  'in-multicast-pkts',
  'in-discards',
  'out-octets',
  'out-unicast-pkts',
  'out-broadcast-pkts',
  'out-multicast-pkts',
  'out-discards',
];

/** 64-bit FNV-1a of the text. */
function fnv1a(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}

const exact = (_key: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === 'number' ? (context?.source ?? String(value)) : value;

/** The sum over one record's values of the hash of `interface/leaf=digits`. */
export function digestOf(recordJson: string): bigint {
  const { key, data } = JSON.parse(recordJson, exact) as { key: string; data: Record<string, string> };
  return Object.entries(data).reduce((sum, [leaf, digits]) => sum + fnv1a(`${key}/${leaf}=${digits}`), 0n);
}

/** The same of a line that Telegraf's JSON serializer wrote, and how many values it has. */
export function digestOfTelegraf(line: string): { digest: bigint; updates: number } {
  const { tags, fields } = JSON.parse(line, exact) as {
    tags: { name: string };
    fields: Record<string, string>;
  };
  const entries = Object.entries(fields);
  const digest = entries.reduce(
    (sum, [field, digits]) =>
      sum + fnv1a(`${tags.name}/${(field.split('/').at(-1) as string).replaceAll('_', '-')}=${digits}`),
    0n,
  );
  return { digest, updates: entries.length };
}
