import * as z from 'zod';
import { count, everyOf, integerId, maskedSecret, stated, time } from './answer.ts';
import { peerConfiguration } from './peer-request.ts';
import type {
  NotificationView,
  PeerStatus,
  SessionReason,
  SessionState,
  SessionView,
} from './peer-status.ts';

const notification = z.strictObject({
  at: time,
  code: z.int().min(0).max(255),
  subcode: z.int().min(0).max(255),
  data: z.string().meta({ description: 'Hex' }),
  text: z.string().meta({ description: 'Shutdown communication (RFC 9003), or empty' }),
}) satisfies z.ZodType<NotificationView>;

const nlriCounts = z.strictObject({
  node: count,
  link: count,
  'ipv4-prefix': count,
  'ipv6-prefix': count,
  'sr-policy': count,
  'srv6-sid': count,
  'stub-link': count,
  unknown: count,
});

const SESSION_STATES = everyOf<SessionState>()([
  'idle',
  'connect',
  'active',
  'opensent',
  'openconfirm',
  'established',
]);

const SESSION_REASONS = everyOf<SessionReason>()([
  '',
  'no-worker',
  'disabled',
  'waiting-owner',
  'waiting-retry',
  'passive-waiting',
  'no-listener',
  'md5-unsupported',
  'ttl-unsupported',
  'blocked-address',
  'max-nlri',
  'engine-max-nlri',
]);

export const sessionAnswer = z
  .strictObject({
    reason: z.enum(SESSION_REASONS).meta({ description: 'Why no session runs; empty when one does' }),
    worker: z.string().meta({ description: 'Who runs it; empty: not picked up yet' }),
    epoch: count,
    'local-address': z.string(),
    'local-port': z.int().min(0).max(65_535),
    'peer-address': z.string(),
    'peer-port': z.int().min(0).max(65_535),
    'local-as': z.string(),
    'peer-as': z.string(),
    'local-identifier': z.string(),
    'peer-identifier': z.string(),
    'hold-time': z.int().min(0).max(65_535).meta({ description: 'Negotiated, seconds' }),
    'keepalive-time': z.int().min(0).max(65_535).meta({ description: 'Negotiated, seconds' }),
    'connect-retry': z.int().min(0).max(65_535).meta({ description: 'Effective, seconds' }),
    'capabilities-sent': z.array(z.string()),
    'capabilities-received': z.array(z.string()),
    nlris: nlriCounts,
    withheld: z.strictObject({
      malformed: count,
      loop: count,
      'missing-mandatory-attribute': count,
      'max-nlri': count,
    }),
    'nlri-out-of-order': count,
    'end-of-rib': time.nullable(),
    'established-since': time.nullable(),
    'uptime-seconds': count,
    'last-notification-sent': notification.nullable(),
    'last-notification-received': notification.nullable(),
    'last-error-at': time.nullable(),
    attempts: count,
    'next-retry': time.nullable(),
  })
  .meta({ description: 'What the engine observes of the session' }) satisfies z.ZodType<SessionView>;

const observed = {
  state: z.enum(SESSION_STATES),
  'messages-sent': count,
  'messages-received': count,
  'last-state-change': time.nullable(),
  'last-error': z.string(),
  session: sessionAnswer,
};

z.strictObject({ id: integerId, ...observed }) satisfies z.ZodType<PeerStatus>;

export const peerAnswer = z.strictObject({
  id: integerId,
  ...stated(peerConfiguration.shape),
  'auth-password': maskedSecret,
  ...observed,
});

export const peerCommandAnswer = z.strictObject({
  command: z.enum(['reset', 'refresh']),
  'requested-at': time,
});
