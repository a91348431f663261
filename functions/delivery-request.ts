import { PRODUCT_VERSION } from '../contract/version.ts';
import type { WebhookOutput } from '../core/webhook.ts';

/** The header fields of every delivery, but for Host and Content-Length. The content type is always JSON. */
export function deliveryHeaders(output: WebhookOutput): [name: string, value: string][] {
  const custom = Object.entries(output.headers).filter(([name]) => name.toLowerCase() !== 'content-type');
  const namesAgent = custom.some(([name]) => name.toLowerCase() === 'user-agent');
  return [
    ['Content-Type', 'application/json'],
    ...(namesAgent ? [] : [['User-Agent', `graticule/${PRODUCT_VERSION}`] as [string, string]]),
    ...(output.authHeader === undefined ? [] : [['Authorization', output.authHeader] as [string, string]]),
    ...custom,
  ];
}
