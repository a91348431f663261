import type { HttpAnswer } from './http-exchange.ts';
import { isObject, type Json, type JsonObject, parseJsonText } from './json-text.ts';
import { printable } from './terminal.ts';

/** What API Gateway says by itself, in its own form `{"message": …}`, by status. */
const GATEWAY: Readonly<Record<number, string>> = {
  403: 'the gateway in front of the stack forbids this request',
  404: 'there is no such path; is the URL that of a Graticule stack?',
  413: 'the request is larger than the gateway takes',
  429: 'the gateway takes no more requests at this rate; try again later',
  431: 'the request line and headers are longer than the gateway takes; is the token a token?',
  500: 'the stack failed inside; its log says why',
  503: 'the stack gave no answer within 30 s; whether a change was made is not known',
  504: 'the stack gave no answer in time; whether a change was made is not known',
};

/** An answer of 400 or more as one plain sentence, whoever gave it. */
export function refusalSentence(
  answer: HttpAnswer,
  context: { readonly url: URL; readonly tokenIsFrom: string },
): { readonly sentence: string; readonly type: string; readonly conflictingId: number | undefined } {
  const body = parseJsonText(answer.text);
  const problem = isObject(body) && typeof body['title'] === 'string' ? body : undefined;
  const type =
    problem === undefined
      ? ''
      : (String(problem['type'] ?? '')
          .split(':')
          .at(-1) ?? '');
  const conflicting = problem?.['conflicting-id'];
  return {
    type,
    conflictingId: typeof conflicting === 'number' ? conflicting : undefined,
    sentence: printable(sentenceOf(answer, body, problem, context)),
  };
}

function sentenceOf(
  answer: HttpAnswer,
  body: Json | undefined,
  problem: JsonObject | undefined,
  { url, tokenIsFrom }: { readonly url: URL; readonly tokenIsFrom: string },
): string {
  if (answer.status === 401) {
    return tokenIsFrom === ''
      ? `${url.host} needs a token: set GRATICULE_API_TOKEN or name a file with --token-file`
      : `${url.host} does not know the token from ${tokenIsFrom}, or it has expired`;
  }
  if (problem !== undefined) {
    const detail = String(problem['detail'] ?? problem['title']);
    const errors = Array.isArray(problem['errors']) ? problem['errors'].filter(isObject) : [];
    const told =
      errors.length < 2
        ? detail
        : `${detail}: ${errors.map((error) => `${error['pointer']} (${error['detail']})`).join('; ')}`;
    return answer.status < 500 ? told : `${told} (${answer.status}, request-id ${problem['request-id']})`;
  }
  const message = isObject(body) && typeof body['message'] === 'string' ? body['message'] : '';
  const known = GATEWAY[answer.status] ?? 'the request was refused';
  return `${known} (${answer.status}${message === '' ? '' : ` ${message}`} from ${url.host})`;
}
