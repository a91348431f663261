import { validateBody } from '../core/body.ts';
import { viewDeliveryMetrics } from '../core/delivery-metrics.ts';
import type { Attempt } from '../core/delivery-outcome.ts';
import { Problem } from '../core/problem.ts';
import { isSameWebhook, replaceWebhook, viewWebhook, type WebhookOutput } from '../core/webhook.ts';
import { detectRequest, webhookRequest } from '../core/webhook-request.ts';
import { countingSince, readDeliveryCounters } from '../store/delivery-counters.ts';
import { getWebhook, putWebhook } from '../store/webhook-store.ts';
import { type ApiResponse, apiHandler } from './http.ts';
import { entityTag, refuseUnknownParameters, requireMatch, retryUnlessConditional } from './preconditions.ts';
import { dialOptionsFrom } from './webhook-dial.ts';
import { WebhookPool } from './webhook-pool.ts';

/** A person waits for the answer, and API Gateway for at most thirty seconds. */
const DETECT_TIMEOUT_MILLISECONDS = 10_000;

export const handler = apiHandler('outputs', {
  'GET /api/v1/outputs/webhook': {
    body: 'none',
    run: async (request) => {
      refuseUnknownParameters(request, []);
      return answerWith(await getWebhook());
    },
  },

  'PUT /api/v1/outputs/webhook': {
    body: 'json',
    run: async (request) => {
      const asked = validateBody(webhookRequest, [], request.body);
      return retryUnlessConditional(request, async () => {
        const previous = await getWebhook();
        requireMatch(request, previous.revision);
        const next = replaceWebhook(previous, asked);
        if (isSameWebhook(previous, next)) return answerWith(previous);
        await putWebhook(previous.revision, next);
        return answerWith(next);
      });
    },
  },

  'POST /api/v1/outputs/webhook/detect': {
    body: 'optional',
    run: async (request) => {
      const asked = request.body === undefined ? {} : validateBody(detectRequest, [], request.body);
      const url = asked.url ?? (await getWebhook()).url;
      if (url === '') throw new Problem('no-saved-url', 'no url is saved, and the request names none');
      const attempt = await detect(url);
      const milliseconds = Math.round(attempt.milliseconds);
      const body =
        attempt.status === null
          ? { url, 'response-code': null, reason: attempt.reason, detail: attempt.detail, ms: milliseconds }
          : { url, 'response-code': attempt.status, ms: milliseconds };
      return { status: 200, body };
    },
  },

  'GET /api/v1/outputs/metrics': {
    body: 'none',
    run: async (request) => {
      refuseUnknownParameters(request, []);
      const counters = await readDeliveryCounters(await countingSince(request.now));
      return { status: 200, body: viewDeliveryMetrics(counters, request.now.getTime()) };
    },
  },
});

/** One HEAD without authorization or custom headers, through the very guard that deliveries pass. */
function detect(url: string): Promise<Attempt> {
  const pool = new WebhookPool(
    { url: new URL(url), method: 'HEAD', headers: [], timeoutMilliseconds: DETECT_TIMEOUT_MILLISECONDS },
    { ...dialOptionsFrom(process.env), connections: 1 },
  );
  return new Promise((resolve) => {
    pool.send(undefined, (attempt) => {
      pool.retire();
      resolve(attempt as Attempt);
    });
  });
}

function answerWith(output: WebhookOutput): ApiResponse {
  return { status: 200, headers: { etag: entityTag(output.revision) }, body: viewWebhook(output) };
}
