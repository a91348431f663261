import * as z from 'zod';
import { integerId, stated, time } from './answer.ts';
import { tokenRequest } from './token-request.ts';

export const tokenAnswer = z.strictObject({
  id: integerId,
  ...stated(tokenRequest.shape),
  'created-at': time,
  'expires-at': time.nullable(),
});

export const newTokenAnswer = tokenAnswer.extend({
  token: z.string().regex(/^grt_/).meta({ description: 'The bearer token itself: shown this once' }),
});
