import { describe, expect, it } from 'vitest';
import {
  ableWorkers,
  HeartbeatWatch,
  type OwnerRecord,
  resourcesToTake,
  type WorkerRecord,
} from '../../core/ownership.ts';

function worker(id: string, beat: number, epoch = 1): WorkerRecord {
  const abilities = { 'tcp-md5': true, 'ttl-security': true, 'bgp-listen': false };
  const written = { beatAt: 0, startedAt: '', version: '1.0.0', draining: false, sourceAddresses: [] };
  return { id, epoch, beat, ...written, abilities };
}

describe('watching heartbeats', () => {
  it('takes a worker for alive until its beat has stood still for 12 s of the watcher’s own clock', () => {
    const watch = new HeartbeatWatch();
    watch.observe([worker('a', 1)], 0);
    watch.observe([worker('a', 2)], 5_000);
    watch.observe([worker('a', 2)], 16_000);
    expect(watch.isAlive('a', 16_999)).toBe(true);
    expect(watch.isAlive('a', 17_000)).toBe(false);
  });

  it('sees a new epoch as a sign of life, and forgets a worker that is struck off', () => {
    const watch = new HeartbeatWatch();
    watch.observe([worker('a', 7, 1)], 0);
    watch.observe([worker('a', 7, 2)], 11_000);
    expect(watch.isAlive('a', 20_000)).toBe(true);
    watch.observe([], 20_000);
    expect(watch.isAlive('a', 20_000)).toBe(false);
  });
});

describe('taking what nobody owns', () => {
  const ids = Array.from({ length: 1000 }, (_, index) => index + 1);
  const none = new Map<number, OwnerRecord>();

  it('splits the unowned among the candidates, each to exactly one, whatever their order', () => {
    const forward = ['a', 'b', 'c'];
    const shares = forward.map((self) =>
      resourcesToTake(
        self,
        'peer',
        ids,
        none,
        () => forward,
        () => true,
      ),
    );
    expect(shares.flat().sort((x, y) => x - y)).toEqual(ids);
    for (const share of shares) expect(share.length).toBeGreaterThan(250);
    expect(
      resourcesToTake(
        'b',
        'peer',
        ids,
        none,
        () => ['c', 'b', 'a'],
        () => true,
      ),
    ).toEqual(shares[1]);
  });

  it('is sticky: what a live worker owns is nobody else’s when another one joins', () => {
    const owners = new Map(ids.map((id) => [id, { id, worker: 'a', epoch: 1 }]));
    expect(
      resourcesToTake(
        'c',
        'peer',
        ids,
        owners,
        () => ['a', 'c'],
        () => true,
      ),
    ).toEqual([]);
  });

  it('takes over what a dead worker owned and what was released', () => {
    const owners = new Map<number, OwnerRecord>([
      [1, { id: 1, worker: 'dead', epoch: 4 }],
      [2, { id: 2, worker: '', epoch: 9 }],
      [3, { id: 3, worker: 'b', epoch: 1 }],
    ]);
    expect(
      resourcesToTake(
        'a',
        'peer',
        [1, 2, 3],
        owners,
        () => ['a'],
        (id) => id !== 'dead',
      ),
    ).toEqual([1, 2]);
  });

  it('takes back all that an earlier process under the same id owned, whoever would win it', () => {
    const owners = new Map(ids.map((id) => [id, { id, worker: 'a', epoch: 1 }]));
    expect(
      resourcesToTake(
        'a',
        'peer',
        ids,
        owners,
        () => ['a', 'b'],
        () => true,
      ),
    ).toEqual(ids);
    expect(
      resourcesToTake(
        'b',
        'peer',
        ids,
        owners,
        () => ['a', 'b'],
        () => true,
      ),
    ).toEqual([]);
  });

  it('leaves what needs an ability to those that have it, and to all when none has', () => {
    const silent = worker('silent', 1);
    const listening = { ...worker('listening', 1), abilities: { ...silent.abilities, 'bgp-listen': true } };
    expect(ableWorkers([silent, listening], ['bgp-listen', 'tcp-md5'])).toEqual(['listening']);
    expect(ableWorkers([silent, listening], ['tcp-md5'])).toEqual(['silent', 'listening']);
    expect(ableWorkers([silent], ['bgp-listen'])).toEqual(['silent']);
  });
});
