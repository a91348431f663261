import * as z from 'zod/mini';
import { invalidBody, type MemberError, type MemberErrorCode } from './problem.ts';

declare module 'zod/v4/core' {
  interface GlobalMeta {
    /** What is legal, to follow "<member> is", e.g. `0 or 3 to 65535 seconds`. */
    legal?: string;
  }
}

/** What bodies are declared by, in `<noun>-request.ts` beside the noun: an object that takes no member but its own. */
export type BodySchema = z.ZodMiniObject<z.core.$ZodShape, z.core.$strict>;

/**
 * Checks a JSON body against a strict object schema and returns it with defaults filled in.
 *
 * Members named in `readOnly` are dropped before anything is looked at, whatever their type: a body that GET gave
 * is one that PUT takes. Throws one `invalid-body` Problem with every failure; an unknown member is named with the
 * nearest known one.
 */
export function validateBody<Schema extends BodySchema>(
  schema: Schema,
  readOnly: readonly string[],
  body: unknown,
): z.output<Schema> {
  const writable = isRecord(body)
    ? Object.fromEntries(Object.entries(body).filter(([member]) => !readOnly.includes(member)))
    : body;
  const result = schema.safeParse(writable);
  if (result.success) return result.data;
  throw invalidBody(result.error.issues.flatMap((issue) => memberErrors(issue, schema, writable)));
}

/** A check that zod has no word for: `{ code }` tells which of our codes it is. */
export function refusal(code: MemberErrorCode): { params: { code: MemberErrorCode } } {
  return { params: { code } };
}

/**
 * For a rule among members, as `url` or `config/url`: it is looked at when each of them is right by itself, whatever is
 * wrong elsewhere. Without this, zod looks at no rule of an object that has a wrong type or an unknown member anywhere.
 */
export function whenRight(...members: string[]): z.core.$ZodSuperRefineParams {
  return {
    when: ({ value, issues }) => {
      const wrong = issues
        .filter(({ code }) => code !== 'unrecognized_keys')
        .map(({ path = [] }) => path.map((segment) => `${String(segment)}/`).join(''));
      const isRight = (member: string) =>
        !wrong.some((path) => path.startsWith(`${member}/`) || `${member}/`.startsWith(path));
      return isRecord(value) && members.every(isRight);
    },
  };
}

function memberErrors(issue: z.core.$ZodIssue, schema: BodySchema, body: unknown): MemberError[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    const known = knownMembers(schema, path);
    return issue.keys.map((key) => ({
      pointer: jsonPointer([...path, key]),
      code: 'unknown-member',
      detail: unknownMemberDetail(key, known),
    }));
  }
  const [last = 'the body', list] = path.toReversed();
  const member = typeof issue.path.at(-1) === 'number' ? `${list}[${last}]` : last;
  const value = valueAt(body, path);
  const legal = metaAt(schema, path)?.legal;
  const code = codeOf(issue, value);
  const detail = {
    required: `${member} is required`,
    'wrong-type': `${member} is ${legal ?? expectation(issue)}, not ${typeName(value)}`,
  } as Partial<Record<MemberErrorCode, string>>;
  return [
    {
      pointer: jsonPointer(path),
      code,
      detail:
        issue.code === 'custom' && issue.message !== ''
          ? issue.message
          : (detail[code] ?? `${member} is ${legal ?? issue.message}`),
    },
  ];
}

function codeOf(issue: z.core.$ZodIssue, value: unknown): MemberErrorCode {
  switch (issue.code) {
    case 'invalid_type':
      return value === undefined ? 'required' : 'wrong-type';
    case 'too_small':
    case 'too_big':
    case 'not_multiple_of':
      return 'out-of-range';
    case 'custom':
      return (issue.params?.['code'] as MemberErrorCode | undefined) ?? 'invalid-format';
    case 'invalid_union':
      return value === undefined ? 'required' : 'wrong-type';
    case 'invalid_value':
      return value === undefined ? 'required' : typeof value === 'string' ? 'invalid-format' : 'wrong-type';
    default:
      return 'invalid-format';
  }
}

function unknownMemberDetail(member: string, known: readonly string[]): string {
  const nearest = nearestName(member, known);
  return nearest === undefined ? `${member} is not a member here` : `did you mean ${nearest}?`;
}

/** The known name with the fewest edits from `name`, if it takes at most a third of its letters. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((candidate) => ({
      candidate,
      edits: editDistance(name.toLowerCase().replaceAll('_', '-'), candidate),
    }))
    .sort((a, b) => a.edits - b.edits);
  const best = ranked[0];
  return best !== undefined && best.edits <= Math.max(1, Math.floor(best.candidate.length / 3))
    ? best.candidate
    : undefined;
}

/** Levenshtein distance; names longer than 64 characters are far from everything. */
function editDistance(a: string, b: string): number {
  if (a.length > 64) return Number.POSITIVE_INFINITY;
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (previous[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[j] as number) + 1, (current[j - 1] as number) + 1));
    }
    previous = current;
  }
  return previous[b.length] as number;
}

/** RFC 6901; the empty path is the body itself. */
function jsonPointer(path: readonly string[]): string {
  return path.map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function valueAt(body: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, segment) =>
      isRecord(value) || Array.isArray(value) ? (value as Record<string, unknown>)[segment] : undefined,
    body,
  );
}

function schemaAt(schema: z.core.$ZodType, path: readonly string[]): z.core.$ZodType | undefined {
  let current: z.core.$ZodType | undefined = schema;
  for (const segment of path) {
    const found = unwrapped(current);
    if (found?.type === 'object') current = found.shape[segment];
    else if (found?.type === 'array') current = found.element;
    else if (found?.type === 'record') current = found.valueType;
    else return undefined;
    if (current === undefined) return undefined;
  }
  return current;
}

type Declaration = z.core.$ZodTypes['_zod']['def'];

/** What a schema says of a value that is there and is not null. */
function unwrapped(schema: z.core.$ZodType | undefined): Declaration | undefined {
  let current = schema?._zod.def as Declaration | undefined;
  while (
    current?.type === 'default' ||
    current?.type === 'optional' ||
    current?.type === 'nullable' ||
    current?.type === 'prefault'
  ) {
    current = current.innerType._zod.def as Declaration;
  }
  return current;
}

function metaAt(schema: z.core.$ZodType, path: readonly string[]): z.core.GlobalMeta | undefined {
  const found = schemaAt(schema, path);
  return found === undefined ? undefined : z.globalRegistry.get(found);
}

function knownMembers(schema: z.core.$ZodType, path: readonly string[]): readonly string[] {
  const found = unwrapped(schemaAt(schema, path));
  return found?.type === 'object' ? Object.keys(found.shape) : [];
}

function expectation(issue: z.core.$ZodIssue): string {
  return issue.code === 'invalid_type' ? `of type ${issue.expected}` : 'something else';
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number' && !Number.isInteger(value)) return 'a fraction';
  return (
    { string: 'a string', number: 'a number', boolean: 'a boolean', object: 'an object' }[
      typeof value as string
    ] ?? typeof value
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
