import { type OnReadOpts, Socket } from 'node:net';
import type { SocketOptions } from './socket-options.ts';

/** How often a handshake is looked at. Node cannot watch a descriptor that is not connected yet. */
const POLL_MILLISECONDS = 20;

export interface DialTarget {
  readonly address: string;
  readonly port: number;
  /** `''` is any. */
  readonly localAddress: string;
  /** `''` is none. */
  readonly password: string;
  /** 0 is off. */
  readonly ttlSecurityHops: number;
}

/**
 * Dials with TCP-MD5 or TTL security set before the first segment leaves. The descriptor is handed to Node only once
 * it is connected: one handed over while pending fires no `connect` and loses the errno.
 * Answers exactly once, later, unless the returned function gave the attempt up.
 * @param onread as of `Socket`: where what arrives is read into.
 */
export function dialProtected(
  options: SocketOptions,
  target: DialTarget,
  answer: (result: { socket: Socket } | { errno: string }) => void,
  onread?: OnReadOpts,
): () => void {
  const descriptor = options.openSocket(target.address);
  let timer: NodeJS.Timeout;
  if (typeof descriptor === 'string') {
    timer = setTimeout(() => answer({ errno: descriptor }), 0);
    return () => clearTimeout(timer);
  }
  const fail = (errno: string) => {
    options.close(descriptor);
    answer({ errno });
  };
  const poll = () => {
    const progress = options.progress(descriptor);
    if (progress.state === 'pending') timer = setTimeout(poll, POLL_MILLISECONDS);
    else if (progress.state === 'failed') fail(progress.errno);
    else {
      const how = { fd: descriptor, readable: true, writable: true, ...(onread && { onread }) };
      answer({ socket: new Socket(how) });
    }
  };
  const refused = prepare(options, descriptor, target);
  timer = setTimeout(refused === '' ? poll : () => fail(refused), 0);
  return () => {
    clearTimeout(timer);
    options.close(descriptor);
  };
}

/** Everything up to `connect`; the errno name of the step that failed, `''` when the handshake has begun. */
function prepare(options: SocketOptions, descriptor: number, target: DialTarget): string {
  const { address, port, localAddress, password, ttlSecurityHops } = target;
  const failed =
    (localAddress === '' ? '' : options.bind(descriptor, localAddress, 0)) ||
    (password === '' ? '' : options.setMd5Key(descriptor, address, password)) ||
    options.setTtlSecurity(descriptor, address, ttlSecurityHops);
  if (failed !== '') return failed;
  const errno = options.connect(descriptor, address, port);
  return errno === 'EINPROGRESS' ? '' : errno;
}
