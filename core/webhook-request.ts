import * as z from 'zod/mini';
import { refusal, whenRight } from './body.ts';
import { flag } from './flag.ts';
import { SECRET_MASK } from './secret.ts';
import { HTTP_TOKEN } from './webhook.ts';

const URL_LIMIT = 2_048;
const METHOD_LIMIT = 1_024;
const HEADERS_LIMIT = 64;
const HEADER_BYTES_LIMIT = 16_384;
const AUTH_HEADER_LIMIT = 8_192;

/** RFC 9110 §5.5, without obs-text: what every receiver reads alike. */
const FIELD_VALUE = /^([\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?)?$/;
const AUTHORIZATION = /^(Bearer|Basic|ApiKey) [\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

/** Fields that frame the request or belong to one hop, and the one that `auth-header` is for. */
const OWN_FIELDS = new Set([
  'authorization',
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'expect',
]);

const url = z
  .string()
  .check(
    z.superRefine((value, context) => {
      const wrong = urlRefusal(value);
      if (wrong !== undefined)
        context.addIssue({ code: 'custom', ...refusal(wrong.code), message: wrong.detail });
    }),
  )
  .register(z.globalRegistry, {
    legal: 'an http or https URL',
    anyOf: [{ const: '' }, { format: 'uri', pattern: '^[hH][tT][tT][pP][sS]?://' }],
    maxLength: URL_LIMIT,
  });

const method = z
  ._default(
    z.string().check(
      z.refine((value) => value.length <= METHOD_LIMIT, {
        ...refusal('out-of-range'),
        error: `method is at most ${METHOD_LIMIT} characters`,
      }),
      z.refine((value) => value.isWellFormed(), { error: 'method is well-formed Unicode' }),
    ),
    'POST',
  )
  .register(z.globalRegistry, { legal: 'text; POST and PUT are the usual ones', maxLength: METHOD_LIMIT });

const headers = z
  ._default(
    z.record(z.string(), z.string().register(z.globalRegistry, { legal: 'text' })).check(
      z.superRefine((value, context) => {
        const seen = new Set<string>();
        let bytes = 0;
        for (const [name, text] of Object.entries(value)) {
          if (typeof text !== 'string') continue;
          bytes += name.length + text.length;
          const lower = name.toLowerCase();
          const wrong = headerRefusal(lower, name, text) ?? (seen.has(lower) ? DUPLICATE(name) : undefined);
          seen.add(lower);
          if (wrong === undefined) continue;
          context.addIssue({ code: 'custom', ...refusal(wrong.code), path: [name], message: wrong.detail });
        }
        if (seen.size > HEADERS_LIMIT || bytes > HEADER_BYTES_LIMIT) {
          const detail = `headers are at most ${HEADERS_LIMIT}, of ${HEADER_BYTES_LIMIT} bytes together`;
          context.addIssue({ code: 'custom', ...refusal('out-of-range'), message: detail });
        }
      }, whenRight()),
    ),
    {},
  )
  .register(z.globalRegistry, {
    legal: 'an object of header names and values',
    propertyNames: { pattern: HTTP_TOKEN.source },
    additionalProperties: { type: 'string', pattern: FIELD_VALUE.source },
    maxProperties: HEADERS_LIMIT,
  });

const authHeader = z
  ._default(
    z.nullable(
      z.string().check(
        z.superRefine((value, context) => {
          if (value === '' || value === SECRET_MASK) return;
          if (value.length > AUTH_HEADER_LIMIT) {
            const detail = `auth-header is at most ${AUTH_HEADER_LIMIT} characters`;
            context.addIssue({ code: 'custom', ...refusal('out-of-range'), message: detail });
          } else if (!AUTHORIZATION.test(value)) {
            const detail =
              'auth-header is "Bearer", "Basic" or "ApiKey", one space, and a value of printable ASCII';
            context.addIssue({ code: 'custom', ...refusal('invalid-format'), message: detail });
          }
        }),
      ),
    ),
    null,
  )
  .register(z.globalRegistry, {
    legal: 'a whole Authorization value',
    anyOf: [
      { type: 'null' },
      { type: 'string', maxLength: AUTH_HEADER_LIMIT, pattern: `^$|^\\*{8}$|${AUTHORIZATION.source}` },
    ],
  });

export const webhookConfiguration = z
  .strictObject({
    url,
    method,
    headers,
    'auth-header': authHeader,
    'batch-mode': flag,
    'timeout-ms': z
      ._default(z.int().check(z.minimum(1), z.maximum(60_000)), 10_000)
      .register(z.globalRegistry, { legal: '1 to 60000 milliseconds' }),
  })
  .register(z.globalRegistry, { legal: 'an object' });

/** The body of a PUT (the seed: Webhook output configuration). */
export const webhookRequest = z
  .strictObject({
    enabled: z.boolean().register(z.globalRegistry, { legal: 'true or false' }),
    config: webhookConfiguration,
  })
  .check(
    z.superRefine(
      ({ enabled, config }, context) => {
        if (!enabled || config.url !== '') return;
        const message = 'url is required when the output is enabled';
        context.addIssue({ code: 'custom', ...refusal('required'), path: ['config', 'url'], message });
      },
      whenRight('enabled', 'config/url'),
    ),
  );

export type WebhookRequest = z.output<typeof webhookRequest>;

/** The body of a detect call; without `url`, the saved one is asked. */
export const detectRequest = z.strictObject({
  url: z.optional(
    url.check(z.refine((value) => value !== '', { ...refusal('required'), error: 'url is not empty here' })),
  ),
});

interface Refused {
  readonly code: 'invalid-format' | 'out-of-range' | 'duplicate';
  readonly detail: string;
}

const DUPLICATE = (name: string): Refused => ({
  code: 'duplicate',
  detail: `${name} is given twice; header names do not differ by case`,
});

function urlRefusal(value: string): Refused | undefined {
  if (value === '') return undefined;
  if (value.length > URL_LIMIT)
    return { code: 'out-of-range', detail: `url is at most ${URL_LIMIT} characters` };
  const isPrintable = /^[^\s\p{Cc}]+$/u.test(value) && value.isWellFormed();
  const parsed = isPrintable && URL.canParse(value) ? new URL(value) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    return {
      code: 'invalid-format',
      detail: 'url is an http or https URL, such as https://receiver.example/hook',
    };
  if (parsed.username !== '' || parsed.password !== '')
    return { code: 'invalid-format', detail: 'url holds no user and password; auth-header is for them' };
  return undefined;
}

function headerRefusal(lower: string, name: string, value: string): Refused | undefined {
  const refuse = (detail: string): Refused => ({ code: 'invalid-format', detail });
  if (!HTTP_TOKEN.test(name))
    return refuse(`${JSON.stringify(name.slice(0, 64))} is no header name (RFC 9110 §5.1)`);
  if (OWN_FIELDS.has(lower) || lower.startsWith('proxy-')) {
    return refuse(
      lower === 'authorization'
        ? 'Authorization is sent from auth-header'
        : `${name} is set by the sender itself`,
    );
  }
  if (lower === 'content-type' && value.trim().toLowerCase() !== 'application/json')
    return refuse('Content-Type is always application/json');
  if (!FIELD_VALUE.test(value))
    return refuse(`the value of ${name} is printable ASCII without spaces at its ends`);
  return undefined;
}
