import { isIPv4, isIPv6 } from 'node:net';
import { endianness } from 'node:os';

/** Linux's numbers, which differ from those of other systems; socket options are only offered on Linux. */
export const AF_INET = 2;
export const AF_INET6 = 10;

/** `struct sockaddr_in` or `sockaddr_in6` of an address literal; undefined for what is neither. */
export function socketAddress(address: string, port: number): Buffer | undefined {
  const octets = addressOctets(address);
  if (octets === undefined) return undefined;
  const isV4 = octets.length === 4;
  const structure = Buffer.alloc(isV4 ? 16 : 28);
  const family = isV4 ? AF_INET : AF_INET6;
  if (endianness() === 'LE') structure.writeUInt16LE(family);
  else structure.writeUInt16BE(family);
  structure.writeUInt16BE(port, 2);
  structure.set(octets, isV4 ? 4 : 8);
  return structure;
}

/** The 4 or 16 octets of an address literal without zone. */
export function addressOctets(address: string): Uint8Array | undefined {
  if (isIPv4(address)) return Uint8Array.from(address.split('.'), Number);
  if (!isIPv6(address) || address.includes('%')) return undefined;
  const [head = '', tail] = address.split('::') as [string, string | undefined];
  const left = groupOctets(head);
  const right = groupOctets(tail ?? '');
  const octets = new Uint8Array(16);
  octets.set(left);
  octets.set(right, 16 - right.length);
  return octets;
}

function groupOctets(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
