import { create, toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { formatElems, formatPath } from '../../../protocols/gnmi/path.ts';
import { PathArena } from '../../../protocols/gnmi/path-arena.ts';
import { SubscribeResponseSchema } from '../../../protocols/gnmi/schema.ts';
import {
  type NotificationSink,
  SubscribeResponseDecoder,
  viewOf,
} from '../../../protocols/gnmi/subscribe-response.ts';

type Keys = ReadonlyArray<readonly [string, string]>;

/** Writes the path byte by byte, so that keys stand in the order given. */
function update(elems: ReadonlyArray<readonly [name: string, keys: Keys]>): Uint8Array {
  const field = (tag: number, body: number[]) => [tag, body.length, ...body];
  const text = (tag: number, value: string) => field(tag, [...Buffer.from(value)]);
  const path = elems.flatMap(([name, keys]) =>
    field(0x1a, [
      ...text(0x0a, name),
      ...keys.flatMap(([key, value]) => field(0x12, [...text(0x0a, key), ...text(0x12, value)])),
    ]),
  );
  const notification = field(0x22, [...field(0x0a, path), ...field(0x1a, [0x18, 7])]);
  return Uint8Array.from(field(0x0a, notification));
}

class Ids implements NotificationSink {
  readonly seen: [stemId: number, leafId: number][] = [];
  begin(): void {}
  delete(): void {}
  update(stemId: number, leafId: number): void {
    this.seen.push([stemId, leafId]);
  }
  end(): void {}
  sync(): void {}
  error(): void {}
}

function decodeAll(arena: PathArena, messages: readonly Uint8Array[]): Ids {
  const sink = new Ids();
  const decoder = new SubscribeResponseDecoder(arena, sink);
  for (const bytes of messages) {
    expect(decoder.decode(bytes, viewOf(bytes), 0, bytes.length)).toBe(true);
  }
  return sink;
}

const counter = (name: string, leaf: string) =>
  update([
    ['interfaces', []],
    ['interface', [['name', name]]],
    ['state', []],
    [leaf, []],
  ]);

describe('the path arena', () => {
  it('cuts a path behind its last element with keys', () => {
    const arena = new PathArena();
    const [[stemId, leafId] = [-1, -1]] = decodeAll(arena, [counter('eth0', 'in-octets')]).seen;
    expect(formatPath(arena.stem(stemId))).toBe('/interfaces/interface[name=eth0]');
    expect(formatElems(arena.leaf(leafId))).toBe('/state/in-octets');
    expect(formatPath(arena.path(stemId, leafId))).toBe('/interfaces/interface[name=eth0]/state/in-octets');
  });

  it('gives one id a row and one id a column, whatever the order in which they come', () => {
    const arena = new PathArena();
    const names = ['eth0', 'eth1', 'eth2'];
    const leaves = ['in-octets', 'out-octets'];
    const byRow = names.flatMap((name) => leaves.map((leaf) => counter(name, leaf)));
    const byColumn = leaves.flatMap((leaf) => names.map((name) => counter(name, leaf)));
    const first = decodeAll(arena, byRow).seen;
    const second = decodeAll(arena, byColumn).seen;
    expect(arena.stems).toBe(3);
    expect(arena.leaves).toBe(2);
    expect(new Set(first.map(String))).toEqual(new Set(second.map(String)));
  });

  it('knows a row again when its keys come in another order', () => {
    const arena = new PathArena();
    const protocol = (keys: Keys) =>
      update([
        ['protocol', keys],
        ['state', []],
      ]);
    const { seen } = decodeAll(arena, [
      protocol([
        ['identifier', 'BGP'],
        ['name', 'x'],
      ]),
      protocol([
        ['name', 'x'],
        ['identifier', 'BGP'],
      ]),
    ]);
    expect(seen[0]).toEqual(seen[1]);
  });

  it('knows a row again when a prefix carries a part of it', () => {
    const arena = new PathArena();
    const whole = counter('eth0', 'in-octets');
    const withPrefix = toBinary(
      SubscribeResponseSchema,
      create(SubscribeResponseSchema, {
        response: {
          case: 'update',
          value: {
            prefix: { elem: [{ name: 'interfaces' }, { name: 'interface', key: { name: 'eth0' } }] },
            update: [{ path: { elem: [{ name: 'state' }, { name: 'in-octets' }] } }],
          },
        },
      } as never),
    );
    const { seen } = decodeAll(arena, [whole, withPrefix, whole]);
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[2]).toEqual(seen[0]);
  });

  it('reads the deprecated string elements as the path that they mean', () => {
    const arena = new PathArena();
    const deprecated = toBinary(
      SubscribeResponseSchema,
      create(SubscribeResponseSchema, {
        response: {
          case: 'update',
          value: {
            update: [{ path: { element: ['interfaces', 'interface[name=eth0]', 'state', 'in-octets'] } }],
          },
        },
      } as never),
    );
    const { seen } = decodeAll(arena, [counter('eth0', 'in-octets'), deprecated, deprecated]);
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[2]).toEqual(seen[0]);
  });

  it('starts afresh when a target names ever new rows, and tells by its generation', () => {
    const arena = new PathArena(200_000);
    const messages = Array.from({ length: 3_000 }, (_, index) => counter(`eth${index}`, 'in-octets'));
    decodeAll(arena, messages);
    expect(arena.generation).toBeGreaterThan(0);
    expect(arena.stems).toBeLessThan(1_000);
    const again = decodeAll(arena, [counter('eth1', 'out-octets')]).seen[0];
    expect(formatPath(arena.path(...(again as [number, number])))).toBe(
      '/interfaces/interface[name=eth1]/state/out-octets',
    );
  });
});
