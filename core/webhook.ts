import { SECRET_MASK } from './secret.ts';
import type { WebhookRequest } from './webhook-request.ts';

/** A token, which names of headers and methods are (RFC 9110 §5.6.2). */
export const HTTP_TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** The webhook's configuration as the product holds it: secrets are opened only where they are sent. */
export interface WebhookOutput {
  /** 0: never configured. */
  readonly revision: number;
  readonly enabled: boolean;
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly authHeader: string | undefined;
  readonly batchMode: boolean;
  readonly timeoutMilliseconds: number;
}

/** What a stack has before anybody configured it: the seed's defaults. */
export const UNCONFIGURED_WEBHOOK: WebhookOutput = {
  revision: 0,
  enabled: false,
  url: '',
  method: 'POST',
  headers: {},
  authHeader: undefined,
  batchMode: false,
  timeoutMilliseconds: 10_000,
};

/** The output that a PUT asks for. An `auth-header` of `''` or the mask keeps the stored one; null clears it. */
export function replaceWebhook(previous: WebhookOutput, asked: WebhookRequest): WebhookOutput {
  const { config } = asked;
  const given = config['auth-header'];
  const keeps = given === '' || given === SECRET_MASK;
  return {
    revision: previous.revision + 1,
    enabled: asked.enabled,
    url: config.url,
    method: config.method,
    headers: config.headers,
    authHeader: keeps ? previous.authHeader : (given ?? undefined),
    batchMode: config['batch-mode'],
    timeoutMilliseconds: config['timeout-ms'],
  };
}

/** Whether two outputs differ in nothing but their revision. */
export function isSameWebhook(a: WebhookOutput, b: WebhookOutput): boolean {
  const comparable = (output: WebhookOutput) =>
    JSON.stringify([
      output.enabled,
      output.url,
      output.method,
      Object.entries(output.headers),
      output.authHeader ?? null,
      output.batchMode,
      output.timeoutMilliseconds,
    ]);
  return comparable(a) === comparable(b);
}

/** The output as the API shows it. */
export function viewWebhook(output: WebhookOutput): Record<string, unknown> {
  return {
    enabled: output.enabled,
    config: {
      url: output.url,
      method: output.method,
      headers: output.headers,
      'auth-header': output.authHeader === undefined ? '' : SECRET_MASK,
      'batch-mode': output.batchMode,
      'timeout-ms': output.timeoutMilliseconds,
    },
  };
}

/** The method that goes over the wire, or undefined when the configured one is no token (RFC 9110 §9.1). */
export function wireMethod(method: string): string | undefined {
  if (method === '') return 'POST';
  return HTTP_TOKEN.test(method) ? method : undefined;
}
