/** Random PDUs and what a faulty network or agent makes of their bytes, for the codec's tests. */
import type { Oid } from '../../../protocols/snmp/oid.ts';
import type { Pdu, Varbind } from '../../../protocols/snmp/pdu.ts';
import type { SnmpValue } from '../../../protocols/snmp/value.ts';
import type { Random } from '../random.ts';

export function randomOid(random: Random): Oid {
  const first = random.below(3);
  const arcs = [first, random.below(first === 2 ? 200 : 40)];
  const length = random.below(20);
  for (let at = 0; at < length; at += 1) {
    arcs.push(random.chance(0.8) ? random.below(200) : random.bits() >>> random.below(32));
  }
  return arcs;
}

export function randomValue(random: Random): SnmpValue {
  switch (random.below(10)) {
    case 0:
      return { kind: 'integer', value: random.bits() >> random.below(32) };
    case 1:
      return { kind: 'octet-string', value: random.bytes(random.below(random.chance(0.1) ? 300 : 20)) };
    case 2:
      return { kind: 'object-identifier', value: randomOid(random) };
    case 3:
      return { kind: 'ip-address', value: random.bytes(4) };
    case 4:
      return { kind: 'counter32', value: random.bits() >>> random.below(32) };
    case 5:
      return { kind: 'gauge32', value: random.bits() >>> random.below(32) };
    case 6:
      return { kind: 'time-ticks', value: random.bits() >>> random.below(32) };
    case 7:
      return { kind: 'opaque', value: random.bytes(random.below(12)) };
    case 8:
      return {
        kind: 'counter64',
        value: ((BigInt(random.bits()) << 32n) | BigInt(random.bits())) >> BigInt(random.below(64)),
      };
    default:
      return {
        kind: random.pick(['null', 'no-such-object', 'no-such-instance', 'end-of-mib-view'] as const),
      };
  }
}

export function randomVarbinds(random: Random): Varbind[] {
  return Array.from({ length: random.below(12) }, () => ({
    oid: randomOid(random),
    value: randomValue(random),
  }));
}

export function randomPdu(random: Random): Pdu {
  return {
    type: random.pick(['get-request', 'get-next-request', 'get-bulk-request', 'response', 'report'] as const),
    requestId: random.bits() >> random.below(32),
    errorStatus: random.below(19),
    errorIndex: random.below(100),
    varbinds: randomVarbinds(random),
  };
}

/** The same bytes with one to four things wrong: a byte changed, a stretch cut out, doubled or cut off. */
export function mutate(random: Random, bytes: Uint8Array): Uint8Array {
  let mutated: Uint8Array = bytes.slice();
  const faults = 1 + random.below(4);
  for (let fault = 0; fault < faults && mutated.length > 0; fault += 1) {
    const at = random.below(mutated.length);
    const length = random.below(Math.min(16, mutated.length - at));
    switch (random.below(5)) {
      case 0:
        mutated[at] = random.below(256);
        break;
      case 1:
        mutated[at] = (mutated[at] as number) ^ (1 << random.below(8));
        break;
      case 2:
        mutated = mutated.slice(0, at);
        break;
      case 3:
        mutated = joined(mutated.subarray(0, at), mutated.subarray(at + length));
        break;
      default:
        mutated = joined(mutated.subarray(0, at + length), mutated.subarray(at));
    }
  }
  return mutated;
}

function joined(left: Uint8Array, right: Uint8Array): Uint8Array {
  const whole = new Uint8Array(left.length + right.length);
  whole.set(left);
  whole.set(right, left.length);
  return whole;
}
