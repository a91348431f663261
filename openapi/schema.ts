/** JSON Schema 2020-12, as OpenAPI 3.1 has it, of what zod declares. */
import * as z from 'zod';
import type { NamedRequest, NamedSchema } from './operation.ts';

export type JsonSchema = Record<string, unknown>;

export const reference = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/**
 * Answers by name, referring to each other. They are left open: a client that refuses a member which is new to it
 * would break with each version, so none shall be generated. The contract cases hold answers to what is declared.
 */
export function answerSchemas(bodies: readonly NamedSchema[]): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const { name, schema } of bodies) {
    if (!registry.has(schema)) registry.add(schema, { id: name });
  }
  const { schemas } = z.toJSONSchema(registry, {
    ...OPTIONS,
    io: 'output',
    metadata: z.globalRegistry,
    uri: (id) => `#/components/schemas/${id}`,
  }) as unknown as { schemas: Record<string, JsonSchema> };
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, opened(withoutOwnName(schema))]),
  );
}

/** A request body: closed, since a misspelt member is refused, but for those of an answer that are ignored. */
export function requestSchema({ schema, readOnly }: NamedRequest): JsonSchema {
  const written = withoutOwnName(z.toJSONSchema(schema, { ...OPTIONS, io: 'input' }) as JsonSchema);
  const ignored = readOnly.map((member) => [
    member,
    { description: 'Read-only: whatever is sent is ignored, so that an answer can be sent back' },
  ]);
  return {
    ...written,
    properties: { ...(written['properties'] as object), ...Object.fromEntries(ignored) },
  };
}

const OPTIONS = {
  target: 'draft-2020-12',
  unrepresentable: 'any',
  override: ({ jsonSchema }) => {
    const { legal, ...rest } = jsonSchema as JsonSchema;
    // Bounds that stand in `anyOf` are closer than those of every integer in JSON.
    if (jsonSchema.anyOf !== undefined && jsonSchema.minimum === Number.MIN_SAFE_INTEGER) {
      delete rest['minimum'];
      delete rest['maximum'];
    }
    for (const member of Object.keys(jsonSchema)) delete (jsonSchema as JsonSchema)[member];
    Object.assign(jsonSchema, legal === undefined ? rest : { description: legal, ...rest });
  },
} as const satisfies z.core.ToJSONSchemaParams;

function withoutOwnName({ $schema: _dialect, $id: _id, id: _name, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

function opened(value: unknown): JsonSchema {
  return mapObjects(value, (object) => {
    const { additionalProperties, ...rest } = object;
    return additionalProperties === undefined || additionalProperties === false
      ? rest
      : { ...rest, additionalProperties };
  }) as JsonSchema;
}

function mapObjects(value: unknown, change: (object: JsonSchema) => JsonSchema): unknown {
  if (Array.isArray(value)) return value.map((item) => mapObjects(item, change));
  if (typeof value !== 'object' || value === null) return value;
  const mapped = Object.entries(value).map(([name, member]) => [name, mapObjects(member, change)]);
  return change(Object.fromEntries(mapped));
}
