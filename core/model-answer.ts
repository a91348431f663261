import * as z from 'zod';
import { everyOf, integerId, stated, time } from './answer.ts';
import type { MappingWarning, WarningCode } from './mapping/warnings.ts';
import { EXPORT_FORMAT, type Field, type MappingView, PROTOCOLS } from './model.ts';
import { fieldBody, mappingBody, modelCreation } from './model-request.ts';

const WARNING_CODES = everyOf<WarningCode>()([
  'unbalanced-brackets',
  'no-leading-slash',
  'empty-key',
  'list-without-key',
  'unknown-origin',
  'non-numeric-oid',
  'scalar-without-instance',
  'counter32-has-counter64',
  'unknown-field',
  'unparsable',
]);

const warning = z.strictObject({
  field: z.string(),
  path: z.string().meta({ description: 'The alternative that is meant' }),
  code: z.enum(WARNING_CODES),
  detail: z.string(),
}) satisfies z.ZodType<MappingWarning>;

export const fieldAnswer = z.strictObject({
  id: integerId,
  ...fieldBody.shape,
}) satisfies z.ZodType<Field>;

const paths = z.record(z.string(), z.string()).meta({ description: 'Path by field name' });

export const mappingAnswer = z.strictObject({
  id: integerId,
  protocol: z.enum(PROTOCOLS),
  netos: mappingBody.shape.netos,
  field_mappings: paths,
  warnings: z.array(warning),
}) satisfies z.ZodType<MappingView>;

const { name, description, version } = stated(modelCreation.shape);

export const modelAnswer = z.strictObject({
  id: integerId,
  name,
  version,
  description,
  active: z.boolean(),
  'activated-at': time.nullable(),
  fields: z.array(fieldAnswer),
  mappings: z.array(mappingAnswer),
  'created-at': time,
  'updated-at': time,
});

/** The export document: an import takes it as it stands. */
export const modelExportAnswer = z.strictObject({
  format: z.literal(EXPORT_FORMAT),
  name,
  version,
  description,
  fields: z.array(fieldBody),
  mappings: z.array(mappingAnswer.omit({ id: true, warnings: true })),
});
