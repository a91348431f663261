import * as z from 'zod/mini';
import { refusal, whenRight } from './body.ts';
import { FIELD_TYPES } from './mapping/field-type.ts';
import { EXPORT_FORMAT, MODEL_LIMITS, netosName, PROTOCOLS } from './model.ts';
import { FIRST_VERSION, parseVersion, VERSION_PATTERN } from './model-version.ts';
import { description, name, newDescription } from './name.ts';
import { stringMap } from './string-map.ts';

const version = z
  .string()
  .check(
    z.refine((value) => parseVersion(value) !== undefined, {
      error: 'version is three integers without leading zeros, as "1.2.0"',
    }),
  )
  .register(z.globalRegistry, { legal: 'a version as "1.2.0"', pattern: VERSION_PATTERN });

/** Whatever is sent, or nothing: what it may be is told beside the other members. */
const anything = z.optional(z.unknown());

/** What only versions have: never in a PUT or POST of a model unless it is what stands there. */
const VERSIONED = {
  version: anything,
  fields: anything,
  mappings: anything,
};

/** Members of a model that a body may carry and nobody looks at. */
export const MODEL_READ_ONLY = ['id', 'activated-at', 'created-at', 'updated-at'] as const;

const noList = () => z.optional(z.unknown()).register(z.globalRegistry, { type: 'array', maxItems: 0 });

export const modelCreation = z
  .strictObject({
    name,
    description,
    version: z._default(version, FIRST_VERSION),
    active: z.optional(z.boolean()).register(z.globalRegistry, { legal: 'true or false', enum: [false] }),
    fields: noList(),
    mappings: noList(),
  })
  .check(
    z.superRefine((model, context) => {
      const add = (path: string, message: string) =>
        context.addIssue({ code: 'custom', ...refusal('immutable'), path: [path], message });
      for (const member of ['fields', 'mappings'] as const) {
        const given = model[member];
        if (given === undefined || (Array.isArray(given) && given.length === 0)) continue;
        add(member, `${member} are added one by one, or with an import`);
      }
      if (model.active === true) add('active', 'a model starts inactive; activate it with PUT');
    }, whenRight('active')),
  );

export const modelUpdate = z.strictObject({
  name: z.optional(name),
  description: newDescription,
  active: z.optional(z.boolean()).register(z.globalRegistry, { legal: 'true or false' }),
  ...VERSIONED,
});

export const newVersion = z.strictObject({ version: z.optional(version) });

export const fieldBody = z.strictObject({
  name,
  type: z.enum(FIELD_TYPES).register(z.globalRegistry, { legal: `one of ${FIELD_TYPES.join(', ')}` }),
});

export const fieldOrder = z.strictObject({
  'field-ids': z
    .array(z.int().register(z.globalRegistry, { legal: "a field's id" }))
    .register(z.globalRegistry, { legal: 'a list of field ids' }),
});

export const mappingBody = z.strictObject({
  protocol: z.enum(PROTOCOLS).register(z.globalRegistry, { legal: 'gnmi or snmp' }),
  netos: z
    .string()
    .check(
      z.refine((value) => value === '*' || netosName.test(value), {
        error: 'netos is * or 1 to 64 of a-z, 0-9, dot, underscore and hyphen',
      }),
    )
    .register(z.globalRegistry, {
      legal: '* or the name of a network operating system',
      anyOf: [{ const: '*' }, { pattern: netosName.source }],
    }),
  field_mappings: stringMap(
    'field_mappings',
    (_field, path) =>
      path.length > MODEL_LIMITS.pathCharacters
        ? `a path has at most ${MODEL_LIMITS.pathCharacters} characters`
        : undefined,
    MODEL_LIMITS.fields,
    {
      legal: 'an object of field names and paths',
      members: { type: 'string', maxLength: MODEL_LIMITS.pathCharacters },
    },
  ),
});

export const modelImport = z
  .strictObject({
    format: z.literal(EXPORT_FORMAT).register(z.globalRegistry, { legal: `"${EXPORT_FORMAT}"` }),
    name,
    version,
    description,
    fields: z
      ._default(z.array(fieldBody).check(z.maxLength(MODEL_LIMITS.fields)), [])
      .register(z.globalRegistry, { legal: 'a list of fields' }),
    mappings: z
      ._default(z.array(mappingBody).check(z.maxLength(MODEL_LIMITS.mappings)), [])
      .register(z.globalRegistry, { legal: 'a list of mappings' }),
  })
  .check(
    z.superRefine((document, context) => {
      const names = new Set<string>();
      for (const [index, field] of document.fields.entries()) {
        if (names.has(field.name)) {
          const path = ['fields', index, 'name'];
          const message = 'an earlier field has this name';
          context.addIssue({ code: 'custom', ...refusal('duplicate'), path, message });
        }
        names.add(field.name);
      }
    }, whenRight('fields')),
    z.superRefine((document, context) => {
      const platforms = new Set<string>();
      for (const [index, { protocol, netos }] of document.mappings.entries()) {
        if (platforms.has(`${protocol} ${netos}`)) {
          const path = ['mappings', index, 'netos'];
          const message = 'an earlier mapping has this protocol and netos';
          context.addIssue({ code: 'custom', ...refusal('duplicate'), path, message });
        }
        platforms.add(`${protocol} ${netos}`);
      }
    }, whenRight('mappings')),
  );

export type ModelImport = z.output<typeof modelImport>;
