/** What a cycle reads of a device, and within which limits. */
import { encodeOid, type Oid } from './oid.ts';

/** Columns that share an index make the rows of one table group; exact instances make one row of a scalar group. */
export type WalkGroup =
  | { readonly kind: 'table'; readonly columns: readonly Oid[] }
  | { readonly kind: 'scalars'; readonly instances: readonly Oid[] };

/** A plan made ready once for any number of walks: each name as the bytes that requests carry. */
export interface WalkPlan {
  readonly groups: readonly CompiledGroup[];
}

export interface CompiledGroup {
  readonly kind: WalkGroup['kind'];
  readonly oids: readonly Oid[];
  readonly names: readonly Uint8Array[];
}

export interface WalkLimits {
  /** Rows asked of a table at once, at most. 1 to 127: more breaks agents in the field. */
  readonly maxRepetitions: number;
  /** What an answer should not exceed, so that no path fragments it; rows are asked for accordingly. */
  readonly maxResponseBytes: number;
  readonly timeoutMilliseconds: number;
  /** Times that an unanswered request is sent again. */
  readonly retries: number;
  /** Rows of one walk, at most: where an endless table ends. */
  readonly maxRows: number;
}

export const DEFAULT_WALK_LIMITS: WalkLimits = {
  maxRepetitions: 25,
  maxResponseBytes: 1_400,
  timeoutMilliseconds: 2_000,
  retries: 2,
  maxRows: 250_000,
};

export function compileWalkPlan(groups: readonly WalkGroup[]): WalkPlan {
  return {
    groups: groups
      .map((group) => {
        const oids = group.kind === 'table' ? group.columns : group.instances;
        return { kind: group.kind, oids, names: oids.map(encodeOid) };
      })
      .filter((group) => group.oids.length > 0),
  };
}
