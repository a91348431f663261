/**
 * The socket calls that Node does not offer and BGP needs: TCP-MD5 (RFC 2385) and TTL security (RFC 5082). They are
 * made through koffi, on Linux; elsewhere `socketOptions()` is undefined and peers that ask for them stay down.
 * No call here blocks: sockets are made non-blocking, and the rest only touches kernel state.
 */
import { constants, endianness } from 'node:os';
import koffi from 'koffi';
import { AF_INET, AF_INET6, addressOctets, socketAddress } from './socket-address.ts';

// From Linux's <asm-generic/socket.h>, <netinet/in.h>, <linux/in6.h> and <linux/tcp.h>.
const SOCK_STREAM = 1;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;
const SOL_SOCKET = 1;
const SO_REUSEADDR = 2;
const SO_ERROR = 4;
const IPPROTO_IP = 0;
const IP_TTL = 2;
const IP_MINTTL = 21;
const IPPROTO_IPV6 = 41;
const IPV6_UNICAST_HOPS = 16;
const IPV6_V6ONLY = 26;
const IPV6_MINHOPCOUNT = 73;
const IPPROTO_TCP = 6;
const TCP_MD5SIG = 14;

/** `struct tcp_md5sig`: sockaddr_storage, flags, prefix length, key length, interface index, key. */
const TCP_MD5SIG_LENGTH = 216;
const MD5_KEY_LENGTH_AT = 130;
const MD5_KEY_AT = 136;
const MAXIMUM_MD5_KEY_OCTETS = 80;

/** RFC 5082 §3: what is sent to a neighbour that checks. */
const GTSM_TTL = 255;
/** What everything else is sent with, whatever the host's default. */
const DEFAULT_TTL = 64;

/** A file descriptor; whoever has it closes it, or hands it to a `net.Socket`. */
export type Descriptor = number;

/** Errors are errno names (`ECONNREFUSED`); `''` is success. */
export interface SocketOptions {
  /** A non-blocking TCP socket of the family of `address`; an errno name when there is none to be had. */
  openSocket(address: string): Descriptor | string;
  bind(descriptor: Descriptor, address: string, port: number): string;
  /** `EINPROGRESS` while the handshake runs. */
  connect(descriptor: Descriptor, address: string, port: number): string;
  /** How the handshake came out: connected, a failure's errno name, or still under way. */
  progress(descriptor: Descriptor): { state: 'connected' | 'pending' } | { state: 'failed'; errno: string };
  /** The key for segments from and to this address; `''` removes it. */
  setMd5Key(descriptor: Descriptor, peerAddress: string, password: string): string;
  /** `hops` 0: TTL 64 and no check. Else TTL 255, and segments of peers further away are dropped. */
  setTtlSecurity(descriptor: Descriptor, address: string, hops: number): string;
  /**
   * For a listening socket: address reuse, IPv6 without IPv4 in it, and TTL 255, because the answer to a SYN leaves
   * before anyone knows who is asking, and a peer with TTL security would not hear it otherwise.
   */
  setListening(descriptor: Descriptor, address: string): string;
  close(descriptor: Descriptor): void;
}

let loaded: { options: SocketOptions | undefined } | undefined;

/** The socket calls of this platform, or undefined where they are not to be had. */
export function socketOptions(): SocketOptions | undefined {
  loaded ??= { options: load() };
  return loaded.options;
}

/** Whether the kernel takes a TCP-MD5 key (it may be built without) and a least TTL. Tried once, on a socket of its own. */
export function probe(options: SocketOptions): { tcpMd5: boolean; ttlSecurity: boolean } {
  const descriptor = options.openSocket('127.0.0.1');
  if (typeof descriptor === 'string') return { tcpMd5: false, ttlSecurity: false };
  const answer = {
    tcpMd5: options.setMd5Key(descriptor, '127.0.0.1', 'probe') === '',
    ttlSecurity: options.setTtlSecurity(descriptor, '127.0.0.1', 1) === '',
  };
  options.close(descriptor);
  return answer;
}

function load(): SocketOptions | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    // The running process has the C library already, whichever it is.
    const library = koffi.load(null);
    const socket = library.func('int socket(int domain, int type, int protocol)');
    const bind = library.func('int bind(int fd, const void *address, uint32_t length)');
    const connect = library.func('int connect(int fd, const void *address, uint32_t length)');
    const setsockopt = library.func(
      'int setsockopt(int fd, int level, int name, const void *value, uint32_t length)',
    );
    const getsockopt = library.func(
      'int getsockopt(int fd, int level, int name, _Out_ void *value, _Inout_ void *length)',
    );
    const getpeername = library.func('int getpeername(int fd, _Out_ void *address, _Inout_ void *length)');
    const close = library.func('int close(int fd)');

    const failure = (result: number): string => (result === 0 ? '' : nameErrno(koffi.errno()));
    const set = (descriptor: Descriptor, level: number, name: number, value: number): string =>
      failure(setsockopt(descriptor, level, name, int32(value), 4));

    return {
      openSocket(address) {
        const domain = isV6(address) ? AF_INET6 : AF_INET;
        const descriptor: number = socket(domain, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        return descriptor < 0 ? nameErrno(koffi.errno()) : descriptor;
      },
      bind(descriptor, address, port) {
        const structure = socketAddress(address, port);
        if (structure === undefined) return 'EINVAL';
        return failure(bind(descriptor, structure, structure.length));
      },
      connect(descriptor, address, port) {
        const structure = socketAddress(address, port);
        if (structure === undefined) return 'EINVAL';
        return failure(connect(descriptor, structure, structure.length));
      },
      progress(descriptor) {
        const value = int32(0);
        const failed = failure(getsockopt(descriptor, SOL_SOCKET, SO_ERROR, value, int32(4)));
        if (failed !== '') return { state: 'failed', errno: failed };
        const errno = readInt32(value);
        if (errno !== 0) return { state: 'failed', errno: nameErrno(errno) };
        const isConnected = getpeername(descriptor, Buffer.alloc(128), int32(128)) === 0;
        return { state: isConnected ? 'connected' : 'pending' };
      },
      setMd5Key(descriptor, peerAddress, password) {
        const structure = md5Signature(peerAddress, password);
        if (structure === undefined) return 'EINVAL';
        const errno = failure(setsockopt(descriptor, IPPROTO_TCP, TCP_MD5SIG, structure, structure.length));
        structure.fill(0);
        // Removing a key that is not there leaves things as they should be.
        return errno === 'ENOENT' && password === '' ? '' : errno;
      },
      setTtlSecurity(descriptor, address, hops) {
        const least = hops === 0 ? 0 : GTSM_TTL + 1 - hops;
        const ttl = hops === 0 ? DEFAULT_TTL : GTSM_TTL;
        return isV6(address)
          ? set(descriptor, IPPROTO_IPV6, IPV6_UNICAST_HOPS, ttl) ||
              set(descriptor, IPPROTO_IPV6, IPV6_MINHOPCOUNT, least)
          : set(descriptor, IPPROTO_IP, IP_TTL, ttl) || set(descriptor, IPPROTO_IP, IP_MINTTL, least);
      },
      setListening(descriptor, address) {
        return (
          set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1) ||
          (isV6(address)
            ? set(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 1) ||
              set(descriptor, IPPROTO_IPV6, IPV6_UNICAST_HOPS, GTSM_TTL)
            : set(descriptor, IPPROTO_IP, IP_TTL, GTSM_TTL))
        );
      },
      close(descriptor) {
        close(descriptor);
      },
    };
  } catch {
    // No prebuilt koffi for this machine: the abilities say so, and peers that need it stay down.
    return undefined;
  }
}

function md5Signature(peerAddress: string, password: string): Buffer | undefined {
  const address = socketAddress(peerAddress, 0);
  const key = Buffer.from(password, 'utf8');
  if (address === undefined || key.length > MAXIMUM_MD5_KEY_OCTETS) return undefined;
  const structure = Buffer.alloc(TCP_MD5SIG_LENGTH);
  structure.set(address);
  if (endianness() === 'LE') structure.writeUInt16LE(key.length, MD5_KEY_LENGTH_AT);
  else structure.writeUInt16BE(key.length, MD5_KEY_LENGTH_AT);
  structure.set(key, MD5_KEY_AT);
  key.fill(0);
  return structure;
}

function isV6(address: string): boolean {
  return addressOctets(address)?.length === 16;
}

function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  if (endianness() === 'LE') buffer.writeInt32LE(value);
  else buffer.writeInt32BE(value);
  return buffer;
}

function readInt32(buffer: Buffer): number {
  return endianness() === 'LE' ? buffer.readInt32LE() : buffer.readInt32BE();
}

const ERRNO_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.errno).map(([name, number]) => [number, name]),
);

function nameErrno(errno: number): string {
  return ERRNO_NAMES.get(errno) ?? `errno ${errno}`;
}
