import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeAttribute, encodeAttribute } from '../../../../protocols/bgp/ls/attribute.ts';
import { nlriTypeCode, protocolCode } from '../../../../protocols/bgp/ls/code-point.ts';
import { decodeNlri, encodeNlri } from '../../../../protocols/bgp/ls/nlri.ts';
import { attributeFault, mutate, nlriFieldFault } from '../../../support/link-state-mutations.ts';
import { linkStateUpdate, partsOf, updateBodies } from '../../../support/link-state-update.ts';
import { attributeVectors, bytesOf, nlriVectors } from '../../../support/link-state-vectors.ts';
import { Random, testSeed } from '../../../support/random.ts';

const seed = testSeed('link-state vectors');
const MOST_STEPS_PER_OCTET = 8;

describe('bytes that others made', () => {
  it.each(attributeVectors().map((vector) => [vector.name, vector] as const))(
    'attribute: %s',
    (_name, vector) => {
      const context = {
        protocolId: protocolCode(vector.protocol),
        nlriType: nlriTypeCode(vector.type) as number,
      };
      const { attributes, unknownTlvs, problems } = decodeAttribute(bytesOf(vector), context);
      expect(attributes).toEqual(vector.value);
      expect(unknownTlvs).toEqual([]);
      expect(problems.map(({ code }) => code)).toEqual(vector.problems ?? []);
      expect(decodeAttribute(encodeAttribute(attributes, context), context).attributes).toEqual(attributes);
    },
  );

  it.each(nlriVectors().map((vector) => [vector.name, vector] as const))('NLRI: %s', (_name, vector) => {
    const decoded = decodeNlri(bytesOf(vector), vector.safi);
    expect(decoded).toMatchObject(vector.value);
    expect(decoded.descriptor).toEqual(vector.value.descriptor);
    expect(decoded.problems).toEqual([]);
    expect(encodeNlri(decoded)).toEqual(bytesOf(vector));
  });
});

/** Attributes and NLRI fields of the vectors of this repository, and of those that `GRATICULE_VECTORS` names. */
function everything(): { attributes: Uint8Array[]; fields: Uint8Array[] } {
  const attributes = attributeVectors().map(bytesOf);
  const fields = nlriVectors().map(bytesOf);
  const folder = process.env['GRATICULE_VECTORS'];
  if (folder === undefined) {
    console.log('link-state vectors: GRATICULE_VECTORS is unset; the public vectors are skipped');
    return { attributes, fields };
  }
  const bodies: Uint8Array[] = [];
  const names = readdirSync(join(folder, 'bgp-ls')).filter((name) => name.startsWith('bgp-ls-'));
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) {
    const [title, hex] = readFileSync(join(folder, 'bgp-ls', name), 'utf8').split('\n') as [string, string];
    const bytes = Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
    if (title.startsWith('nlri')) fields.push(bytes);
    else bodies.push(...(bytes[0] === 0xff ? updateBodies(bytes) : [bytes]));
  }
  const capture = join(folder, 'bgp-ls-frr', 'isis.bin');
  if (existsSync(capture)) bodies.push(...updateBodies(new Uint8Array(readFileSync(capture))));
  for (const { reach, unreach, attribute } of bodies.map(linkStateUpdate).map(partsOf)) {
    if (attribute !== undefined) attributes.push(attribute);
    for (const field of [reach, unreach]) if (field !== undefined) fields.push(field);
  }
  return { attributes, fields };
}

describe('the same bytes, cut or changed', () => {
  const { attributes, fields } = everything();
  const random = new Random(seed);
  let cases = 0;

  /** Decodes as every protocol, and fails when it is not bounded by the length. */
  function holds(attribute: Uint8Array | undefined, field: Uint8Array | undefined): void {
    cases += 1;
    if (attribute !== undefined) {
      for (const protocolId of [2, 3]) {
        const { steps, fault } = attributeFault(attribute, protocolId, 2);
        if (fault !== undefined) throw new Error(`${Buffer.from(attribute).toString('hex')}: ${fault}`);
        expect(steps).toBeLessThanOrEqual(MOST_STEPS_PER_OCTET * Math.max(attribute.length, 1));
      }
    }
    if (field !== undefined) {
      for (const safi of [71, 72] as const) {
        const { steps } = nlriFieldFault(field, safi);
        expect(steps).toBeLessThanOrEqual(MOST_STEPS_PER_OCTET * Math.max(field.length, 1));
      }
    }
  }

  it('are decoded whole, one octet more at a time, and with random octets changed, in bounded steps', () => {
    for (const attribute of attributes) {
      for (let length = 0; length <= attribute.length; length += 1) {
        holds(attribute.subarray(0, length), undefined);
      }
      for (let count = 0; count < 60; count += 1) holds(mutate(random, attribute), undefined);
    }
    for (const field of fields) {
      for (let length = 0; length <= field.length; length += 1) holds(undefined, field.subarray(0, length));
      for (let count = 0; count < 60; count += 1) holds(undefined, mutate(random, field));
    }
    console.log(
      `link-state vectors: ${attributes.length} attributes, ${fields.length} NLRI fields, ${cases} cases`,
    );
  });
});
