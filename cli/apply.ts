/** Takes the steps of a plan, and writes down what was made while it does. */
import type { ApiClient } from './client.ts';
import { Refusal } from './client.ts';
import { EXIT, type ExitCode, Failure } from './exit-code.ts';
import { isObject, isSameJson, type Json, type JsonObject } from './json-text.ts';
import { pendingOf } from './pending.ts';
import { comparable } from './plan-configuration.ts';
import type { CurrentState, Plan, Step } from './plan-steps.ts';
import type { SecretValues } from './secret-values.ts';
import { formatPlace } from './source-file.ts';
import type { ApplyState, Owned, Pending } from './state-file.ts';
import { configurationOf, identityOf, type Kind } from './wanted.ts';

/** Requests at a time: a stack's partition takes a thousand writes a second, and other people write too. */
const CONCURRENCY = 8;

/** Fewer go one after the other: nobody waits long, and ids are in the order of the files. */
const MANY_STEPS = 16;

export interface ApplyInput {
  readonly plan: Plan;
  readonly current: CurrentState;
  readonly client: ApiClient;
  readonly secrets: Pick<SecretValues, 'fill'>;
  readonly keeper: StateKeeper;
  /** Once it fires, steps under way are finished and no other is begun. */
  readonly interrupt: AbortSignal;
  /** Told of each step that was taken. */
  readonly onStep: (step: Step, id: number | undefined) => void;
}

export interface ApplyOutcome {
  readonly done: number;
  readonly failures: readonly { readonly sentence: string; readonly exitCode: ExitCode }[];
  /** Steps that were not begun. */
  readonly left: number;
}

/** Takes steps wave by wave; after the first failure no other is begun. */
export async function applyPlan(input: ApplyInput): Promise<ApplyOutcome> {
  const { plan, keeper, interrupt } = input;
  keeper.adopt(plan);
  const run = new Run(input);
  const failures: { sentence: string; exitCode: ExitCode }[] = [];
  let done = 0;
  try {
    const waves = [...new Set(plan.steps.map(({ wave }) => wave))].sort((a, b) => a - b);
    for (const wave of waves) {
      const steps = plan.steps.filter((step) => step.wave === wave);
      run.prepare(steps);
      let next = 0;
      const work = async () => {
        while (next < steps.length && failures.length === 0 && !interrupt.aborted) {
          const step = steps[next] as Step;
          next += 1;
          try {
            const id = await run.take(step);
            done += 1;
            input.onStep(step, id);
          } catch (error) {
            if (!(error instanceof Failure)) throw error;
            failures.push({ sentence: `${label(step)}: ${error.message}`, exitCode: error.exitCode });
          }
        }
      };
      await Promise.all(Array.from({ length: steps.length < MANY_STEPS ? 1 : CONCURRENCY }, work));
      run.abandon(steps.slice(next));
      if (failures.length > 0 || interrupt.aborted) break;
    }
  } finally {
    keeper.finish();
  }
  return { done, failures, left: plan.steps.length - done - failures.length };
}

class Run {
  private readonly input: ApplyInput;
  /** Of objects made in this run, by kind and key. */
  private readonly ids = new Map<string, number>();
  /** Revisions of models between their steps. */
  private readonly etags = new Map<string, string>();

  constructor(input: ApplyInput) {
    this.input = input;
    for (const device of input.current.objects.device)
      this.ids.set(`device ${device['name']}`, Number(device['id']));
  }

  /** Writes down which creations are about to begin. */
  prepare(steps: readonly Step[]): void {
    const creations = steps.filter(({ action }) => action === 'create');
    if (creations.length === 0) return;
    for (const step of creations) {
      const kind = step.kind as Kind;
      this.input.keeper.begin(
        kind,
        step.key,
        pendingOf(this.input.current, step, this.body(step) as JsonObject),
      );
    }
    this.input.keeper.save();
  }

  /** Takes back what was written down of creations that were not begun. */
  abandon(steps: readonly Step[]): void {
    for (const { action, kind, key } of steps)
      if (action === 'create') this.input.keeper.abandon(kind as Kind, key);
  }

  /** One request, and what the state says afterwards. Returns the object's id. */
  async take(step: Step): Promise<number | undefined> {
    const { client, secrets, keeper } = this.input;
    const id = step.id ?? this.ids.get(`${step.kind} ${step.key}`);
    const path = step.path.replace('{id}', String(id));
    const etag = await this.confirm(step, path, id);
    if (etag === 'gone') {
      keeper.remove(step.kind as Kind, step.key);
      return id;
    }
    const plain = step.part === 'order' ? await this.fieldOrder(step, id) : this.body(step);
    const body = plain === undefined ? undefined : secrets.fill(step, plain);
    try {
      const answer = await client.send(step.method, path, {
        ...(body === undefined ? {} : { body }),
        ifMatch: etag,
      });
      return this.note(step, id, answer.json, answer.etag);
    } catch (error) {
      if (step.action === 'create' && error instanceof Refusal && isDefinite(error))
        keeper.abandon(step.kind as Kind, step.key);
      throw error;
    }
  }

  /** That the object still is what the plan saw; gives its revision, so that it stays so until the write. */
  private async confirm(step: Step, path: string, id: number | undefined): Promise<string | undefined> {
    const known = this.etags.get(`${step.kind} ${id}`);
    if (step.expected === undefined) return known;
    const object = step.kind === 'model' ? path.split('/').slice(0, 5).join('/') : path;
    let answer: Awaited<ReturnType<ApiClient['get']>>;
    try {
      answer = await this.input.client.get(object);
    } catch (error) {
      if (!(error instanceof Refusal && error.status === 404)) throw error;
      if (step.action === 'delete') return 'gone';
      throw new Failure('it is gone since the plan was made; plan again', EXIT.refused);
    }
    const view = isObject(answer.json) ? answer.json : {};
    const seen = step.kind === 'webhook' ? view : comparable(step.kind, configurationOf(step.kind, view));
    if (!isSameJson(seen, step.expected))
      throw new Failure('somebody changed it since the plan was made; plan again', EXIT.refused);
    return answer.etag;
  }

  private body(step: Step): JsonObject | undefined {
    const { body, deviceNames } = step;
    if (body === undefined || deviceNames.length === 0) return body;
    const devices = body['devices'] as JsonObject;
    const ids = new Set(devices['ids'] as readonly number[]);
    for (const name of deviceNames) {
      const id = this.ids.get(`device ${name}`);
      if (id !== undefined) ids.add(id);
    }
    return { ...body, devices: { ...devices, ids: [...ids].sort((a, b) => a - b) } };
  }

  /** The plan orders fields by name; those that were just made have their ids only now. */
  private async fieldOrder(step: Step, id: number | undefined): Promise<JsonObject> {
    const { json, etag } = await this.input.client.get(`/api/v1/models/${id}/fields`);
    if (etag !== undefined) this.etags.set(`model ${id}`, etag);
    const ids = new Map(
      (Array.isArray(json) ? (json as readonly JsonObject[]) : []).map((field) => [
        field['name'],
        field['id'],
      ]),
    );
    const names = (step.body?.['field-ids'] ?? []) as readonly string[];
    return { 'field-ids': names.map((name) => (ids.get(name) ?? 0) as Json) };
  }

  private note(
    step: Step,
    id: number | undefined,
    answer: Json | undefined,
    etag: string | undefined,
  ): number | undefined {
    const { keeper } = this.input;
    if (step.kind === 'webhook') {
      keeper.recordWebhook(step.record?.secrets ?? {});
      return undefined;
    }
    const { kind, key } = step;
    const made = step.action === 'create' && isObject(answer) ? Number(answer['id']) : id;
    if (kind === 'model') {
      if (etag === undefined) this.etags.delete(`model ${made}`);
      else this.etags.set(`model ${made}`, etag);
    }
    if (step.action === 'delete') {
      keeper.remove(kind, key);
      return id;
    }
    if (made === undefined) return undefined;
    this.ids.set(`${kind} ${key}`, made);
    if (step.record !== undefined) {
      const identity = isObject(answer) ? identityOf(kind, answer) : step.record.identity;
      keeper.record(kind, key, { id: made, identity, secrets: step.record.secrets }, step.previousKey);
    }
    return made;
  }
}

/** Whether a refusal says that nothing was done. */
function isDefinite(refusal: Refusal): boolean {
  return refusal.status < 500 || refusal.type !== '';
}

function label(step: Step): string {
  const at = step.place === undefined ? '' : ` (${formatPlace(step.place)})`;
  return `${step.kind === 'webhook' ? 'webhook' : `${step.kind} ${step.key}`}${at}`;
}

/** How long a record may wait for the disk: one that is lost with the process is found again by its creation. */
const SAVE_AFTER_MILLISECONDS = 200;

/** The state while it changes. */
export class StateKeeper {
  private state: ApplyState;
  private readonly write: (state: ApplyState) => void;
  private readonly now: () => number;
  private savedAt = 0;
  private isDirty = false;

  constructor(state: ApplyState, write: (state: ApplyState) => void, now: () => number) {
    this.state = structuredClone(state);
    this.write = write;
    this.now = now;
  }

  /** Takes over what the plan says is ours, and forgets what means nothing any more. */
  adopt(plan: Plan): void {
    for (const { kind, key } of plan.forgotten) delete this.state.objects[kind]?.[key];
    // Creations begun earlier are by now found or were never made.
    this.isDirty = Object.keys(this.state.pending).length > 0;
    this.state.pending = {};
    for (const { kind, key, record } of plan.adoptions) {
      if (kind === 'webhook') this.state.webhook ??= { secrets: {} };
      else if (record !== undefined) this.put(kind, key, record);
    }
    if (plan.adoptions.length > 0 || plan.forgotten.length > 0) this.save();
  }

  begin(kind: Kind, key: string, pending: Pending): void {
    this.state.pending[kind] = { ...this.state.pending[kind], [key]: pending };
  }

  abandon(kind: Kind, key: string): void {
    delete this.state.pending[kind]?.[key];
    this.changed();
  }

  record(kind: Kind, key: string, record: Owned, previousKey: string | undefined): void {
    if (previousKey !== undefined) delete this.state.objects[kind]?.[previousKey];
    delete this.state.pending[kind]?.[key];
    this.put(kind, key, record);
    this.changed();
  }

  recordWebhook(secrets: Readonly<Record<string, string>>): void {
    this.state.webhook = { secrets: { ...secrets } };
    this.changed();
  }

  remove(kind: Kind, key: string): void {
    delete this.state.objects[kind]?.[key];
    this.changed();
  }

  /** To the disk, now. */
  save(): void {
    this.write(this.state);
    this.savedAt = this.now();
    this.isDirty = false;
  }

  finish(): void {
    if (this.isDirty) this.save();
  }

  private put(kind: Kind, key: string, record: Owned): void {
    this.state.objects[kind] = { ...this.state.objects[kind], [key]: record };
  }

  private changed(): void {
    this.isDirty = true;
    if (this.now() - this.savedAt >= SAVE_AFTER_MILLISECONDS) this.save();
  }
}
