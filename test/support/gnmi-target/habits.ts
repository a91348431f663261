/** How a simulated target differs from the specification, changeable while it runs. */
import { Encoding } from '../../../protocols/gnmi/schema.ts';
import type { TargetEncoding } from './tree.ts';

/** What real targets do besides or against the specification; all off by default, changeable while it runs. */
export interface Habits {
  encodings: TargetEncoding[];
  /** Advertised or not, these give nothing and no error (Junos with json_ietf). */
  silentEncodings: TargetEncoding[];
  username: string;
  password: string;
  /** ONCE never closes (fake_server with disable_eof). */
  keepOnceOpen: boolean;
  omitSync: boolean;
  /** Puts list elements into the Notification's prefix (EOS, Junos). */
  prefixDepth: number;
  /** The deprecated string elements. */
  stringElements: boolean;
  /** float_val and decimal_val. */
  deprecatedNumbers: boolean;
  /** `module:name` on the first element. */
  modulePrefix: string;
  atomic: boolean;
  /** One update an element-with-keys: its leaves as one JSON object (NX-OS, IOS-XE). */
  jsonBlobs: boolean;
  /** An origin that is refused: INVALID_ARGUMENT. */
  refusedOrigin: string;
  /** Only Get and Capabilities, or neither. */
  withoutSubscribe: boolean;
  withoutGet: boolean;
  /** ONCE is UNIMPLEMENTED, STREAM works. */
  withoutOnce: boolean;
  /** Every RPC ends with this status at once. */
  refusal: { status: number; message: string } | undefined;
  /** What goes out in place of answers. */
  garbage: 'none' | 'bytes' | 'half-frame' | 'endless' | 'blob' | 'compressed' | 'html';
  blobBytes: number;
  /** Accepts RPCs and says nothing. */
  frozen: boolean;
  /** Answers Subscribe with these and sync, whatever was asked. */
  replay: readonly Uint8Array[];
}

export const DEFAULT_HABITS: Habits = {
  encodings: ['json_ietf', 'json', 'proto', 'bytes', 'ascii'],
  silentEncodings: [],
  username: '',
  password: '',
  keepOnceOpen: false,
  omitSync: false,
  prefixDepth: 0,
  stringElements: false,
  deprecatedNumbers: false,
  modulePrefix: '',
  atomic: false,
  jsonBlobs: false,
  refusedOrigin: '',
  withoutSubscribe: false,
  withoutGet: false,
  withoutOnce: false,
  refusal: undefined,
  garbage: 'none',
  blobBytes: 10 * 1024 * 1024,
  frozen: false,
  replay: [],
};

export const ENCODING_BY_NUMBER: Readonly<Record<number, TargetEncoding>> = {
  [Encoding.JSON]: 'json',
  [Encoding.BYTES]: 'bytes',
  [Encoding.PROTO]: 'proto',
  [Encoding.ASCII]: 'ascii',
  [Encoding.JSON_IETF]: 'json_ietf',
};

export const NUMBER_BY_ENCODING: Readonly<Record<TargetEncoding, number>> = {
  json: 0,
  bytes: 1,
  proto: 2,
  ascii: 3,
  json_ietf: 4,
};
