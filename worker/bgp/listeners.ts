import { parseIpAddress } from '../../core/ip-address.ts';
import { errorFields } from '../../core/log-line.ts';
import { log } from '../log.ts';
import { type ListenAddress, Listener } from './listener.ts';
import type { PeerDriver } from './peer-driver.ts';

/** A peer that may connect to us. */
export interface ExpectedPeer {
  /** In its canonical spelling. */
  readonly peerAddress: string;
  /** `''`: on any of our addresses. */
  readonly localAddress: string;
  /** `''`: none. */
  readonly password: string;
  readonly driver: PeerDriver;
}

/** All listeners of this worker, and which peers they let in. */
export class Listeners {
  readonly #listeners: Listener[] = [];
  readonly #expected = new Map<number, ExpectedPeer>();

  /** Opens each address; one that cannot be had is logged, and the rest are served. */
  async open(addresses: readonly ListenAddress[]): Promise<void> {
    for (const address of addresses) {
      try {
        this.#listeners.push(await Listener.open(address, (peer, local) => this.#find(peer, local)));
        log('info', 'listening for BGP', { address: address.address, port: address.port });
      } catch (error) {
        log('error', 'cannot listen for BGP', {
          address: address.address,
          port: address.port,
          ...errorFields(error),
        });
      }
    }
  }

  get areOpen(): boolean {
    return this.#listeners.length > 0;
  }

  /** Whether a connection from this address can reach this worker. */
  serve(peerAddress: string): boolean {
    return this.#listeners.some((listener) => listener.serves(peerAddress));
  }

  /** Lets this peer in from now on, with this password: replaces what was said of it before. */
  expect(peerId: number, peer: ExpectedPeer): void {
    const before = this.#expected.get(peerId);
    if (before !== undefined && before.peerAddress !== peer.peerAddress) this.refuse(peerId);
    this.#expected.set(peerId, peer);
    this.#setPassword(peer.peerAddress, peer.password);
  }

  /** Lets this peer in no longer. */
  refuse(peerId: number): void {
    const peer = this.#expected.get(peerId);
    if (peer === undefined) return;
    this.#expected.delete(peerId);
    const other = [...this.#expected.values()].find(({ peerAddress }) => peerAddress === peer.peerAddress);
    this.#setPassword(peer.peerAddress, other?.password ?? '');
  }

  async close(): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.close()));
  }

  #find(peerAddress: string, localAddress: string): PeerDriver | undefined {
    const candidates = [...this.#expected.values()].filter((peer) => peer.peerAddress === peerAddress);
    const exact = candidates.find((peer) => peer.localAddress === localAddress);
    return (exact ?? candidates.find((peer) => peer.localAddress === ''))?.driver;
  }

  /** One listening socket has one key for each source address (TCP_MD5SIG): peers that share it share the key. */
  #setPassword(peerAddress: string, password: string): void {
    for (const listener of this.#listeners) {
      if (listener.serves(peerAddress) && !listener.setPassword(peerAddress, password)) {
        log('warn', 'the listener took no TCP-MD5 key', { 'peer-address': peerAddress });
      }
    }
  }
}

/** Reads `address:port,[address]:port`; what is none of that throws with the variable's name in the sentence. */
export function parseListenAddresses(text: string): ListenAddress[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [, ipv6, ipv4, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(part) ?? [];
      const address = ipv6 ?? ipv4 ?? '';
      if (parseIpAddress(address) === undefined || Number(port) > 65_535) {
        throw new Error(`GRATICULE_BGP_LISTEN: ${part} is no address:port or [address]:port`);
      }
      return { address, port: Number(port) };
    });
}
