/**
 * Copying and comparing runs of octets four at a time, in the order of most processors, through a DataView:
 * runs here are of 10 to 200 octets, where a loop over octets takes three times as long (400 ns against 130 for an UPDATE's
 * NLRI and attribute), and a view for `set` or a compare costs more than the work itself.
 */

/** Octets that may be written, and a view of all of them. */
export interface WritableOctets {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

export function writableOctets(length: number): WritableOctets {
  const bytes = new Uint8Array(length);
  return { bytes, view: new DataView(bytes.buffer) };
}

/** The view of the array that was last read: what is read comes by the chunk, so it most often is of the same. */
let lastRead: Uint8Array = new Uint8Array(0);
let lastView = new DataView(lastRead.buffer);

export function viewOf(bytes: Uint8Array): DataView {
  return bytes === lastRead ? lastView : newView(bytes);
}

/** Apart, so that asking for the view is short enough to be compiled into whoever asks. */
function newView(bytes: Uint8Array): DataView {
  lastRead = bytes;
  lastView = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return lastView;
}

export function copyOctets(
  from: Uint8Array,
  start: number,
  end: number,
  to: WritableOctets,
  at: number,
): void {
  if (end - start > 512) {
    to.bytes.set(from.subarray(start, end), at);
    return;
  }
  const source = viewOf(from);
  const { bytes, view } = to;
  let index = start;
  // Four words a turn: 2 % of keeping.
  for (; index + 16 <= end; index += 16, at += 16) {
    view.setInt32(at, source.getInt32(index, true), true);
    view.setInt32(at + 4, source.getInt32(index + 4, true), true);
    view.setInt32(at + 8, source.getInt32(index + 8, true), true);
    view.setInt32(at + 12, source.getInt32(index + 12, true), true);
  }
  for (; index + 4 <= end; index += 4, at += 4) view.setInt32(at, source.getInt32(index, true), true);
  for (; index < end; index += 1, at += 1) bytes[at] = from[index] as number;
}

/** Whether `one[start, end)` stands in `other` from `at` on. */
export function sameOctets(
  one: Uint8Array,
  start: number,
  end: number,
  other: WritableOctets,
  at: number,
): boolean {
  const source = viewOf(one);
  const { bytes, view } = other;
  let index = start;
  for (; index + 4 <= end; index += 4, at += 4) {
    if (source.getInt32(index, true) !== view.getInt32(at, true)) return false;
  }
  for (; index < end; index += 1, at += 1) if (one[index] !== bytes[at]) return false;
  return true;
}
