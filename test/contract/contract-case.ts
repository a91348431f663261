import type { ApiAnswer, ApiCall, ApiClient } from '../support/api-client.ts';

/** A sentence about the API and what shows it. Cases share a stack and run in any order, also beside each other. */
export interface ContractCase {
  readonly sentence: string;
  run(api: ApiClient): Promise<void>;
}

let lastAddress = 0;

/** A loopback address that no other case uses: an enabled peer there dials nobody else. */
export function freshAddress(): string {
  lastAddress += 1;
  return `127.${16 + ((lastAddress >> 16) & 127)}.${(lastAddress >> 8) & 255}.${lastAddress & 255}`;
}

export function get(api: ApiClient, path: string, headers: Record<string, string> = {}): Promise<ApiAnswer> {
  return api.send({ method: 'GET', path, headers });
}

export function post(
  api: ApiClient,
  path: string,
  body: unknown,
  more: Partial<ApiCall> = {},
): Promise<ApiAnswer> {
  return api.send({ method: 'POST', path, body, ...more });
}

export function put(
  api: ApiClient,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<ApiAnswer> {
  return api.send({ method: 'PUT', path, body, headers });
}

export function remove(
  api: ApiClient,
  path: string,
  headers: Record<string, string> = {},
): Promise<ApiAnswer> {
  return api.send({ method: 'DELETE', path, headers });
}
