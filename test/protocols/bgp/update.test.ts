import { describe, expect, it } from 'vitest';
import { AFI, SAFI } from '../../../protocols/bgp/family.ts';
import { encodeMessage, MESSAGE_TYPE } from '../../../protocols/bgp/header.ts';
import { type DecodedUpdate, decodeUpdate, type UpdateContext } from '../../../protocols/bgp/update.ts';

const CONTEXT: UpdateContext = {
  families: [{ afi: AFI.linkState, safi: SAFI.linkState }],
  internal: true,
  fourOctetAs: true,
  localAs: 65_000,
  localIdentifier: 0x0a00_0001,
};

const NLRI = [0, 1, 0, 4, 1, 2, 3, 4];
const ORIGIN = [0x40, 1, 1, 0];
const AS_PATH = [0x40, 2, 0];
const MP_REACH = [0x80, 14, 9 + NLRI.length, 0x40, 4, 71, 4, 10, 0, 0, 1, 0, ...NLRI];
const MP_UNREACH = [0x80, 15, 3 + NLRI.length, 0x40, 4, 71, ...NLRI];
const BGP_LS = [0x80, 29, 4, 4, 2, 0, 0];

function update(attributes: number[][], context: Partial<UpdateContext> = {}): DecodedUpdate {
  return raw(body(attributes), context);
}

function body(attributes: number[][]): Uint8Array {
  const flat = attributes.flat();
  return Uint8Array.of(0, 0, flat.length >> 8, flat.length & 0xff, ...flat);
}

function raise(): never {
  throw new Error('no update came of it');
}

function raw(body: ArrayLike<number>, context: Partial<UpdateContext> = {}): DecodedUpdate {
  return decodeUpdate(encodeMessage(MESSAGE_TYPE.update, Uint8Array.from(body)), { ...CONTEXT, ...context });
}

/** In few words: what became of the routes, and the problems as action, reason and code. */
function outcome(decoded: DecodedUpdate): string[] {
  if (decoded.kind === 'error') return [`reset ${decoded.error.code}/${decoded.error.subcode}`];
  if (decoded.kind === 'end-of-rib') return ['end-of-rib'];
  return decoded.updates.flatMap(({ reach, unreach, linkStateAttribute, problems }) => [
    ...(reach === undefined ? [] : ['reach']),
    ...(unreach === undefined ? [] : ['unreach']),
    ...(linkStateAttribute === undefined ? [] : ['attribute']),
    ...problems.map(({ action, reason, error }) => `${action} ${reason} ${error.code}/${error.subcode}`),
  ]);
}

const withRoute = (...attributes: number[][]) => outcome(update([MP_REACH, ORIGIN, AS_PATH, ...attributes]));
const WITHDRAWN = ['unreach'];

describe('an UPDATE (RFC 4271 §4.3, RFC 4760)', () => {
  it('tells where its routes and its BGP-LS Attribute stand, in a chunk of many messages too', () => {
    const alone = encodeMessage(MESSAGE_TYPE.update, body([MP_REACH, ORIGIN, AS_PATH, BGP_LS]));
    const before = encodeMessage(MESSAGE_TYPE.update, body([MP_UNREACH]));
    const chunk = Uint8Array.of(...before, ...alone, ...before);
    for (const [octets, start, end] of [
      [alone, 0, alone.length],
      [chunk, before.length, before.length + alone.length],
    ] as const) {
      const decoded = decodeUpdate(octets, CONTEXT, start, end);
      if (decoded.kind !== 'routes') throw new Error(decoded.kind);
      const [{ reach, unreach, linkStateAttribute, problems } = raise()] = decoded.updates;
      expect(unreach).toBeUndefined();
      expect(reach).toMatchObject({ afi: 16388, safi: 71 });
      expect([...octets.subarray(reach?.start, reach?.end)]).toEqual(NLRI);
      expect([...octets.subarray(linkStateAttribute?.start, linkStateAttribute?.end)]).toEqual([4, 2, 0, 0]);
      expect(problems).toEqual([]);
    }
  });

  it('may withdraw and announce at once, in whatever order its attributes come (RFC 7606 §5.1)', () => {
    expect(outcome(update([ORIGIN, BGP_LS, MP_UNREACH, AS_PATH, MP_REACH]))).toEqual([
      'reach',
      'unreach',
      'attribute',
    ]);
  });

  it('of a family that was not agreed on is ignored (RFC 4760 §6)', () => {
    expect(outcome(update([MP_REACH, ORIGIN, AS_PATH], { families: [{ afi: 1, safi: 1 }] }))).toEqual([]);
    expect(outcome(update([MP_UNREACH], { families: [{ afi: 1, safi: 1 }] }))).toEqual([]);
  });

  it('takes next hops of 4, 16 and 32 octets, with a route distinguisher before each in SAFI 72 (RFC 9552 §5.5)', () => {
    const reach = (safi: number, length: number) => [
      ...[0x80, 14, 5 + length + NLRI.length, 0x40, 4, safi, length],
      ...new Array<number>(length).fill(1),
      ...[0, ...NLRI],
    ];
    const families = [
      { afi: 16388, safi: 71 },
      { afi: 16388, safi: 72 },
    ];
    for (const [safi, length] of [
      [71, 4],
      [71, 16],
      [71, 32],
      [72, 12],
      [72, 24],
      [72, 48],
    ] as const) {
      expect(outcome(update([reach(safi, length), ORIGIN, AS_PATH], { families }))).toEqual(['reach']);
    }
    for (const length of [0, 5, 12]) {
      expect(outcome(update([reach(71, length), ORIGIN, AS_PATH], { families }))).toEqual(['reset 3/9']);
    }
  });

  it('that says nothing is End-of-RIB, and one with an attribute besides is not (RFC 4724 §2)', () => {
    expect(outcome(raw([0, 0, 0, 0]))).toEqual(['end-of-rib']);
    expect(outcome(update([[0x80, 15, 3, 0x40, 4, 71]]))).toEqual(['end-of-rib']);
    expect(outcome(update([[0x80, 15, 3, 0x40, 4, 71], ORIGIN]))).toEqual(['unreach']);
  });

  it('whose IPv4 prefixes cannot be read is 3/10 (RFC 7606 §5.3)', () => {
    expect(outcome(raw([0, 0, 0, 0, 33, 1, 2, 3, 4, 5]))).toEqual(['reset 3/10']);
    expect(outcome(raw([0, 2, 24, 1, 0, 0]))).toEqual(['reset 3/10']);
  });
});

describe('errors of an UPDATE that only a reset answers', () => {
  it('are lengths that point outside the message: 3/1 (RFC 7606 §3.b)', () => {
    expect(outcome(raw([0, 9, 0, 0]))).toEqual(['reset 3/1']);
    expect(outcome(raw([0, 0, 0, 9]))).toEqual(['reset 3/1']);
    expect(outcome(raw([0xff, 0xff, 0, 0]))).toEqual(['reset 3/1']);
  });

  it('are two MP_REACH_NLRI or two MP_UNREACH_NLRI: 3/1 (RFC 7606 §3.g)', () => {
    expect(outcome(update([MP_REACH, MP_REACH, ORIGIN, AS_PATH]))).toEqual(['reset 3/1']);
    expect(outcome(update([MP_UNREACH, MP_UNREACH]))).toEqual(['reset 3/1']);
  });

  it('are MP attributes that are too short, or whose flags are wrong (RFC 7606 §5.3)', () => {
    expect(outcome(update([[0x80, 14, 4, 0x40, 4, 71, 0]]))).toEqual(['reset 3/9']);
    expect(outcome(update([[0x80, 14, 6, 0x40, 4, 71, 4, 1, 2]]))).toEqual(['reset 3/9']);
    expect(outcome(update([[0x80, 15, 2, 0x40, 4]]))).toEqual(['reset 3/9']);
    expect(outcome(update([[0xc0, ...MP_REACH.slice(1)], ORIGIN, AS_PATH]))).toEqual(['reset 3/4']);
    expect(outcome(update([[0x40, ...MP_UNREACH.slice(1)]]))).toEqual(['reset 3/4']);
  });

  it('are attributes that call themselves well-known and are not: 3/2 with the attribute as data (RFC 4271 §6.3)', () => {
    expect(update([MP_REACH, ORIGIN, AS_PATH, [0x40, 99, 1, 7]])).toMatchObject({
      error: { code: 3, subcode: 2, data: Uint8Array.of(0x40, 99, 1, 7) },
    });
  });

  it('are faulty attributes without a route to withdraw for them (RFC 7606 §5.2)', () => {
    expect(outcome(update([[0x40, 1, 1, 9]]))).toEqual(['reset 3/6']);
    expect(outcome(update([MP_UNREACH, [0x40, 1, 2, 0, 0]]))).toEqual(['reset 3/5']);
  });
});

describe('errors of an UPDATE that cost its routes (treat-as-withdraw)', () => {
  it('are a missing ORIGIN or AS_PATH: missing-mandatory-attribute (RFC 7606 §3.d)', () => {
    const missing = 'treat-as-withdraw missing-mandatory-attribute 3/3';
    expect(outcome(update([MP_REACH, AS_PATH]))).toEqual([...WITHDRAWN, missing]);
    expect(outcome(update([MP_REACH, ORIGIN]))).toEqual([...WITHDRAWN, missing]);
    expect(outcome(update([MP_REACH]))).toEqual([...WITHDRAWN, missing, missing]);
  });

  it('are attributes cut short by the end of the list (RFC 7606 §4)', () => {
    const cut = [...WITHDRAWN, 'treat-as-withdraw malformed 3/5'];
    expect(withRoute([0x80, 4, 9, 0])).toEqual(cut);
    expect(withRoute([0x80])).toEqual(cut);
    expect(withRoute([0x90, 4, 0])).toEqual(cut);
  });

  it('are wrong Optional or Transitive flags (RFC 7606 §3.c)', () => {
    expect(withRoute([0xc0, 4, 4, 0, 0, 0, 1])).toEqual([...WITHDRAWN, 'treat-as-withdraw malformed 3/4']);
    expect(outcome(update([MP_REACH, [0x80, 1, 1, 0], AS_PATH]))).toEqual([
      ...WITHDRAWN,
      'treat-as-withdraw malformed 3/4',
    ]);
  });

  it('are values that RFC 7606 §7 calls malformed, attribute by attribute', () => {
    const withdrawn = (attribute: number[], subcode: number) => {
      const own = attribute[1] === 1 ? [MP_REACH, AS_PATH] : [MP_REACH, ORIGIN];
      const others = attribute[1] === 1 || attribute[1] === 2 ? own : [MP_REACH, ORIGIN, AS_PATH];
      expect(outcome(update([...others, attribute])), `attribute ${attribute}`).toEqual([
        ...WITHDRAWN,
        `treat-as-withdraw malformed 3/${subcode}`,
      ]);
    };
    withdrawn([0x40, 1, 2, 0, 0], 5);
    withdrawn([0x40, 1, 1, 3], 6);
    withdrawn([0x40, 2, 6, 9, 1, 0, 0, 0, 1], 11);
    withdrawn([0x40, 2, 6, 2, 2, 0, 0, 0, 1], 11);
    withdrawn([0x40, 2, 2, 2, 0], 11);
    withdrawn([0x40, 2, 1, 2], 11);
    withdrawn([0x40, 3, 3, 1, 2, 3], 5);
    withdrawn([0x80, 4, 3, 1, 2, 3], 5);
    withdrawn([0x40, 5, 3, 1, 2, 3], 5);
    withdrawn([0xc0, 8, 0], 5);
    withdrawn([0xc0, 8, 3, 1, 2, 3], 5);
    withdrawn([0x80, 9, 3, 1, 2, 3], 5);
    withdrawn([0x80, 10, 3, 1, 2, 3], 5);
    withdrawn([0xc0, 16, 7, 1, 2, 3, 4, 5, 6, 7], 5);
    withdrawn([0xc0, 32, 11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], 5);
  });

  it('keep what the same message withdrew anyway', () => {
    const decoded = update([MP_UNREACH, MP_REACH, [0x40, 1, 1, 9], AS_PATH]);
    expect(outcome(decoded)).toEqual(['unreach', 'unreach', 'treat-as-withdraw malformed 3/6']);
  });

  it('take the strongest action of several problems (RFC 7606 §3.h)', () => {
    expect(withRoute([0x40, 6, 1, 0], [0x80, 4, 1, 0])).toEqual([
      ...WITHDRAWN,
      'attribute-discard malformed 3/5',
      'treat-as-withdraw malformed 3/5',
    ]);
  });
});

describe('errors of an UPDATE that cost an attribute (attribute discard)', () => {
  it('are those of ATOMIC_AGGREGATE, AGGREGATOR, AS4_PATH and AS4_AGGREGATOR', () => {
    const discarded = ['reach', 'attribute-discard malformed 3/5'];
    expect(withRoute([0x40, 6, 1, 0])).toEqual(discarded);
    expect(withRoute([0xc0, 7, 6, 0, 0, 0, 0, 0, 0])).toEqual(discarded);
    expect(withRoute([0xc0, 17, 2, 9, 1])).toEqual(['reach', 'attribute-discard malformed 3/11']);
    expect(withRoute([0xc0, 18, 6, 0, 0, 0, 0, 0, 0])).toEqual(discarded);
  });

  it('are wrong flags on the BGP-LS Attribute: the objects stay without it (RFC 9552 §8.2.2)', () => {
    expect(withRoute([0xc0, 29, 4, 4, 2, 0, 0])).toEqual(['reach', 'attribute-discard malformed 3/4']);
  });

  it('are a second attribute of a kind, of which the first counts (RFC 7606 §3.g)', () => {
    const decoded = update([MP_REACH, ORIGIN, [0x40, 1, 1, 9], AS_PATH, BGP_LS, [0x80, 29, 0]]);
    expect(outcome(decoded)).toEqual(['reach', 'attribute']);
    const { start = 0, end = 0 } =
      (decoded.kind === 'routes' && decoded.updates[0]?.linkStateAttribute) || {};
    expect(end - start).toBe(4);
  });

  it('are attributes of internal sessions that come from an external peer (RFC 7606 §7.5, §7.9, §7.10)', () => {
    const decoded = update([MP_REACH, ORIGIN, AS_PATH, [0x40, 5, 1, 0], [0x80, 9, 1, 0], [0x80, 10, 1, 0]], {
      internal: false,
    });
    expect(outcome(decoded)).toEqual(['reach']);
  });
});

describe('loops', () => {
  it('in AS_PATH or ORIGINATOR_ID keep the routes out, and are counted as such (RFC 4271 §9.1.2, RFC 4456 §8)', () => {
    const loop = (subcode: number) => [...WITHDRAWN, `treat-as-withdraw loop 3/${subcode}`];
    expect(outcome(update([MP_REACH, ORIGIN, [0x40, 2, 6, 2, 1, 0, 0, 0xfd, 0xe8]]))).toEqual(loop(11));
    expect(withRoute([0x80, 9, 4, 10, 0, 0, 1])).toEqual(loop(9));
    const twoOctets = update([MP_REACH, ORIGIN, [0x40, 2, 4, 2, 1, 0xfd, 0xe8]], { fourOctetAs: false });
    expect(outcome(twoOctets)).toEqual(loop(11));
  });
});
