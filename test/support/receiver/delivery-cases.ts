import type { FailureReason } from '../../../core/delivery-outcome.ts';

/** One fault of a receiver, and what becomes of the records that are sent to it. */
export interface DeliveryCase {
  readonly name: string;
  readonly path: string;
  /** The certificate of a TLS receiver. */
  readonly certificate?: string;
  readonly method?: string;
  /** A URL in place of the receiver's own. */
  readonly url?: string;
  readonly timeoutMilliseconds?: number;
  /** null: delivered. */
  readonly reason: FailureReason | null;
  /** What `last-failure` says of it. */
  readonly detail?: RegExp;
  readonly redirects?: boolean;
  /** Requests that reach the receiver, of those sent; all, if not given. */
  readonly isSeen?: boolean;
}

/** The list that is run against the handlers and against the running processes. */
export const DELIVERY_CASES: readonly DeliveryCase[] = [
  { name: '200', path: '/status/200', reason: null },
  { name: '204', path: '/status/204', reason: null },
  { name: '301, which is not followed', path: '/status/301', reason: null, redirects: true },
  { name: '399', path: '/status/399', reason: null, redirects: true },
  { name: '400', path: '/status/400', reason: 'http-4xx' },
  { name: '404', path: '/status/404', reason: 'http-4xx' },
  { name: '429', path: '/status/429', reason: 'http-4xx' },
  { name: '500', path: '/status/500', reason: 'http-5xx' },
  { name: '503', path: '/status/503', reason: 'http-5xx' },
  { name: '600', path: '/status/600', reason: 'http-other' },
  { name: 'interim answers before the answer', path: '/interim', reason: null },
  { name: 'a chunked answer', path: '/chunked', reason: null },
  { name: 'a slow head', path: '/slow-head', reason: null },
  { name: 'a head that does not end', path: '/half-head', reason: 'timeout', timeoutMilliseconds: 150 },
  { name: 'a body that does not end', path: '/slow-body', reason: null, timeoutMilliseconds: 150 },
  { name: 'no answer', path: '/never', reason: 'timeout', timeoutMilliseconds: 150 },
  { name: 'a reset', path: '/reset', reason: 'reset', detail: /^the connection was reset \(ECONNRESET\)$/ },
  { name: 'a close before the answer', path: '/close-early', reason: 'reset' },
  { name: 'a close within the head', path: '/close-in-head', reason: 'reset' },
  { name: 'an answer that is not HTTP', path: '/garbage', reason: 'reset' },
  { name: 'HTTP/1.0', path: '/http10', reason: null },
  { name: 'a huge body', path: '/huge-body', reason: null },
  { name: 'an answer whose lines end in LF alone', path: '/bare-lines', reason: null },
  { name: 'a trusted certificate', path: '/status/200', certificate: 'localhost', reason: null },
  { name: 'a chunked answer over TLS', path: '/chunked', certificate: 'localhost', reason: null },
  { name: 'a huge body over TLS', path: '/huge-body', certificate: 'localhost', reason: null },
  {
    name: 'a close before the answer over TLS',
    path: '/close-early',
    certificate: 'localhost',
    reason: 'reset',
  },
  {
    name: 'no answer over TLS',
    path: '/never',
    certificate: 'localhost',
    reason: 'timeout',
    timeoutMilliseconds: 400,
  },
  {
    name: 'a certificate nobody trusts',
    path: '/',
    certificate: 'self-signed',
    reason: 'tls',
    detail: /^the authority of its certificate is not trusted here \(/,
    isSeen: false,
  },
  {
    name: 'a certificate for another host',
    path: '/',
    certificate: 'wrong-host',
    reason: 'tls',
    detail: /^its certificate is for other names \(/,
    isSeen: false,
  },
  {
    name: 'an expired certificate',
    path: '/',
    certificate: 'expired',
    reason: 'tls',
    detail: /^its certificate has expired \(/,
    isSeen: false,
  },
  {
    name: 'plain HTTP where TLS is expected',
    path: '/',
    url: 'https://127.0.0.1:PORT/',
    reason: 'tls',
    detail: /^what listens there does not speak TLS \(/,
    isSeen: false,
  },
  {
    name: 'nobody listening',
    path: '/',
    url: 'http://127.0.0.1:1/',
    reason: 'connect',
    detail: /^nothing listens there \(ECONNREFUSED\)$/,
    isSeen: false,
  },
  {
    name: 'a name without address',
    path: '/',
    url: 'http://no-such-host.invalid/',
    reason: 'dns',
    detail: /^no-such-host\.invalid has no address \(/,
    isSeen: false,
  },
  { name: 'metadata', path: '/', url: 'http://169.254.169.254/latest/', reason: 'blocked', isSeen: false },
  { name: 'task credentials', path: '/', url: 'http://169.254.170.2/', reason: 'blocked', isSeen: false },
  { name: 'method post in lower case', path: '/status/200', method: 'post', reason: null },
  { name: 'method REPORT', path: '/status/200', method: 'REPORT', reason: null },
  { name: 'method PROPFIND', path: '/status/200', method: 'PROPFIND', reason: null },
  { name: 'method GET with a body', path: '/status/200', method: 'GET', reason: null },
  { name: 'method HEAD', path: '/status/200', method: 'HEAD', reason: null },
  { name: 'method CONNECT', path: '/status/200', method: 'CONNECT', reason: null },
  { name: 'an empty method, which is POST', path: '/status/200', method: '', reason: null },
  {
    name: 'a method that is no token',
    path: '/',
    method: 'NO GOOD',
    reason: 'invalid-method',
    isSeen: false,
  },
];
