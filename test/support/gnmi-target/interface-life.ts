import type { Random } from '../random.ts';
import type { Tree } from './tree.ts';

const COUNTERS = [
  'octets',
  'unicast-pkts',
  'broadcast-pkts',
  'multicast-pkts',
  'discards',
  'errors',
] as const;

const PACKET_OCTETS = 700;

/** A router's interfaces below /interfaces in OpenConfig's shape, over which traffic flows and which fail now and then. */
export class InterfaceLife {
  private readonly tree: Tree;
  private readonly random: Random;
  private readonly names: readonly string[];
  private readonly counters = new Map<string, bigint>();
  private down = '';

  constructor(tree: Tree, random: Random, count: number) {
    this.tree = tree;
    this.random = random;
    this.names = Array.from({ length: count }, (_, index) => `ethernet-1/${index + 1}`);
    for (const name of this.names) {
      tree.set(`/interfaces/interface[name=${name}]/name`, name);
      tree.set(`${at(name)}/admin-status`, 'UP');
      tree.set(`${at(name)}/oper-status`, 'UP');
      tree.set(`${at(name)}/mtu`, 9_000n);
      // A router that has been up for long: beyond what a double holds.
      for (const way of ['in', 'out']) this.count(name, `${way}-octets`, 9_007_199_254_740_993n);
    }
    this.flow(1);
  }

  /** So many seconds of traffic on what is up. */
  flow(seconds: number): void {
    for (const name of this.names) {
      for (const way of ['in', 'out']) {
        const packets = name === this.down ? 0 : this.random.below(100_000) * seconds;
        const errors = this.random.chance(0.05) && packets > 0 ? 1 : 0;
        const amounts = [packets * PACKET_OCTETS, packets, packets >> 10, packets >> 9, errors, errors];
        for (const [index, counter] of COUNTERS.entries()) {
          this.count(name, `${way}-${counter}`, BigInt(amounts[index] as number));
        }
      }
    }
  }

  /** One interface goes down, or the one that is down comes back; says which and how. */
  fail(): { readonly name: string; readonly status: 'UP' | 'DOWN' } {
    const status = this.down === '' ? 'DOWN' : 'UP';
    const name = this.down === '' ? this.random.pick(this.names) : this.down;
    this.down = status === 'DOWN' ? name : '';
    this.tree.set(`${at(name)}/oper-status`, status);
    return { name, status };
  }

  private count(name: string, counter: string, amount: bigint): void {
    const path = `${at(name)}/counters/${counter}`;
    const value = (this.counters.get(path) ?? 0n) + amount;
    this.counters.set(path, value);
    this.tree.set(path, value);
  }
}

function at(name: string): string {
  return `/interfaces/interface[name=${name}]/state`;
}
