import { describe, expect, it } from 'vitest';
import { encodeFrame, FrameReader } from '../../../protocols/gnmi/grpc-frame.ts';
import { decodeGrpcMessage, faultOfStatus } from '../../../protocols/gnmi/grpc-status.ts';

const messages = [
  Uint8Array.of(),
  Uint8Array.of(1),
  Uint8Array.from({ length: 300 }, (_, index) => index & 0xff),
];
const stream = Buffer.concat(messages.map(encodeFrame));

function readIn(chunkBytes: number) {
  const read: Uint8Array[] = [];
  const reader = new FrameReader(1_000, (bytes, view, start, end) => {
    expect(view.byteLength).toBe(bytes.length);
    read.push(Uint8Array.from(bytes.subarray(start, end)));
  });
  for (let at = 0; at < stream.length; at += chunkBytes) {
    expect(reader.push(stream.subarray(at, at + chunkBytes))).toBeUndefined();
  }
  expect(reader.isMidMessage).toBe(false);
  return read;
}

describe('gRPC framing', () => {
  it.each([1, 2, 4, 5, 6, 7, 100, 10_000])('reads the same messages in chunks of %i bytes', (chunkBytes) => {
    expect(readIn(chunkBytes)).toEqual(messages);
  });

  it('refuses what is larger than allowed before it has come', () => {
    const reader = new FrameReader(1_000, () => undefined);
    expect(reader.push(Uint8Array.of(0, 0, 0, 4, 0))).toEqual({ code: 'too-large', bytes: 1_024 });
  });

  it('refuses a compressed message', () => {
    const reader = new FrameReader(1_000, () => undefined);
    expect(reader.push(Uint8Array.of(1))).toBeUndefined();
    expect(reader.push(Uint8Array.of(0, 0, 0, 1, 7))).toEqual({ code: 'bad-flag', flag: 1 });
  });

  it('knows when it stands in the middle of a message', () => {
    const reader = new FrameReader(1_000, () => undefined);
    reader.push(Uint8Array.of(0, 0, 0, 0, 2, 9));
    expect(reader.isMidMessage).toBe(true);
  });
});

describe('a gRPC status', () => {
  it('has its message percent-decoded, broken escapes as they are', () => {
    expect(decodeGrpcMessage('caf%C3%A9 100% %zz')).toBe('café 100% %zz');
  });

  it('is read by its words where its code says little', () => {
    expect(faultOfStatus(12, 'encoding JSON_IETF not supported').code).toBe('encoding-unsupported');
    expect(faultOfStatus(12, '').code).toBe('unimplemented');
    expect(faultOfStatus(3, '').code).toBe('invalid-path');
    expect(faultOfStatus(99, 'x')).toEqual({ code: 'protocol-error', detail: 'status 99: x' });
  });
});
