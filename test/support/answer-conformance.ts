import * as z from 'zod';
import { ROUTES, type Route } from '../../contract/routes.ts';
import { gatewayMessageAnswer, problemAnswer } from '../../core/problem-answer.ts';
import { matchRoute } from '../../core/route-match.ts';
import type { OperationDocument } from '../../openapi/operation.ts';
import { OPERATIONS } from '../../openapi/operations.ts';
import { hasTopologyVersion, problemsOf } from '../../openapi/problems.ts';
import type { ApiAnswer } from './api-client.ts';

/** A body that went to S3, wherever it is over 4 MB. */
const LARGE_BODY_STATUS = 303;

/** Answers held against their declaration, by operation. */
export const conforming = new Map<string, number>();

/**
 * Throws when an answer is not one that the OpenAPI document tells of: its status, its problem type, its headers, or a
 * body that has a member too many, too few, or of another type.
 */
export function requireDeclaredAnswer(method: string, target: string, answer: ApiAnswer): void {
  const path = decodedPath(target);
  if (path === undefined) return;
  const about = `${method} ${target} answered ${answer.status} ${answer.text.slice(0, 2_000)}`;
  const match = matchRoute(ROUTES, method, path);
  const hasBody = method !== 'HEAD';
  if (isGatewayAnswer(answer)) {
    requireShape(gatewayMessageAnswer, answer.json, about);
  } else if (match.kind !== 'route') {
    if (hasBody) requireShape(problemAnswer, answer.json, about);
  } else {
    const name = `${match.route.method} ${match.route.path}`;
    const operation = OPERATIONS[name];
    if (operation === undefined) throw new Error(`${name} is not documented`);
    conforming.set(name, (conforming.get(name) ?? 0) + 1);
    requireHeaders(match.route, operation, answer, about);
    if (hasBody) requireBody(match.route, operation, answer, about);
  }
}

function requireHeaders(
  route: Route,
  { answer: declared }: OperationDocument,
  answer: ApiAnswer,
  about: string,
): void {
  if (hasTopologyVersion(route, answer.status) && answer.headers['topology-version'] === undefined) {
    throw new Error(`no Topology-Version: ${about}`);
  }
  if (answer.status !== declared.status) return;
  for (const header of declared.headers ?? []) {
    const isOptional = header === 'Link' || header === 'Retry-After';
    if (!isOptional && answer.headers[header.toLowerCase()] === undefined) {
      throw new Error(`no ${header}: ${about}`);
    }
  }
}

function requireBody(route: Route, operation: OperationDocument, answer: ApiAnswer, about: string): void {
  const { body, isList, texts = [], status } = operation.answer;
  const other = operation.otherAnswers?.find((candidate) => candidate.status === answer.status);
  if (other !== undefined) {
    requireShape(other.body.schema, answer.json, about);
  } else if (answer.status === status) {
    const contentType = answer.headers['content-type'];
    if (contentType !== undefined && texts.includes(contentType)) return;
    if (body !== undefined) {
      if (contentType !== 'application/json') throw new Error(`content-type ${contentType}: ${about}`);
      requireShape(isList ? z.array(body.schema) : body.schema, answer.json, about);
    } else if (answer.text !== '') {
      throw new Error(`a body where none is declared: ${about}`);
    }
  } else if (answer.status !== LARGE_BODY_STATUS) {
    requireShape(problemAnswer, answer.json, about);
    const type = String(answer.json.type).replace('urn:graticule:problem:', '');
    const declared: readonly string[] = problemsOf(route, operation);
    if (!declared.includes(type) || answer.headers['content-type'] !== 'application/problem+json') {
      throw new Error(`${type} is not documented: ${about}`);
    }
  }
}

function requireShape(schema: z.ZodType, value: unknown, about: string): void {
  const result = schema.safeParse(value);
  if (!result.success) throw new Error(`${z.prettifyError(result.error)}\n${about}`);
}

function isGatewayAnswer(answer: ApiAnswer): boolean {
  const isJson = answer.headers['content-type'] === 'application/json';
  return isJson && answer.status >= 400 && 'message' in (answer.json ?? {});
}

function decodedPath(target: string): string | undefined {
  try {
    return decodeURIComponent(target.split('?')[0] as string);
  } catch {
    return undefined;
  }
}
