/** What the peer's SETTINGS allow us (RFC 9113 §6.5.2). */
import {
  DEFAULT_FRAME_BYTES,
  DEFAULT_WINDOW_BYTES,
  ErrorCode,
  LARGEST_FRAME_BYTES,
  LARGEST_WINDOW_BYTES,
  Setting,
} from './frame.ts';
import type { ConnectionFailure } from './frame-payload.ts';

/** HPACK's table before anything is said of it. */
export const DEFAULT_HEADER_TABLE_BYTES = 4_096;

export class PeerSettings {
  headerTableBytes = DEFAULT_HEADER_TABLE_BYTES;
  concurrentStreams = Number.POSITIVE_INFINITY;
  windowBytes = DEFAULT_WINDOW_BYTES;
  frameBytes = DEFAULT_FRAME_BYTES;

  /** Takes one; settings that nobody knows are ignored. */
  apply(setting: number, value: number): ConnectionFailure | undefined {
    const refuse = (code: number, name: string) => ({ code, detail: `SETTINGS_${name} ${value}` });
    switch (setting) {
      case Setting.headerTableSize:
        this.headerTableBytes = value;
        return undefined;
      case Setting.enablePush:
        // A server must not say 1 (§6.5.2).
        return value === 0 ? undefined : refuse(ErrorCode.protocolError, 'ENABLE_PUSH');
      case Setting.maxConcurrentStreams:
        this.concurrentStreams = value;
        return undefined;
      case Setting.initialWindowSize:
        if (value > LARGEST_WINDOW_BYTES) return refuse(ErrorCode.flowControlError, 'INITIAL_WINDOW_SIZE');
        this.windowBytes = value;
        return undefined;
      case Setting.maxFrameSize:
        if (value < DEFAULT_FRAME_BYTES || value > LARGEST_FRAME_BYTES)
          return refuse(ErrorCode.protocolError, 'MAX_FRAME_SIZE');
        this.frameBytes = value;
        return undefined;
      default:
        return undefined;
    }
  }
}
