import type { Match } from './plan-steps.ts';
import { identityOf } from './wanted.ts';

/**
 * The order in which peers move to other addresses: the stack lets no two have one, so a peer waits for the one that holds
 * what it wants. `waves` has the movers alone, those of one wave at once. Where they wait in a circle, one of each is
 * `remade`: removed before and made again after all others.
 */
export function orderPeerMoves(matches: readonly Match[]): {
  readonly waves: readonly (readonly Match[])[];
  readonly remade: readonly Match[];
} {
  const holders = new Map<string, Match>();
  const movers = new Set<Match>();
  const target = (match: Match) => identityOf('peer', match.wanted.configuration);
  for (const match of matches) {
    if (match.current === undefined) continue;
    const present = identityOf('peer', match.current);
    holders.set(present, match);
    if (present !== target(match)) movers.add(match);
  }
  const waves: Match[][] = [];
  const remade: Match[] = [];
  const waitsFor = (match: Match) => {
    const holder = holders.get(target(match));
    return holder !== undefined && holder !== match && movers.has(holder);
  };
  while (movers.size > 0) {
    const ready = [...movers].filter((match) => !waitsFor(match));
    if (ready.length > 0) {
      waves.push(ready);
    } else {
      // Each waits for another: they are circles, and what waits for circles. One that is waited for is taken out.
      const waited = holders.get(target([...movers][0] as Match)) as Match;
      ready.push(circleMember(waited, (match) => holders.get(target(match)) as Match));
      remade.push(...ready);
    }
    for (const match of ready) movers.delete(match);
  }
  return { waves, remade };
}

/** Following who waits for whom ends in a circle; this is a member of it. */
function circleMember(start: Match, next: (match: Match) => Match): Match {
  const seen = new Set<Match>();
  let match = start;
  while (!seen.has(match)) {
    seen.add(match);
    match = next(match);
  }
  return match;
}
