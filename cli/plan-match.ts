/** Which object of the stack is which of the files: the rules of what is ours. */
import type { JsonObject } from './json-text.ts';
import { pendingDigest } from './pending.ts';
import type { Adoption, CurrentState, KindPlan, Match } from './plan-steps.ts';
import type { Mistake } from './source-file.ts';
import { type ApplyState, type Owned, ownedOf } from './state-file.ts';
import { configurationOf, identityOf, type Kind, keyOf, type Wanted, type WantedState } from './wanted.ts';

export class Matcher {
  readonly adoptions: Adoption[] = [];
  readonly forgotten: { kind: Kind; key: string; id: number }[] = [];
  readonly conflicts: Mistake[] = [];
  readonly notes: string[] = [];
  private readonly current: CurrentState;
  private readonly wanted: WantedState;
  private readonly state: ApplyState;
  private readonly adopts: boolean;

  constructor(current: CurrentState, wanted: WantedState, state: ApplyState, adopts: boolean) {
    this.current = current;
    this.wanted = wanted;
    this.state = state;
    this.adopts = adopts;
  }

  /** Finds what there is of each wanted object: by the state, by what a killed apply began, or by --adopt. */
  match(kind: Kind): KindPlan {
    const there = new Map(this.current.objects[kind].map((object) => [Number(object['id']), object]));
    const owned = this.stillOwned(kind, there);
    this.finishPending(kind, owned);
    const wanted = this.wanted.objects[kind];
    if (wanted === undefined) {
      if (owned.size > 0) {
        const what = `${owned.size} ${kind}${owned.size === 1 ? '' : 's'} made from here`;
        this.notes.push(`no file speaks of ${kind}s: ${what} stay; write "${kind}s: []" to remove them`);
      }
      return { matches: [], removals: [] };
    }
    const keys = new Set(wanted.map(({ key }) => key));
    const taken = new Set([...owned.values()].map(({ id }) => id));
    const leftOver = new Map([...owned].filter(([key]) => !keys.has(key)));
    const matches: Match[] = [];
    for (const item of wanted) {
      const known = owned.get(item.key);
      if (known !== undefined) {
        const object = there.get(known.id) as JsonObject;
        matches.push({ wanted: item, current: object, owned: known, previousKey: undefined });
        continue;
      }
      const renamed = this.renamed(item, leftOver);
      if (renamed !== undefined) {
        leftOver.delete(renamed.key);
        const object = there.get(renamed.owned.id) as JsonObject;
        matches.push({ wanted: item, current: object, owned: renamed.owned, previousKey: renamed.key });
        continue;
      }
      const stranger = this.stranger(item, taken);
      if (stranger === undefined) {
        matches.push({ wanted: item, current: undefined, owned: undefined, previousKey: undefined });
      } else if (this.adopts) {
        taken.add(Number(stranger['id']));
        matches.push({ wanted: item, current: stranger, owned: undefined, previousKey: undefined });
      } else {
        const sentence = `the ${kind} ${item.key} exists as id ${stranger['id']}, and was not made from these files; --adopt takes it over`;
        this.conflicts.push({ place: item.place, sentence });
      }
    }
    const removals = [...leftOver].map(([key, { id }]) => ({ key, current: there.get(id) as JsonObject }));
    this.refuseTakenIdentities(kind, matches, removals);
    return { matches, removals };
  }

  /** Records whose object is still there and still that object: ids begin anew when a stack does. */
  private stillOwned(kind: Kind, there: ReadonlyMap<number, JsonObject>): Map<string, Owned> {
    const owned = new Map<string, Owned>();
    for (const [key, record] of ownedOf(this.state, kind)) {
      const object = there.get(record.id);
      const isIt =
        object !== undefined &&
        (keyOf(kind, object) === key ||
          (record.identity !== '' && identityOf(kind, object) === record.identity));
      if (isIt) owned.set(key, record);
      else {
        this.forgotten.push({ kind, key, id: record.id });
        if (object !== undefined)
          this.notes.push(`${kind} ${record.id} is another than ${key} by now; it is left alone`);
      }
    }
    return owned;
  }

  /** A creation whose answer never came was done if its object is there: newer than all before it, and just as asked. */
  private finishPending(kind: Kind, owned: Map<string, Owned>): void {
    const taken = new Set([...owned.values()].map(({ id }) => id));
    for (const [key, { after, digest, secrets }] of Object.entries(this.state.pending[kind] ?? {})) {
      if (owned.has(key)) continue;
      const object = this.current.objects[kind].find(
        (candidate) =>
          Number(candidate['id']) > after &&
          !taken.has(Number(candidate['id'])) &&
          pendingDigest(kind, configurationOf(kind, candidate)) === digest,
      );
      if (object === undefined) continue;
      const id = Number(object['id']);
      const record = { id, identity: identityOf(kind, object), secrets };
      owned.set(key, record);
      taken.add(id);
      this.adoptions.push({ kind, key, id, record });
      this.notes.push(`${kind} ${key} was made by an apply that was cut short, as id ${id}`);
    }
  }

  /** An own object that no file names any more and that is this one all the same: its name was changed in the file. */
  private renamed(
    item: Wanted,
    leftOver: ReadonlyMap<string, Owned>,
  ): { key: string; owned: Owned } | undefined {
    if (item.kind !== 'peer' && item.kind !== 'device') return undefined;
    const identity = identityOf(item.kind, item.configuration);
    for (const [key, owned] of leftOver) if (owned.identity === identity) return { key, owned };
    return undefined;
  }

  /** What stands in the way of a creation and is not ours. */
  private stranger(item: Wanted, taken: ReadonlySet<number>): JsonObject | undefined {
    return this.current.objects[item.kind].find((object) => {
      if (taken.has(Number(object['id']))) return false;
      // Names of peers are free; what the API keeps apart is their address.
      return item.kind === 'peer'
        ? identityOf('peer', object) === identityOf('peer', item.configuration)
        : keyOf(item.kind, object) === item.key;
    });
  }

  /** An own object cannot move to what a stranger holds. */
  private refuseTakenIdentities(kind: Kind, matches: readonly Match[], removals: KindPlan['removals']): void {
    if (kind === 'subscription') return;
    const own = new Set([
      ...matches.map(({ current }) => Number(current?.['id'] ?? 0)),
      ...removals.map(({ current }) => Number(current['id'])),
    ]);
    const unique = (object: JsonObject) =>
      kind === 'peer' ? identityOf('peer', object) : keyOf(kind, object);
    const strangers = new Map(
      this.current.objects[kind]
        .filter(({ id }) => !own.has(Number(id)))
        .map((object) => [unique(object), Number(object['id'])]),
    );
    for (const { wanted, current } of matches) {
      const holder = strangers.get(unique(wanted.configuration));
      if (current === undefined || holder === undefined) continue;
      const what = kind === 'peer' ? 'address, port and local address' : 'name';
      const sentence = `the ${kind} ${wanted.key} (id ${current['id']}) cannot have this ${what}: ${kind} ${holder}, which was not made from these files, has it`;
      this.conflicts.push({ place: wanted.place, sentence });
    }
  }
}
