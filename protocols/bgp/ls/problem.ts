/**
 * What is wrong with an NLRI or an attribute, as data. RFC 9552 §8.2.2 knows two kinds: a syntactic error has an
 * action, a semantic one (contents, presence, lengths of known TLVs) must never make an object malformed.
 */
import type { LinkStateSafi } from './code-point.ts';

/**
 * What RFC 9552 §8.2.2 and RFC 7606 want done, weakest first.
 * `none`: kept as it is. `attribute-discard`: the objects stay, without attribute. `nlri-discard`: that NLRI is skipped.
 * `afi-safi-disable`: the rest of the field cannot be framed; a session whose only family this is resets instead.
 */
export type ProblemAction = 'none' | 'attribute-discard' | 'nlri-discard' | 'afi-safi-disable';

export type ProblemCode =
  | 'nlri-overruns-field'
  | 'nlri-too-short'
  | 'tlv-overruns'
  | 'sub-tlv-overruns'
  | 'duplicate-node-descriptor-sub-tlv'
  | 'out-of-order'
  | 'missing-tlv'
  | 'duplicate-tlv'
  | 'wrong-length'
  | 'invalid-value'
  | 'too-many-problems';

export interface LinkStateProblem {
  readonly code: ProblemCode;
  readonly action: ProblemAction;
  /** The TLV that it is about; absent when it is about the whole. */
  readonly type?: number;
  /** Octets from the start of what was decoded. */
  readonly offset: number;
}

/** A problem of an UPDATE's NLRI field, which belongs to one family. */
export type UpdateProblem = LinkStateProblem & { readonly safi: LinkStateSafi };

const STRENGTH: Record<ProblemAction, number> = {
  none: 0,
  'attribute-discard': 1,
  'nlri-discard': 2,
  'afi-safi-disable': 3,
};

/** The strongest action that any of these asks for, as RFC 7606 §2 has it. */
export function strongestAction(problems: readonly LinkStateProblem[]): ProblemAction {
  let strongest: ProblemAction = 'none';
  for (const { action } of problems) {
    if (STRENGTH[action] > STRENGTH[strongest]) strongest = action;
  }
  return strongest;
}

/** More than these of one object tell nobody anything, and a peer could make them without end. */
export const MOST_PROBLEMS = 32;

export const NO_PROBLEMS: readonly LinkStateProblem[] = Object.freeze([]);

export class ProblemList {
  private found: LinkStateProblem[] | undefined = undefined;

  add(code: ProblemCode, action: ProblemAction, offset: number, type?: number): void {
    this.found ??= [];
    const problems = this.found;
    const problem = type === undefined ? { code, action, offset } : { code, action, type, offset };
    if (problems.length < MOST_PROBLEMS) problems.push(problem);
    // The last place is kept for what has an action.
    else if (action !== 'none') problems[MOST_PROBLEMS - 1] = problem;
    else if (problems[MOST_PROBLEMS - 1]?.action === 'none') {
      problems[MOST_PROBLEMS - 1] = { code: 'too-many-problems', action: 'none', offset };
    }
  }

  /** What was added since the last call. */
  take(): readonly LinkStateProblem[] {
    const problems = this.found ?? NO_PROBLEMS;
    this.found = undefined;
    return problems;
  }
}
