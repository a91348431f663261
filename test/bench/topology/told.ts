/** Whether the API's lists hold what a reflector was told, object by object: ids worked out here, octets as they were sent. */
import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';

export interface Told {
  readonly type: string;
  readonly nlri: Uint8Array;
  readonly attribute: Uint8Array;
  readonly attributes: object;
}

const ID_PREFIX: Readonly<Record<string, string>> = {
  node: 'n.',
  link: 'l.',
  'ipv4-prefix': 'p.',
  'ipv6-prefix': 'p.',
  'srv6-sid': 's.',
};

/** The public id, from AFI 16388, SAFI 71 and the NLRI, without the product's own code. */
export function idOf({ type, nlri }: Told): string {
  const digest = createHash('sha256')
    .update(Uint8Array.of(0x40, 0x04, 71))
    .update(nlri)
    .digest();
  return `${ID_PREFIX[type]}${digest.subarray(0, 16).toString('base64url')}`;
}

const LISTS = ['nodes', 'links', 'prefixes', 'srv6-sids'] as const;
const PAGE = 1_000;
/** Members that a list's decoded attributes must have as they were told. */
const COMPARED = ['node-name', 'igp-metric', 'prefix-metric'] as const;

interface Listed {
  readonly id: string;
  readonly stale: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly sources: readonly { readonly raw: { readonly nlri: string; readonly attribute: string } }[];
}

/**
 * Reads all four lists page by page with `raw=true`; throws at the first object that is missing, that nobody told, or whose
 * NLRI, attribute octets, name or metric are others. Returns how many were compared.
 */
export async function compareLists(
  get: (path: string) => Promise<readonly Listed[]>,
  objects: Iterable<Told>,
): Promise<number> {
  const told = new Map([...objects].map((object) => [idOf(object), object]));
  let compared = 0;
  for (const list of LISTS) {
    let after = '';
    for (;;) {
      const page = await get(`/api/topology/${list}?raw=true&limit=${PAGE}${after}`);
      for (const { id, stale, attributes, sources } of page) {
        const object = told.get(id);
        assert(object !== undefined, `${list}: nobody told ${id}`);
        assert.equal(stale, false, id);
        const raw = sources.map((source) => source.raw);
        assert.deepEqual(raw, [{ nlri: hex(object.nlri), attribute: hex(object.attribute) }], id);
        const expected = object.attributes as Readonly<Record<string, unknown>>;
        for (const name of COMPARED) assert.equal(attributes[name], expected[name], `${id} ${name}`);
        told.delete(id);
        compared += 1;
      }
      if (page.length < PAGE) break;
      after = `&after=${page.at(-1)?.id}`;
    }
  }
  assert.deepEqual([...told.keys()].slice(0, 3), [], `${told.size} are in no list`);
  return compared;
}

function hex(octets: Uint8Array): string {
  return Buffer.from(octets).toString('hex');
}
