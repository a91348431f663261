/**
 * What the declarations of answers are made of. An answer is declared beside the noun that it shows, in
 * `<noun>-answer.ts`: the OpenAPI document is generated from it, the contract cases hold every answer against it, and
 * no function's bundle has it.
 */
import * as z from 'zod';
import { SECRET_MASK } from './secret.ts';

/** ISO 8601 UTC with milliseconds. */
export const time = z.iso
  .datetime({ precision: 3 })
  .meta({ description: 'ISO 8601, UTC, with milliseconds', example: '2026-11-21T03:00:00.000Z' });

/** What the API calls a thing that somebody made. */
export const integerId = z.int().min(1).max(999_999_999_999_999);

export const count = z.int().min(0);

/** A write-only member, as it reads. */
export const maskedSecret = z
  .enum(['', SECRET_MASK])
  .meta({ description: 'Write-only: eight asterisks when one is stored, empty when none is' });

type Stated<Shape extends z.core.$ZodLooseShape> = {
  [Member in keyof Shape]: Shape[Member] extends z.core.$ZodDefault<infer Inner>
    ? Inner
    : Shape[Member] extends z.core.$ZodPrefault<infer Inner>
      ? Inner
      : Shape[Member];
};

/** The members of a body without their defaults: an answer states each of them. */
export function stated<Shape extends z.core.$ZodLooseShape>(shape: Shape): Stated<Shape> {
  return Object.fromEntries(
    Object.entries(shape).map(([member, schema]) => [
      member,
      schema instanceof z.core.$ZodDefault || schema instanceof z.core.$ZodPrefault
        ? withMeta(schema)
        : schema,
    ]),
  ) as Stated<Shape>;
}

/** What the default stands around, with what was said of it. */
function withMeta(schema: z.core.$ZodDefault | z.core.$ZodPrefault): z.core.$ZodType {
  const inner = schema._zod.def.innerType;
  const meta = z.globalRegistry.get(schema);
  if (meta === undefined) return inner;
  const described = z.clone(inner);
  z.globalRegistry.add(described, meta);
  return described;
}

/** The values of a union, all of them: a type error for one that is missing as for one too many. */
export const everyOf =
  <Union extends string>() =>
  <const Values extends readonly [Union, ...Union[]]>(
    values: [Exclude<Union, Values[number]>] extends [never] ? Values : never,
  ): Values =>
    values;
