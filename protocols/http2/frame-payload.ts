/** Reading the payloads of frames other than DATA: their lengths, streams and padding (RFC 9113 §6). */
import { ErrorCode, errorName, FrameFlag, FrameType, uint32At } from './frame.ts';

/** The connection is broken; `code` (RFC 9113 §7) is what the peer is told in GOAWAY. */
export interface ConnectionFailure {
  readonly code: number;
  readonly detail: string;
}

export interface GoAway {
  readonly lastStreamId: number;
  readonly code: number;
  /** The peer's words, for people. */
  readonly debug: string;
}

/** How long each must be, and whether it is of a stream (1), of the connection (0) or of either (undefined). */
const SHAPES: Readonly<
  Record<number, { readonly name: string; readonly bytes?: number; readonly of?: 0 | 1 }>
> = {
  [FrameType.headers]: { name: 'HEADERS', of: 1 },
  [FrameType.priority]: { name: 'PRIORITY', bytes: 5, of: 1 },
  [FrameType.rstStream]: { name: 'RST_STREAM', bytes: 4, of: 1 },
  [FrameType.settings]: { name: 'SETTINGS', of: 0 },
  [FrameType.ping]: { name: 'PING', bytes: 8, of: 0 },
  [FrameType.goAway]: { name: 'GOAWAY', of: 0 },
  [FrameType.windowUpdate]: { name: 'WINDOW_UPDATE', bytes: 4 },
  [FrameType.continuation]: { name: 'CONTINUATION', of: 1 },
};
const GO_AWAY_BYTES = 8;
const SETTING_BYTES = 6;
const PRIORITY_BYTES = 5;
const MOST_DEBUG_CHARACTERS = 200;

/** What is wrong with a frame of this length on this stream, whatever is in it. */
export function misshapen(
  type: number,
  flags: number,
  streamId: number,
  length: number,
): ConnectionFailure | undefined {
  const shape = SHAPES[type];
  if (shape === undefined) return undefined;
  if (shape.of !== undefined && (shape.of === 0) !== (streamId === 0)) {
    return { code: ErrorCode.protocolError, detail: `${shape.name} on stream ${streamId}` };
  }
  const isWrong =
    (shape.bytes !== undefined && length !== shape.bytes) ||
    (type === FrameType.goAway && length < GO_AWAY_BYTES) ||
    (type === FrameType.settings &&
      ((flags & FrameFlag.ack) === 0 ? length % SETTING_BYTES !== 0 : length > 0));
  return isWrong ? { code: ErrorCode.frameSizeError, detail: `${shape.name} of ${length} bytes` } : undefined;
}

/** Where the header block's fragment lies in a HEADERS or CONTINUATION frame, or what is wrong with it. */
export function fragmentOf(
  type: number,
  flags: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): { readonly from: number; readonly to: number } | ConnectionFailure {
  if (type === FrameType.continuation) return { from: start, to: end };
  const isPadded = (flags & FrameFlag.padded) !== 0;
  if (isPadded && start === end) return { code: ErrorCode.frameSizeError, detail: 'HEADERS of 0 bytes' };
  const padding = isPadded ? (bytes[start] as number) : 0;
  const from = start + (isPadded ? 1 : 0) + ((flags & FrameFlag.priority) === 0 ? 0 : PRIORITY_BYTES);
  const to = end - padding;
  if (from > end) return { code: ErrorCode.frameSizeError, detail: `HEADERS of ${end - start} bytes` };
  return from <= to
    ? { from, to }
    : { code: ErrorCode.protocolError, detail: 'HEADERS with more padding than they are long' };
}

/** The settings in their order. */
export function settingsOf(
  bytes: Uint8Array,
  start: number,
  end: number,
): ReadonlyArray<readonly [setting: number, value: number]> {
  const settings: (readonly [number, number])[] = [];
  for (let at = start; at < end; at += SETTING_BYTES) {
    settings.push([((bytes[at] as number) << 8) | (bytes[at + 1] as number), uint32At(bytes, at + 2)]);
  }
  return settings;
}

export function goAwayOf(bytes: Uint8Array, start: number, end: number): GoAway {
  let debug = '';
  for (let at = start + GO_AWAY_BYTES; at < end && debug.length < MOST_DEBUG_CHARACTERS; at += 1) {
    const octet = bytes[at] as number;
    debug += octet >= 0x20 && octet < 0x7f ? String.fromCharCode(octet) : '?';
  }
  return { lastStreamId: uint32At(bytes, start) & 0x7fffffff, code: uint32At(bytes, start + 4), debug };
}

/** For people: `ENHANCE_YOUR_CALM: too_many_pings`. */
export function describeFailure({ code, detail }: ConnectionFailure): string {
  return `${errorName(code)}: ${detail}`;
}
