import type * as z from 'zod';
import type { BodySchema } from '../core/body.ts';
import type { ProblemType } from '../core/problem.ts';

/** A query parameter; all of them are optional unless `required` says otherwise. */
export interface QueryParameter {
  readonly description: string;
  /** JSON Schema of the value as the query spells it. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly required?: true;
}

/** A declared body and the name that it has in the document. */
export interface NamedSchema {
  readonly name: string;
  readonly schema: z.ZodType;
}

export interface NamedRequest {
  readonly name: string;
  readonly schema: BodySchema;
  /** Members that a body may carry and nobody looks at. */
  readonly readOnly: readonly string[];
}

export interface AnswerDocument {
  readonly status: 200 | 201 | 202 | 204;
  readonly description: string;
  /** JSON; absent: the answer has no body, or only one of `texts`. */
  readonly body?: NamedSchema;
  /** The body is an array of `body`. */
  readonly isList?: true;
  /** Media types of bodies that are text and no JSON of a declared shape. */
  readonly texts?: readonly string[];
  readonly headers?: readonly HeaderName[];
}

export type HeaderName = 'ETag' | 'Link' | 'Location' | 'Topology-Version' | 'Retry-After';

/** What the document says of one operation beyond its row in `contract/routes.ts`. */
export interface OperationDocument {
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: Readonly<Record<string, QueryParameter>>;
  /** The operation heeds `If-Match`. */
  readonly isConditional?: true;
  readonly request?: NamedRequest & { readonly isOptional?: true };
  readonly answer: AnswerDocument;
  /** Answers that are neither the usual one nor a problem. */
  readonly otherAnswers?: ReadonlyArray<{
    readonly status: number;
    readonly description: string;
    readonly body: NamedSchema;
  }>;
  /** Problems beyond those that follow from scope, parameters, body and method. */
  readonly problems?: readonly ProblemType[];
}

/** By method and path, as `contract/routes.ts` spells them. */
export type OperationDocuments = Readonly<Record<string, OperationDocument>>;

/** How lists of what people made are paged. */
export const PAGE: Readonly<Record<string, QueryParameter>> = {
  limit: {
    description: 'At most so many; without it the list is whole',
    schema: { type: 'integer', minimum: 1, maximum: 1_000 },
  },
  after: {
    description: 'Only those with a greater id: the last one of the page before',
    schema: { type: 'integer', minimum: 0, maximum: 999_999_999_999_999 },
  },
};
