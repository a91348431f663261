import type { MappedField, RowLayout } from './layout.ts';
import { layOut } from './layout.ts';
import { type GnmiPath, type PathFault, parseGnmiPath, splitAlternatives } from './path.ts';

/** One path of one field that cannot be used, with the words for a mapping's warnings. */
export interface SkippedPath {
  readonly field: string;
  readonly path: string;
  readonly fault: PathFault;
}

/** The member of a live test's explanation that tells of them; none when there are none. */
export function explainSkipped(skipped: readonly SkippedPath[]) {
  if (skipped.length === 0) return {};
  return {
    'skipped-paths': skipped.map(({ field, path, fault: { code, detail } }) => ({
      field,
      path,
      code,
      detail,
    })),
  };
}

/** One alternative of one field: a slot of every row. */
export interface GnmiSlot {
  readonly field: number;
  /** 0 for the one preferred. */
  readonly alternative: number;
  /** As the mapping has it, for explanations. */
  readonly text: string;
  readonly path: GnmiPath;
}

/** A model version and one of its gNMI mappings, parsed once. */
export interface GnmiMapping {
  readonly layout: RowLayout;
  readonly slots: readonly GnmiSlot[];
  readonly skipped: readonly SkippedPath[];
}

/** Compiles a model's fields and a gNMI mapping's paths by field name. What cannot be read is skipped by name. */
export function compileGnmiMapping(
  fields: readonly MappedField[],
  fieldMappings: ReadonlyMap<string, string>,
): GnmiMapping {
  const slots: GnmiSlot[] = [];
  const skipped: SkippedPath[] = [];
  const counts = fields.map(({ name }, field) => {
    const before = slots.length;
    const text = fieldMappings.get(name);
    for (const [alternative, part] of (text === undefined ? [] : splitAlternatives(text)).entries()) {
      const path = parseGnmiPath(part);
      if ('code' in path) skipped.push({ field: name, path: part, fault: path });
      else slots.push({ field, alternative, text: part, path });
    }
    return slots.length - before;
  });
  return { layout: layOut(fields, counts, false), slots, skipped };
}
