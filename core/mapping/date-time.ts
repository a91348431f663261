const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(\.\d{1,18})?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** An RFC 3339 time as UTC, its fraction as it was sent. Undefined when it is none or no such time exists. */
export function parseDateTime(text: string): string | undefined {
  const match = RFC_3339.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as number[] as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const offset = (match[8] === '-' ? -1 : 1) * (Number(match[9] ?? 0) * 60 + Number(match[10] ?? 0));
  return utc([year, month, day, hour, minute, second], offset, match[7] ?? '');
}

/** DateAndTime of RFC 2579: 8 octets, or 11 with the offset from UTC; without one it is taken as UTC. */
export function decodeDateAndTime(octets: Uint8Array): string | undefined {
  if (octets.length !== 8 && octets.length !== 11) return undefined;
  const at = (index: number) => octets[index] as number;
  const offset = octets.length === 8 ? 0 : (at(8) === 0x2d ? -1 : 1) * (at(9) * 60 + at(10));
  const fields = [at(0) * 256 + at(1), at(2), at(3), at(4), at(5), at(6)] as const;
  return utc(fields, offset, `.${at(7)}`);
}

/** Nanoseconds since the Unix epoch (OpenConfig's timeticks64) as an ISO 8601 time. */
export function formatNanoseconds(nanoseconds: bigint): string | undefined {
  const seconds = Number(nanoseconds / 1_000_000_000n);
  if (nanoseconds < 0n || seconds > 253_402_300_799) return undefined;
  const fraction = String(nanoseconds % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}${fraction === '' ? '' : `.${fraction}`}Z`;
}

function utc(
  [year, month, day, hour, minute, second]: readonly [number, number, number, number, number, number],
  offsetMinutes: number,
  fraction: string,
): string | undefined {
  if (year < 1 || month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return undefined;
  const local = new Date(0);
  local.setUTCFullYear(year, month - 1, day);
  local.setUTCHours(hour, minute, second);
  if (local.getUTCDate() !== day || day < 1 || Math.abs(offsetMinutes) > 14 * 60) return undefined;
  const text = new Date(local.getTime() - offsetMinutes * 60_000).toISOString();
  return text.length === 24 ? `${text.slice(0, 19)}${fraction}Z` : undefined;
}
