/** What a response's fields must be (RFC 9113 §8.2, §8.3), and what they say of its content. */
import type { HeaderField } from './static-table.ts';

/** Fields of HTTP/1.1's connections (RFC 9113 §8.2.2). */
const OF_A_CONNECTION = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

const NAME = /^[!-9;-@[-~]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a value may not have.
const BAD_VALUE = /[\x00\r\n]/;

/**
 * Why these fields are malformed, or undefined. White space around a value is let pass against §8.2.1: gRPC servers send
 * what a person wrote as `grpc-message`.
 */
export function malformedFields(fields: readonly HeaderField[], isTrailer: boolean): string | undefined {
  let isPseudoOver = isTrailer;
  let statuses = 0;
  for (const [name, value] of fields) {
    if (BAD_VALUE.test(value)) return `a value of ${JSON.stringify(name)} with a line end or NUL`;
    if (name.startsWith(':')) {
      if (name !== ':status') return `the pseudo-header ${JSON.stringify(name)}`;
      if (isPseudoOver) return `${name} in the wrong place`;
      // RFC 9110 §15.
      if (!/^[1-5]\d\d$/.test(value)) return 'a :status that is none of 100 to 599';
      statuses += 1;
    } else {
      isPseudoOver = true;
      if (!NAME.test(name)) return `the field name ${JSON.stringify(name)}`;
      if (OF_A_CONNECTION.has(name)) return `the field ${name}`;
    }
  }
  return isTrailer || statuses === 1 ? undefined : `${statuses} times :status`;
}

/**
 * How many octets of DATA a response must have (RFC 9113 §8.1.1); undefined when it does not say, or when it has no content
 * whatever it says; NaN for what is no length, or several (RFC 9110 §8.6).
 */
export function contentLength(
  fields: readonly HeaderField[],
  status: number,
  isHead: boolean,
): number | undefined {
  if (isHead || status === 204 || status === 304) return undefined;
  let length: number | undefined;
  for (const [name, value] of fields) {
    if (name !== 'content-length') continue;
    if (length !== undefined || !/^\d+$/.test(value.trim())) return Number.NaN;
    length = Number(value);
  }
  return length;
}
