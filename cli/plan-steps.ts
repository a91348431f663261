/** What a plan is made of. */
import type { Json, JsonObject } from './json-text.ts';
import type { ModelStep } from './plan-model.ts';
import type { Mistake, Place } from './source-file.ts';
import type { Owned } from './state-file.ts';
import type { Kind, Wanted, WantedSecret } from './wanted.ts';

/** The stack as it was read. */
export interface CurrentState {
  readonly objects: Readonly<Record<Kind, readonly JsonObject[]>>;
  readonly webhook: JsonObject;
}

export interface Change {
  readonly member: string;
  /** Undefined where nothing was, or where the value is not shown. */
  readonly from: Json | undefined;
  readonly to: Json | undefined;
}

/** One request that changes something. */
export interface Step {
  readonly action: 'create' | 'update' | 'delete';
  readonly kind: Kind | 'webhook';
  readonly key: string;
  readonly method: 'POST' | 'PUT' | 'DELETE';
  /** `{id}` where the object is made by an earlier step. */
  readonly path: string;
  /** Of the object; undefined when it is not there yet. */
  readonly id: number | undefined;
  /** Secrets stand as the mask. */
  readonly body: JsonObject | undefined;
  /** Places in the body that get a secret's value when the step is taken. */
  readonly secrets: ReadonlyMap<string, WantedSecret>;
  /** Devices whose ids join `devices.ids` of the body: some may have none yet. */
  readonly deviceNames: readonly string[];
  /** The object's configuration as the plan saw it: it must still be so. */
  readonly expected: JsonObject | undefined;
  readonly changes: readonly Change[];
  /** Where the files ask for it; undefined for what they no longer have. */
  readonly place: Place | undefined;
  /** Part of a model's change; the order of fields is given by name. */
  readonly part?: ModelStep['part'];
  /** What the state says of the object afterwards; undefined: nothing changes, or it is gone. */
  readonly record:
    | { readonly identity: string; readonly secrets: Readonly<Record<string, string>> }
    | undefined;
  /** The key that the state knew it by, where that was another. */
  readonly previousKey: string | undefined;
  /** Steps of one wave wait for those before it, not for each other. */
  readonly wave: number;
}

export interface Adoption {
  readonly kind: Kind | 'webhook';
  readonly key: string;
  readonly id: number | undefined;
  readonly record: Owned | undefined;
}

export interface Plan {
  readonly steps: readonly Step[];
  /** Taken into the state, without a request: asked for by --adopt, or begun by an apply that was killed. */
  readonly adoptions: readonly Adoption[];
  /** Records of the state that mean nothing any more. */
  readonly forgotten: ReadonlyArray<{ readonly kind: Kind; readonly key: string; readonly id: number }>;
  /** In the way of all of it: nothing is done while there is one. */
  readonly conflicts: readonly Mistake[];
  /** What the files refer to and nobody has. */
  readonly mistakes: readonly Mistake[];
  readonly notes: readonly string[];
  /** Of what the files want, how much is as wanted. */
  readonly unchanged: number;
}

export interface PlanOptions {
  readonly adopt: boolean;
  /** Sends every secret again, as after a rotation. */
  readonly resendSecrets: boolean;
}

/** A wanted object and what there is of it. */
export interface Match {
  readonly wanted: Wanted;
  readonly current: JsonObject | undefined;
  /** As the state had it; undefined for what is new or adopted. */
  readonly owned: Owned | undefined;
  readonly previousKey: string | undefined;
}

export interface KindPlan {
  readonly matches: readonly Match[];
  /** Made from these files earlier, and no longer in them. */
  readonly removals: ReadonlyArray<{ readonly key: string; readonly current: JsonObject }>;
}
