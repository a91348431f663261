/** Appends big-endian values to a byte array that grows. */
export class TlvWriter {
  private bytes = new Uint8Array(256);
  private length = 0;

  u8(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  u16(value: number): void {
    this.u8(value >>> 8);
    this.u8(value);
  }

  u24(value: number): void {
    this.u8(value >>> 16);
    this.u16(value);
  }

  u32(value: number): void {
    this.u16(value >>> 16);
    this.u16(value);
  }

  u64(value: bigint): void {
    this.u32(Number((value >> 32n) & 0xffffffffn));
    this.u32(Number(value & 0xffffffffn));
  }

  put(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** One TLV: the type, the length of whatever `value` writes, and that value. RFC 9552 §5.1. */
  tlv(type: number, value: () => void): void {
    this.u16(type);
    const lengthAt = this.length;
    this.u16(0);
    value();
    const length = this.length - lengthAt - 2;
    if (length > 0xffff) throw new RangeError(`TLV ${type} would be ${length} octets long`);
    this.bytes[lengthAt] = length >>> 8;
    this.bytes[lengthAt + 1] = length;
  }

  /** A copy of what has been written. */
  finish(): Uint8Array {
    return this.bytes.slice(0, this.length);
  }

  private reserve(octets: number): void {
    if (this.length + octets <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + octets));
    grown.set(this.bytes);
    this.bytes = grown;
  }
}
