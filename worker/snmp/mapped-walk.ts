/** A mapping of a model as one walk of a device, and the way back from the walk's rows to the mapping's. */
import { compileSnmpMapping, type SnmpMapping } from '../../core/mapping/snmp-mapping.ts';
import type { Mapping, Model } from '../../core/model.ts';
import { compileWalkPlan, type WalkGroup, type WalkPlan } from '../../protocols/snmp/walk-plan.ts';

export interface MappedWalk {
  readonly mapping: SnmpMapping;
  readonly groups: readonly WalkGroup[];
  readonly plan: WalkPlan;
  /** The mapping's group of each group of the plan, which has none without columns. */
  readonly groupIds: readonly number[];
}

/** Walks lately made: a thousand devices of one model share one, and each costs a third of a millisecond. */
const made = new Map<string, MappedWalk>();
const MAX_MADE = 64;

export function mapWalk(model: Model, mapping: Mapping): MappedWalk {
  const name = JSON.stringify([model.fields.map(({ name, type }) => [name, type]), mapping.fieldMappings]);
  const walk = made.get(name) ?? makeWalk(model, mapping);
  made.delete(name);
  made.set(name, walk);
  const [oldest] = made.keys();
  if (made.size > MAX_MADE && oldest !== undefined) made.delete(oldest);
  return walk;
}

function makeWalk(model: Model, mapping: Mapping): MappedWalk {
  const compiled = compileSnmpMapping(model.fields, new Map(mapping.fieldMappings));
  const asked = compiled.groups.flatMap(({ walk }, id) =>
    (walk.kind === 'table' ? walk.columns : walk.instances).length === 0 ? [] : [{ id, walk }],
  );
  const groups = asked.map(({ walk }) => walk);
  return {
    mapping: compiled,
    groups,
    plan: compileWalkPlan(groups),
    groupIds: asked.map(({ id }) => id),
  };
}
