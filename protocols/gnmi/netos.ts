/** What network operating systems do in gNMI that the specification does not say, as data. */
import { Encoding } from './schema.ts';

export type EncodingName = 'json' | 'bytes' | 'proto' | 'ascii' | 'json_ietf';

export const ENCODING_NUMBERS: Readonly<Record<EncodingName, number>> = {
  json: Encoding.JSON,
  bytes: Encoding.BYTES,
  proto: Encoding.PROTO,
  ascii: Encoding.ASCII,
  json_ietf: Encoding.JSON_IETF,
};

export function encodingName(number: number): EncodingName | undefined {
  return (Object.keys(ENCODING_NUMBERS) as EncodingName[]).find((name) => ENCODING_NUMBERS[name] === number);
}

/** One NOS's habits; an absent member means that it does as the specification says. */
export interface NetosHabits {
  /**
   * In which order encodings are tried. What a target advertises is not trusted alone: Junos advertises
   * json_ietf and then answers nothing (akvorado issue 759).
   */
  readonly encodings: readonly EncodingName[];
  /** The origin is ignored or refused: never sent (Junos; Telegraf's gNMI README). */
  readonly omitOrigin?: true;
  /** The native tree has an empty origin, and the origin openconfig must then be said (SR OS). */
  readonly nativeOrigin?: string;
  /** A list key left out is an error rather than a wildcard (IOS-XE; telegraf issue 14670). */
  readonly wantsEveryKey?: true;
  /** Shortest SAMPLE interval, in milliseconds (NX-OS: 1 s; others take what they are given). */
  readonly shortestSampleMilliseconds?: number;
  /** Get answers nothing of use (Junos; NX-OS 3500), so the live test does not fall back to it. */
  readonly noGet?: true;
}

const STANDARD: NetosHabits = { encodings: ['json_ietf', 'proto', 'json'] };

const HABITS: Readonly<Record<string, NetosHabits>> = {
  srlinux: { encodings: ['json_ietf', 'proto'] },
  sros: { encodings: ['json_ietf', 'json', 'proto', 'bytes'], nativeOrigin: '' },
  eos: { encodings: ['json', 'proto', 'json_ietf'], nativeOrigin: 'eos_native' },
  junos: { encodings: ['proto', 'json', 'json_ietf'], omitOrigin: true, noGet: true },
  iosxr: { encodings: ['json_ietf', 'proto'] },
  iosxe: { encodings: ['json_ietf', 'proto'], nativeOrigin: 'rfc7951', wantsEveryKey: true },
  nxos: {
    encodings: ['proto', 'json'],
    nativeOrigin: 'device',
    shortestSampleMilliseconds: 1_000,
    noGet: true,
  },
  huawei: { encodings: ['json', 'proto'] },
  sonic: { encodings: ['json_ietf', 'proto'] },
};

/** The habits of a NOS, of its own if it is known, else the specification's. */
export function habitsOf(netos: string): NetosHabits {
  return HABITS[netos] ?? STANDARD;
}
