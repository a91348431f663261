/** Objects of link state that are wrong in random ways, and what must hold for each of them. */
import { ATTRIBUTE_ROWS, decodeAttribute, encodeAttribute } from '../../protocols/bgp/ls/attribute.ts';
import { isAttributeFramed } from '../../protocols/bgp/ls/attribute-scan.ts';
import { decodeNlri, encodeNlri, splitNlris } from '../../protocols/bgp/ls/nlri.ts';
import { attributeValue, randomNlri } from './link-state-values.ts';
import { Random } from './random.ts';

export interface MutationResult {
  cases: number;
  /** Sentences with the hex of the input; empty when all held. */
  failures: string[];
  mostStepsPerOctet: number;
  discardedNlris: number;
  discardedAttributes: number;
}

/** Flips, cuts, extends or repeats octets; lengths are hit more often than chance would. */
export function mutate(random: Random, bytes: Uint8Array): Uint8Array {
  let mutated = bytes.slice();
  for (let count = 1 + random.below(3); count > 0 && mutated.length > 0; count -= 1) {
    const at = random.below(mutated.length);
    const kind = random.below(5);
    if (kind === 0) mutated[at] = (mutated[at] as number) ^ (1 << random.below(8));
    else if (kind === 1) mutated[at] = random.pick([0, 1, 3, 4, 127, 255]);
    else if (kind === 2) mutated = mutated.slice(0, at);
    else if (kind === 3) {
      mutated = Uint8Array.of(
        ...mutated.subarray(0, at),
        ...random.bytes(random.below(6)),
        ...mutated.subarray(at),
      );
    } else mutated = Uint8Array.of(...mutated, ...mutated.subarray(at));
  }
  return mutated;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** Decodes an attribute and says what is wrong with how that went, if anything is. */
export function attributeFault(bytes: Uint8Array, protocolId: number, nlriType: number) {
  const { problems, steps } = decodeAttribute(bytes, { protocolId, nlriType });
  const discard = problems.some(({ action }) => action === 'attribute-discard');
  const framed = isAttributeFramed(bytes, 0, bytes.length);
  return {
    steps,
    discard,
    fault: discard === framed ? `scan says framed: ${framed}, decoding says discard: ${discard}` : undefined,
  };
}

/** Decodes an NLRI field whole, whatever it holds. */
export function nlriFieldFault(bytes: Uint8Array, safi: 71 | 72) {
  let steps = 0;
  let discarded = 0;
  for (const { start, end } of splitNlris(bytes, safi).ranges) {
    const nlri = decodeNlri(bytes, safi, start, end);
    steps += nlri.steps;
    if (nlri.problems.some(({ action }) => action === 'nlri-discard')) discarded += 1;
  }
  return { steps, discarded };
}

/** Makes this many mutated attributes and NLRIs, and checks each. */
export function mutatedCases(seed: number, cases: number): MutationResult {
  const random = new Random(seed);
  const result: MutationResult = {
    cases,
    failures: [],
    mostStepsPerOctet: 0,
    discardedNlris: 0,
    discardedAttributes: 0,
  };
  const count = (steps: number, octets: number) => {
    result.mostStepsPerOctet = Math.max(result.mostStepsPerOctet, steps / Math.max(octets, 1));
  };
  // Making an object costs more than decoding it: each one is mutated many times.
  const mutationsEach = 50;
  for (let made = 0; made < cases; made += mutationsEach) {
    const context = { protocolId: random.pick([1, 2, 3, 4, 6, 7, 9]), nlriType: 1 + random.below(7) };
    const attributes: Record<string, unknown> = {};
    for (let members = 1 + random.below(4); members > 0; members -= 1) {
      const { name } = random.pick(ATTRIBUTE_ROWS);
      attributes[name] = attributeValue(name, random, context);
    }
    const attribute = encodeAttribute(attributes, context);
    const safi = random.chance(0.5) ? 71 : 72;
    const nlri = encodeNlri(randomNlri(random, random.pick([1, 2, 3, 4, 5, 6, 7, 9]), safi));
    for (let mutation = 0; mutation < mutationsEach && made + mutation < cases; mutation += 1) {
      const bytes = mutate(random, mutation % 2 === 0 ? attribute : nlri);
      try {
        if (mutation % 2 === 0) {
          const { steps, discard, fault } = attributeFault(bytes, context.protocolId, context.nlriType);
          count(steps, bytes.length);
          if (discard) result.discardedAttributes += 1;
          if (fault !== undefined) result.failures.push(`attribute ${hex(bytes)}: ${fault}`);
        } else {
          const { steps, discarded } = nlriFieldFault(bytes, safi);
          count(steps, bytes.length);
          result.discardedNlris += discarded;
        }
      } catch (error) {
        result.failures.push(`${mutation % 2 === 0 ? 'attribute' : 'nlri'} ${hex(bytes)}: ${error}`);
      }
      if (result.failures.length >= 10) return result;
    }
  }
  return result;
}
