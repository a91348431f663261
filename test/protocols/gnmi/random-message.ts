/** Random SubscribeResponses of every shape that gnmi.proto allows, and their bytes bent. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { SubscribeResponseSchema, TypedValueSchema } from '../../../protocols/gnmi/schema.ts';

/** A seeded source of chance (mulberry32): `GRATICULE_SEED` repeats a run. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** 0 ≤ n < below. */
  below(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  }

  maybe(oneIn: number): boolean {
    return this.below(oneIn) === 0;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }

  int64(): bigint {
    return BigInt.asIntN(64, this.uint64());
  }

  uint64(): bigint {
    const bits = BigInt(this.below(65));
    return (
      BigInt.asUintN(64, (BigInt(this.below(2 ** 32)) << 32n) | BigInt(this.below(2 ** 32))) >> (64n - bits)
    );
  }

  bytes(longest: number): Uint8Array {
    return Uint8Array.from({ length: this.below(longest + 1) }, () => this.below(256));
  }
}

export function seedOfRun(): number {
  const given = process.env['GRATICULE_SEED'];
  return given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
}

const NAMES = [
  'interfaces',
  'interface',
  'state',
  'counters',
  'in-octets',
  'oc-if:x',
  '',
  'ü/]\\',
  'a'.repeat(200),
];
const KEY_NAMES = ['name', 'index', 'identifier', ''];
const KEY_VALUES = ['eth0', 'FourHundredGigE0/2/0/3', '192.0.2.1/32', 'a]b\\c', '', '*'];

function randomPath(
  chance: Chance,
): MessageInitShape<typeof SubscribeResponseSchema> extends never ? never : object {
  return {
    origin: chance.maybe(4) ? chance.pick(['openconfig', 'eos_native']) : '',
    target: chance.maybe(8) ? 'leaf1' : '',
    element: chance.maybe(12)
      ? ['interfaces', 'interface[name=eth0]', 'state'].slice(0, 1 + chance.below(3))
      : [],
    elem: Array.from({ length: chance.below(5) }, () => ({
      name: chance.pick(NAMES),
      key: Object.fromEntries(
        Array.from({ length: chance.maybe(2) ? chance.below(4) : 0 }, () => [
          chance.pick(KEY_NAMES),
          chance.pick(KEY_VALUES),
        ]),
      ),
    })),
  };
}

type ValueInit = MessageInitShape<typeof TypedValueSchema>;

function randomValue(chance: Chance, depth = 0): ValueInit {
  const text = chance.pick(['', 'UP', '"123"', '{"a":[null]}', 'ü€😀', '\ufeffbom']);
  const values = [
    { case: 'stringVal', value: text },
    { case: 'asciiVal', value: text },
    { case: 'intVal', value: chance.int64() },
    { case: 'uintVal', value: chance.uint64() },
    { case: 'boolVal', value: chance.maybe(2) },
    { case: 'bytesVal', value: chance.bytes(20) },
    { case: 'jsonVal', value: new TextEncoder().encode(text) },
    { case: 'jsonIetfVal', value: new TextEncoder().encode(text) },
    { case: 'protoBytes', value: chance.bytes(20) },
    {
      case: 'floatVal',
      value: chance.pick([0, 1.5, -0, Math.fround(20.4), Number.POSITIVE_INFINITY, Number.NaN]),
    },
    { case: 'doubleVal', value: chance.pick([0, 0.1, -1e300, Number.NEGATIVE_INFINITY, Number.NaN]) },
    {
      case: 'decimalVal',
      value: { $typeName: 'gnmi.Decimal64', digits: chance.int64(), precision: chance.below(19) },
    },
    { case: 'anyVal', value: chance.bytes(9) },
  ];
  if (depth < 2 && chance.maybe(8)) {
    const element = Array.from({ length: chance.below(4) }, () => ({
      $typeName: 'gnmi.TypedValue',
      ...randomValue(chance, depth + 1),
    }));
    return {
      value: { case: 'leaflistVal', value: { $typeName: 'gnmi.ScalarArray', element: element as never } },
    };
  }
  return chance.maybe(20) ? { value: { case: undefined } } : ({ value: chance.pick(values) } as ValueInit);
}

/** A message's initial shape; `create` makes the message of it. */
export function randomResponse(chance: Chance): MessageInitShape<typeof SubscribeResponseSchema> {
  const extension = chance.maybe(10) ? [chance.bytes(12)] : [];
  const kind = chance.below(20);
  if (kind === 0) return { response: { case: 'syncResponse', value: chance.maybe(2) }, extension } as never;
  if (kind === 1)
    return { response: { case: 'error', value: { code: 5, message: 'gone' } }, extension } as never;
  if (kind === 2) return { extension } as never;
  const paths = Array.from({ length: 1 + chance.below(3) }, () => randomPath(chance));
  const path = () => (chance.maybe(3) ? chance.pick(paths) : randomPath(chance));
  return {
    response: {
      case: 'update',
      value: {
        timestamp: chance.int64(),
        ...(chance.maybe(3) ? { prefix: randomPath(chance) } : {}),
        atomic: chance.maybe(5),
        delete: Array.from({ length: chance.maybe(4) ? chance.below(3) : 0 }, path),
        update: Array.from({ length: chance.below(6) }, () => ({
          ...(chance.maybe(15) ? {} : { path: path() }),
          ...(chance.maybe(15) ? {} : { val: randomValue(chance) }),
          ...(chance.maybe(15) ? { value: { value: chance.bytes(5), type: chance.below(6) } } : {}),
          duplicates: chance.maybe(6) ? chance.below(100) : 0,
        })),
      },
    },
    extension,
  } as never;
}

/** The message with bytes changed, cut off, doubled or added: mostly no message any more, sometimes another. */
export function bend(chance: Chance, bytes: Uint8Array): Uint8Array {
  const bent = Uint8Array.from(bytes);
  switch (chance.below(4)) {
    case 0:
      return bent.subarray(0, chance.below(bent.length + 1));
    case 1: {
      const from = chance.below(bent.length + 1);
      const to = from + chance.below(bent.length - from + 1);
      return Uint8Array.from([...bent.subarray(0, to), ...bent.subarray(from)]);
    }
    case 2:
      return Uint8Array.from([...bent, ...bytes]);
    default:
      for (let times = 1 + chance.below(3); times > 0 && bent.length > 0; times -= 1) {
        bent[chance.below(bent.length)] = chance.below(256);
      }
      return bent;
  }
}
