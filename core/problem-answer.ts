import * as z from 'zod';
import { integerId } from './answer.ts';
import { MEMBER_ERROR_CODES, PROBLEMS, type ProblemType } from './problem.ts';

export const memberErrorAnswer = z
  .strictObject({
    pointer: z.string().meta({ description: 'JSON Pointer (RFC 6901) into the body' }),
    code: z.enum(MEMBER_ERROR_CODES).meta({ description: 'Stable; match on it' }),
    detail: z.string().meta({ description: 'One sentence for a person' }),
  })
  .meta({ description: 'What is wrong with one member of a body' });

const types = Object.keys(PROBLEMS) as [ProblemType, ...ProblemType[]];

/** RFC 9457. */
export const problemAnswer = z
  .strictObject({
    type: z
      .enum(types.map((type) => `urn:graticule:problem:${type}` as const))
      .meta({ description: 'Stable; match on it' }),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string().meta({ description: 'One sentence for a person' }),
    instance: z.string().meta({ description: "The request's path" }),
    'request-id': z.string().meta({ description: 'Names the request in the logs' }),
    errors: z
      .array(memberErrorAnswer)
      .optional()
      .meta({ description: 'With invalid-body: every wrong member at once' }),
    'conflicting-id': integerId
      .optional()
      .meta({ description: 'With conflict: the id of what is in the way' }),
  })
  .meta({ description: 'Problem details (RFC 9457)' });

/** What API Gateway says by itself, before any of our code runs. */
export const gatewayMessageAnswer = z
  .strictObject({ message: z.string() })
  .meta({ description: "API Gateway's own refusal: throttling, oversized headers or bodies, a timeout" });
