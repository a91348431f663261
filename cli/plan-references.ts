/** Who needs whom once everything is done: what would be refused half way through is told before the first step. */
import { LATEST } from '../core/subscription.ts';
import type { Json, JsonObject } from './json-text.ts';
import type { CurrentState, KindPlan } from './plan-steps.ts';
import type { Mistake, Place } from './source-file.ts';
import { type Kind, keyOf } from './wanted.ts';

/** A subscription as it will be. */
interface Remaining {
  readonly label: string;
  /** Undefined: no file asks for it. */
  readonly place: Place | undefined;
  readonly modelName: string;
  readonly modelVersion: string;
  /** Of the model that it is pinned to, where it is that it stays pinned. */
  readonly modelId: number | undefined;
  readonly deviceIds: readonly number[];
}

const NOWHERE: Place = { file: '', line: 0, column: 0 };

export function checkReferences(
  current: CurrentState,
  kinds: Readonly<Record<Kind, KindPlan>>,
): {
  readonly conflicts: readonly Mistake[];
  readonly mistakes: readonly Mistake[];
  /** Names of models whose latest version somebody follows. */
  readonly trackedNames: ReadonlySet<string>;
} {
  const conflicts: Mistake[] = [];
  const mistakes: Mistake[] = [];
  const subscriptions = remainingSubscriptions(current, kinds.subscription);

  const removedModels = kinds.model.removals.map(({ current: model }) => model);
  const ours = new Set(kinds.model.matches.map((match) => match.current));
  const models = [
    ...current.objects.model.filter((model) => !removedModels.includes(model) && !ours.has(model)),
    ...kinds.model.matches.map(({ wanted }) => wanted.configuration),
  ];
  const names = new Set(models.map(({ name }) => String(name)));
  const versions = new Set(models.map((model) => keyOf('model', model)));
  const removedDevices = new Map(
    kinds.device.removals.map(({ key, current: device }) => [Number(device['id']), key]),
  );
  const deviceNames = new Set([
    ...current.objects.device
      .filter((device) => !removedDevices.has(Number(device['id'])))
      .map(({ name }) => String(name)),
    ...kinds.device.matches.map(({ wanted }) => wanted.key),
  ]);
  const deviceIds = new Set(current.objects.device.map(({ id }) => Number(id)));

  for (const { label, place, modelName, modelVersion, modelId, deviceIds: named } of subscriptions) {
    const tell = (mistake: string, conflict: string) =>
      place === undefined
        ? conflicts.push({ place: NOWHERE, sentence: conflict })
        : mistakes.push({ place, sentence: `${label}: ${mistake}` });
    const key = `${modelName}@${modelVersion}`;
    if (modelVersion === LATEST) {
      if (!names.has(modelName) && (place !== undefined || wasThere(removedModels, modelName))) {
        tell(
          `there is no model ${modelName}, neither in the files nor in the stack`,
          `the last version of the model ${modelName} cannot go: ${label}, which was not made from these files, follows it`,
        );
      }
    } else if (place !== undefined && !versions.has(key)) {
      tell(`there is no model ${key}, neither in the files nor in the stack`, '');
    } else if (place === undefined && removedModels.some(({ id }) => Number(id) === modelId)) {
      tell('', `the model ${key} cannot go: ${label}, which was not made from these files, uses it`);
    }
    for (const id of named) {
      const removed = removedDevices.get(id);
      if (removed !== undefined) {
        tell(
          `device ${id} is ${removed}, which the files no longer have`,
          `the device ${removed} cannot go: ${label}, which was not made from these files, names it`,
        );
      } else if (place !== undefined && !deviceIds.has(id)) {
        tell(`there is no device ${id}`, '');
      }
    }
  }
  for (const { wanted } of kinds.subscription.matches) {
    for (const { name, place } of wanted.deviceNames) {
      if (deviceNames.has(name)) continue;
      const sentence = `there is no device ${name}, neither in the files nor in the stack`;
      mistakes.push({ place, sentence });
    }
  }
  const tracked = subscriptions.filter(({ modelVersion }) => modelVersion === LATEST);
  return { conflicts, mistakes, trackedNames: new Set(tracked.map(({ modelName }) => modelName)) };
}

function remainingSubscriptions(current: CurrentState, { matches, removals }: KindPlan): Remaining[] {
  const gone = new Set([
    ...removals.map(({ current: subscription }) => subscription),
    ...matches.map((match) => match.current),
  ]);
  const selected = (configuration: JsonObject) =>
    ((configuration['devices'] as JsonObject)['ids'] ?? []) as readonly number[];
  return [
    ...current.objects.subscription
      .filter((subscription) => !gone.has(subscription))
      .map((subscription) => ({
        label: `subscription ${subscription['id']} (${subscription['name']})`,
        place: undefined,
        modelName: String(subscription['model-name']),
        modelVersion: String(subscription['model-version']),
        modelId: Number(subscription['model-id'] ?? (0 as Json)),
        deviceIds: selected(subscription),
      })),
    ...matches.map(({ wanted: { key, place, configuration } }) => ({
      label: `subscription ${key}`,
      place,
      modelName: String(configuration['model-name']),
      modelVersion: String(configuration['model-version']),
      modelId: undefined,
      deviceIds: selected(configuration),
    })),
  ];
}

function wasThere(removed: readonly JsonObject[], name: string): boolean {
  return removed.some((model) => model['name'] === name);
}
