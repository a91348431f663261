/** What is written down before a creation is sent, so that it is known again when its answer never comes. */
import { createHash } from 'node:crypto';
import { canonical, type Json, type JsonObject } from './json-text.ts';
import { comparable } from './plan-configuration.ts';
import type { CurrentState, Step } from './plan-steps.ts';
import type { Pending } from './state-file.ts';
import type { Kind } from './wanted.ts';

/** What a creation is known by that was cut short: all that was asked, secrets as set or not, a model's state aside. */
export function pendingDigest(kind: Kind, configuration: JsonObject): string {
  const content =
    kind === 'model'
      ? {
          name: configuration['name'] as Json,
          version: configuration['version'] as Json,
          description: configuration['description'] as Json,
          fields: withoutIds(configuration['fields'] as readonly JsonObject[], ['name', 'type']),
          mappings: withoutIds(configuration['mappings'] as readonly JsonObject[], [
            'protocol',
            'netos',
            'field_mappings',
          ])
            .map(canonical)
            .toSorted(),
        }
      : comparable(kind, configuration);
  return `sha256:${createHash('sha256').update(canonical(content)).digest('hex')}`;
}

function withoutIds(items: readonly JsonObject[], members: readonly string[]): JsonObject[] {
  return items.map((item) => Object.fromEntries(members.map((member) => [member, item[member] as Json])));
}

/** Creations that follow get higher ids. */
function highestId(current: CurrentState, kind: Kind): number {
  return current.objects[kind].reduce((highest, { id }) => Math.max(highest, Number(id)), 0);
}

/** What has to be known of a creation before it is begun. */
export function pendingOf(current: CurrentState, step: Step, body: JsonObject): Pending {
  const kind = step.kind as Kind;
  return {
    after: highestId(current, kind),
    digest: pendingDigest(kind, body),
    secrets: { ...step.record?.secrets },
  };
}
