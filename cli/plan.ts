/**
 * What has to be done so that the stack is as the files want it. Pure: the stack as it was read, the files and the state
 * go in, steps come out, each of them one request; `apply` sends those and no others.
 */
import type { JsonObject } from './json-text.ts';
import {
  changesOf,
  comparable,
  idsByName,
  markers,
  secretsToSend,
  withDeviceIds,
} from './plan-configuration.ts';
import { Matcher } from './plan-match.ts';
import { planModelChanges } from './plan-model.ts';
import { orderPeerMoves } from './plan-peers.ts';
import { checkReferences } from './plan-references.ts';
import type {
  Adoption,
  Change,
  CurrentState,
  KindPlan,
  Match,
  Plan,
  PlanOptions,
  Step,
} from './plan-steps.ts';
import { planWebhook } from './plan-webhook.ts';
import type { Mistake } from './source-file.ts';
import type { ApplyState } from './state-file.ts';
import {
  COLLECTIONS,
  configurationOf,
  identityOf,
  KINDS,
  type Kind,
  type Wanted,
  type WantedState,
} from './wanted.ts';

export function planChanges(
  current: CurrentState,
  wanted: WantedState,
  state: ApplyState,
  options: PlanOptions,
): Plan {
  return new Planner(current, wanted, state, options).plan();
}

class Planner {
  private readonly current: CurrentState;
  private readonly wanted: WantedState;
  private readonly state: ApplyState;
  private readonly options: PlanOptions;
  private readonly steps: Step[] = [];
  private readonly adoptions: Adoption[] = [];
  private readonly conflicts: Mistake[] = [];
  private readonly notes: string[] = [];
  private unchanged = 0;
  private wave = 0;

  constructor(current: CurrentState, wanted: WantedState, state: ApplyState, options: PlanOptions) {
    this.current = current;
    this.wanted = wanted;
    this.state = state;
    this.options = options;
  }

  plan(): Plan {
    const matcher = new Matcher(this.current, this.wanted, this.state, this.options.adopt);
    const kinds = Object.fromEntries(KINDS.map((kind) => [kind, matcher.match(kind)])) as Record<
      Kind,
      KindPlan
    >;
    const references = checkReferences(this.current, kinds);
    const deviceIds = idsByName(this.current.objects.device, kinds.device);
    this.adoptions.push(...matcher.adoptions);
    this.conflicts.push(...matcher.conflicts, ...references.conflicts);
    this.notes.push(...matcher.notes);

    this.remove('subscription', kinds.subscription.removals);
    this.planPeers(kinds.peer);
    this.planObjects('device', kinds.device.matches);
    this.planModels(kinds.model.matches);
    this.planObjects('subscription', kinds.subscription.matches, deviceIds);
    this.remove('device', kinds.device.removals);
    this.removeModels(kinds.model.removals, references.trackedNames);
    this.planOutput();
    return {
      steps: this.steps,
      adoptions: this.adoptions,
      forgotten: matcher.forgotten,
      conflicts: this.conflicts,
      mistakes: references.mistakes,
      notes: this.notes,
      unchanged: this.unchanged,
    };
  }

  private planPeers({ matches, removals }: KindPlan): void {
    const { remade, waves } = orderPeerMoves(matches);
    this.remove('peer', [
      ...removals,
      ...remade.map(({ wanted, current, previousKey }) => ({
        key: previousKey ?? wanted.key,
        current: current as JsonObject,
      })),
    ]);
    const isRemade = new Set(remade);
    for (const wave of waves) this.planObjects('peer', wave);
    const rest = new Set(waves.flat());
    this.planObjects(
      'peer',
      matches
        .filter((match) => !rest.has(match))
        .map((match) => (isRemade.has(match) ? { ...match, current: undefined, owned: undefined } : match)),
    );
  }

  /** One wave: none of them depends on another. */
  private planObjects(
    kind: 'peer' | 'device' | 'subscription',
    matches: readonly Match[],
    deviceIds: ReadonlyMap<string, number> = new Map(),
  ): void {
    for (const match of matches) {
      const { wanted, current } = match;
      const { configuration, unknown } =
        kind === 'subscription'
          ? withDeviceIds(wanted, deviceIds)
          : { configuration: wanted.configuration, unknown: [] };
      if (current === undefined) this.create(wanted, configuration, unknown);
      else this.update(match, configuration, unknown);
    }
    this.wave += 1;
  }

  private create(wanted: Wanted, configuration: JsonObject, deviceNames: readonly string[]): void {
    const { kind, key, secrets, place } = wanted;
    this.steps.push({
      action: 'create',
      kind,
      key,
      method: 'POST',
      path: COLLECTIONS[kind],
      id: undefined,
      body: configuration,
      secrets,
      deviceNames,
      expected: undefined,
      changes: [
        ...Object.entries(configuration).map(([member, to]) => ({ member, from: undefined, to })),
        ...namedDevices(deviceNames),
      ],
      place,
      record: { identity: identityOf(kind, configuration), secrets: markers(secrets) },
      previousKey: undefined,
      wave: this.wave,
    });
  }

  private update(match: Match, configuration: JsonObject, deviceNames: readonly string[]): void {
    const { wanted, owned, previousKey } = match;
    const { kind, key, place } = wanted;
    const view = match.current as JsonObject;
    const id = Number(view['id']);
    const present = comparable(kind, configurationOf(kind, view));
    // The stack does not send a stored secret to a device's new address.
    const isMoved = kind === 'device' && present['address'] !== configuration['address'];
    const isAll = this.options.resendSecrets || isMoved;
    const toSend = secretsToSend(wanted.secrets, present, owned?.secrets ?? {}, isAll);
    const record = { identity: identityOf(kind, configuration), secrets: markers(wanted.secrets) };
    const changes = [...changesOf(present, configuration, toSend), ...namedDevices(deviceNames)];
    if (owned === undefined) this.adoptions.push({ kind, key, id, record: { id, ...record, secrets: {} } });
    if (changes.length === 0) {
      this.unchanged += 1;
      return;
    }
    this.steps.push({
      action: 'update',
      kind,
      key,
      method: 'PUT',
      path: `${COLLECTIONS[kind]}/${id}`,
      id,
      // Members that only a newer stack knows stay as they are.
      body: { ...present, ...configuration },
      secrets: toSend,
      deviceNames,
      expected: present,
      changes,
      place,
      record,
      previousKey,
      wave: this.wave,
    });
  }

  /** Models one after the other: which was activated last decides what subscriptions follow. */
  private planModels(matches: readonly Match[]): void {
    for (const { wanted, current, owned } of matches) {
      const { kind, key, place, configuration } = wanted;
      const steps = planModelChanges(current, configuration);
      const id = current === undefined ? undefined : Number(current['id']);
      if (current !== undefined && owned === undefined) {
        const record = { id: Number(id), identity: identityOf(kind, current), secrets: {} };
        this.adoptions.push({ kind, key, id, record });
      }
      if (steps.length === 0) this.unchanged += 1;
      for (const [index, step] of steps.entries()) {
        const isFirst = index === 0;
        this.steps.push({
          ...step,
          kind,
          key,
          id,
          path: `${COLLECTIONS.model}${step.path.replace('{id}', id === undefined ? '{id}' : String(id))}`,
          secrets: new Map(),
          deviceNames: [],
          expected:
            isFirst && current !== undefined ? comparable(kind, configurationOf(kind, current)) : undefined,
          place,
          // A model's identity is the moment of its making, which only the answer tells.
          record: step.action === 'create' ? { identity: '', secrets: {} } : undefined,
          previousKey: undefined,
          wave: this.wave,
        });
        this.wave += 1;
      }
    }
  }

  private remove(kind: Kind, removals: KindPlan['removals']): void {
    for (const { key, current } of removals) this.removeOne(kind, key, current);
    this.wave += 1;
  }

  private planOutput(): void {
    const { webhook } = this.wanted;
    const output = planWebhook(this.current.webhook, webhook, this.state.webhook, this.options);
    if (output.note !== undefined) this.notes.push(output.note);
    if (output.conflict !== undefined) this.conflicts.push(output.conflict);
    if (output.isAdopted)
      this.adoptions.push({ kind: 'webhook', key: 'webhook', id: undefined, record: undefined });
    if (output.step !== undefined) this.steps.push({ ...output.step, wave: this.wave });
    else if (webhook !== undefined) this.unchanged += 1;
  }

  private removeOne(kind: Kind, key: string, current: JsonObject, expected?: JsonObject): void {
    const id = Number(current['id']);
    this.steps.push({
      action: 'delete',
      kind,
      key,
      method: 'DELETE',
      path: `${COLLECTIONS[kind]}/${id}`,
      id,
      body: undefined,
      secrets: new Map(),
      deviceNames: [],
      expected: expected ?? comparable(kind, configurationOf(kind, current)),
      changes: [],
      place: undefined,
      record: undefined,
      previousKey: undefined,
      wave: this.wave,
    });
  }

  /** The version that a subscription follows goes only after it has ceased to be that: it is deactivated before. */
  private removeModels(removals: KindPlan['removals'], trackedNames: ReadonlySet<string>): void {
    for (const { key, current } of removals) {
      const present = comparable('model', configurationOf('model', current));
      if (current['active'] === true && trackedNames.has(String(current['name']))) {
        const id = Number(current['id']);
        this.steps.push({
          action: 'update',
          kind: 'model',
          key,
          method: 'PUT',
          path: `${COLLECTIONS.model}/${id}`,
          id,
          body: { active: false },
          secrets: new Map(),
          deviceNames: [],
          expected: present,
          changes: [{ member: 'active', from: true, to: false }],
          place: undefined,
          record: undefined,
          previousKey: undefined,
          wave: this.wave,
        });
        this.wave += 1;
        this.removeOne('model', key, current, { ...present, active: false });
      } else this.removeOne('model', key, current);
      this.wave += 1;
    }
  }
}

/** Devices that get their ids on the way, as one change. */
function namedDevices(names: readonly string[]): Change[] {
  return names.length === 0 ? [] : [{ member: 'devices.names', from: undefined, to: names.join(', ') }];
}
