import { requireDeclaredAnswer } from './answer-conformance.ts';
import { type ApiCall, type ApiClient, answerOf, wireForm } from './api-client.ts';
import type { SendRequest } from './stack.ts';

/**
 * The API client of contract cases over either way to reach the API: handlers in this process, or a socket. Every answer is
 * held against what the OpenAPI document declares.
 */
export function contractClient(send: SendRequest, adminToken: string): ApiClient {
  return {
    send: async (call: ApiCall) => {
      const { headers, body } = wireForm(call, adminToken);
      const answer = await send({ method: call.method, path: call.path, headers, body });
      const read = answerOf(answer.status, { ...answer.headers }, answer.text);
      requireDeclaredAnswer(call.method, call.path, read);
      return read;
    },
  };
}
