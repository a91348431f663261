import type { GnmiMapping, GnmiSlot } from './compile.ts';
import type { PathElement } from './path.ts';
import type { Group } from './row-table.ts';

/** What paths of one schema shape feed. */
export interface PathMatch {
  /** Slots whose path ends exactly here. */
  readonly slots: readonly number[];
  /** Some slot's path goes on below: a JSON value here may hold it. */
  readonly isContainer: boolean;
  readonly chain: Chain;
}

/** The keyed list elements of a path. Chains that are alternatives of each other share a group. */
export interface Chain {
  readonly id: number;
  /** Elements up to and with the last keyed one. */
  readonly length: number;
  readonly keyCount: number;
  /** Signatures of the chains of its lists, outermost first; the last is its own. */
  readonly lists: ReadonlyArray<{ readonly signature: string; readonly keyCount: number }>;
  /** The lowest alternative that was seen to arrive over it. */
  rank: number;
}

/** Distinct schema shapes that are remembered; a device that sends more has its oldest looked up again. */
const MAX_REMEMBERED = 50_000;
/** Lists that rows may be keyed by, in one mapping. */
const MAX_CHAINS = 10_000;

/** The match of a path that feeds nothing. */
const NOWHERE: PathMatch = {
  slots: [],
  isContainer: false,
  chain: { id: -1, length: 0, keyCount: 0, lists: [], rank: 0 },
};

/**
 * Finds the slots for paths by their structure. Origins and module prefixes play no part: devices answer with
 * other ones than were asked for. One index serves every stream of a mapping.
 */
export class PathIndex {
  /** Goes up when two groups turn out to be one. */
  version = 0;
  readonly mapping: GnmiMapping;
  private readonly matches = new Map<string, PathMatch>();
  private readonly chains = new Map<string, Chain>();
  /** Union-find over chains. */
  private readonly parents: number[] = [];
  private readonly chainsOfField: Array<Array<{ chain: Chain; alternative: number }>>;
  private groups = new Map<number, Group>();
  private groupsVersion = -1;
  private readonly dependsOnKeys: boolean;

  constructor(mapping: GnmiMapping) {
    this.mapping = mapping;
    this.chainsOfField = mapping.layout.fields.map(() => []);
    this.dependsOnKeys = mapping.slots.some(({ path }) =>
      path.elements.some(({ keys }) => keys.some(({ value }) => value !== '*')),
    );
  }

  match(elements: readonly PathElement[]): PathMatch {
    const signature = this.signature(elements);
    const known = this.matches.get(signature);
    if (known !== undefined) return known;
    const slots: number[] = [];
    let isContainer = false;
    for (const [slot, { path }] of this.mapping.slots.entries()) {
      if (!beginsWith(path.elements, elements)) continue;
      if (path.elements.length === elements.length) slots.push(slot);
      else isContainer = true;
    }
    // What feeds nothing needs no chain, and a device that makes up list names does not fill this table.
    const isWanted = (slots.length > 0 || isContainer) && this.chains.size < MAX_CHAINS;
    if (!isWanted) return this.remember(signature, NOWHERE);
    const chain = this.chainOf(elements);
    for (const slot of slots) this.linkAlternatives(this.mapping.slots[slot] as GnmiSlot, chain);
    return this.remember(signature, { slots, isContainer, chain });
  }

  /** Paths with one signature feed the same slots. */
  signature(elements: readonly PathElement[]): string {
    return this.signatureOf(elements, this.dependsOnKeys);
  }

  /** The group of a chain's rows. */
  groupOf(chain: Chain): Group {
    if (this.groupsVersion !== this.version) {
      this.groupsVersion = this.version;
      this.groups = new Map();
    }
    const id = this.find(chain.id);
    const known = this.groups.get(id);
    if (known !== undefined) return known;
    const ancestors = chain.lists
      .slice(0, -1)
      .map(({ signature, keyCount }) => ({ id: this.find(this.listChain(signature, keyCount).id), keyCount }))
      .reverse();
    if (chain.keyCount > 0) ancestors.push({ id: this.find(this.listChain('', 0).id), keyCount: 0 });
    const group = { id, ancestors };
    this.groups.set(id, group);
    return group;
  }

  /** The group that a group's rows belong to since the last union. */
  currentGroup(group: Group): Group {
    const id = this.find(group.id);
    const chain = [...this.chains.values()].find((candidate) => candidate.id === id) as Chain;
    return this.groupOf(chain);
  }

  /** Fields whose path ends in a key leaf of one of these lists, with the key's value. */
  keyFills(elements: readonly PathElement[]): Array<{ field: number; value: string }> {
    const fills: Array<{ field: number; value: string }> = [];
    for (const { field, path } of this.mapping.slots) {
      const depth = path.elements.length - 1;
      const list = elements[depth - 1];
      const leaf = path.elements[depth];
      const key = list?.keys.find(({ name }) => name === leaf?.name);
      if (key === undefined || fills.some((fill) => fill.field === field)) continue;
      if (beginsWith(path.elements, elements.slice(0, depth))) fills.push({ field, value: key.value });
    }
    return fills;
  }

  /** Key names that mappings write for the list at the end of these elements: what JSON entries are keyed by. */
  keyNamesBelow(elements: readonly PathElement[]): readonly string[] {
    const last = elements.length - 1;
    for (const { path } of this.mapping.slots) {
      const keys = path.elements[last]?.keys ?? [];
      if (keys.length === 0) continue;
      const unkeyed = [...path.elements.slice(0, last), { name: path.elements[last]?.name ?? '', keys: [] }];
      if (beginsWith(unkeyed, elements)) return keys.map(({ name }) => name);
    }
    return [];
  }

  private remember(signature: string, match: PathMatch): PathMatch {
    if (this.matches.size >= MAX_REMEMBERED) this.matches.clear();
    this.matches.set(signature, match);
    return match;
  }

  private chainOf(elements: readonly PathElement[]): Chain {
    const lists: Array<{ signature: string; keyCount: number }> = [];
    let keyCount = 0;
    let length = 0;
    for (const [index, { keys }] of elements.entries()) {
      if (keys.length === 0) continue;
      keyCount += keys.length;
      length = index + 1;
      lists.push({ signature: this.signatureOf(elements.slice(0, length), false), keyCount });
    }
    const own = lists.at(-1) ?? { signature: '', keyCount: 0 };
    const chain = this.listChain(own.signature, own.keyCount);
    // A list may have been met as another's ancestor first, when only its signature was known.
    if (chain.lists.length < lists.length) Object.assign(chain, { lists, length });
    return chain;
  }

  private listChain(signature: string, keyCount: number): Chain {
    const known = this.chains.get(signature);
    if (known !== undefined) return known;
    const id = this.parents.length;
    this.parents.push(id);
    const chain = { id, length: 0, keyCount, lists: [], rank: Number.MAX_SAFE_INTEGER };
    this.chains.set(signature, chain);
    return chain;
  }

  /** Alternatives of one field name the same things: lists over which they arrive, with as many keys, are one. */
  private linkAlternatives({ field, alternative }: GnmiSlot, chain: Chain): void {
    chain.rank = Math.min(chain.rank, alternative);
    const arrived = this.chainsOfField[field] as Array<{ chain: Chain; alternative: number }>;
    if (arrived.some((other) => other.chain === chain && other.alternative === alternative)) return;
    arrived.push({ chain, alternative });
    for (const other of arrived) {
      if (other.alternative === alternative || other.chain.keyCount !== chain.keyCount) continue;
      const [a, b] = [this.find(other.chain.id), this.find(chain.id)];
      if (a === b) continue;
      this.parents[Math.max(a, b)] = Math.min(a, b);
      this.version += 1;
    }
  }

  private find(id: number): number {
    let root = id;
    while (this.parents[root] !== root) root = this.parents[root] as number;
    return root;
  }

  private signatureOf(elements: readonly PathElement[], withValues: boolean): string {
    let signature = '';
    for (const { name, keys } of elements) {
      signature += `/${name}`;
      for (const key of keys) signature += withValues ? `[${key.name}=${key.value}]` : `[${key.name}]`;
    }
    return signature;
  }
}

/** Whether a mapping's path begins with these elements of a device: `*` and keys left out are any. */
export function beginsWith(pattern: readonly PathElement[], elements: readonly PathElement[]): boolean {
  if (pattern.length < elements.length) return false;
  return elements.every((element, index) => {
    const wanted = pattern[index] as PathElement;
    if (wanted.name !== '*' && wanted.name !== element.name) return false;
    return wanted.keys.every(({ name, value }) => {
      const sent = element.keys.find((key) => key.name === name);
      return sent === undefined || matchesKey(value, sent.value);
    });
  });
}

/** `*` is any text; other characters are themselves. */
function matchesKey(pattern: string, value: string): boolean {
  if (!pattern.includes('*')) return pattern === value;
  const parts = pattern.split('*');
  let at = (parts[0] as string).length;
  const last = parts.at(-1) as string;
  if (!value.startsWith(parts[0] as string) || value.length < at + last.length) return false;
  for (const part of parts.slice(1, -1)) {
    const found = value.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return value.length - last.length >= at && value.endsWith(last);
}
