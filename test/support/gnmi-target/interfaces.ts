/** A router's interfaces as data of the simulated target. */
import type { LeafValue, Tree } from './tree.ts';

const COUNTERS = [
  'in-octets',
  'in-unicast-pkts',
  'in-discards',
  'in-errors',
  'out-octets',
  'out-unicast-pkts',
  'out-discards',
  'out-errors',
];

/** Puts `count` interfaces below /interfaces in OpenConfig's shape. Counters start beyond what a double holds. */
export function addInterfaces(tree: Tree, count: number): void {
  for (let index = 0; index < count; index += 1) {
    const at = `/interfaces/interface[name=ethernet-1/${index + 1}]`;
    const set = (leaf: string, value: LeafValue): void => tree.set(`${at}/state/${leaf}`, value);
    set('oper-status', 'UP');
    set('mtu', 9_000n);
    for (const [position, name] of COUNTERS.entries()) {
      set(`counters/${name}`, 18_446_744_073_709_551_000n + BigInt(index + position));
    }
  }
}
