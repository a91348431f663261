import type { BgpError } from './error.ts';
import type { ConnectionFailure } from './last-error.ts';
import type { PeerSettings } from './peer-settings.ts';
import type { Cease, Session } from './session.ts';
import type { Endpoints, Instant, SessionEffect } from './session-effect.ts';

/** All that can be done to a session, as data: what is recorded and replayed is a list of these. */
export type SessionInput =
  | { readonly kind: 'start' }
  | { readonly kind: 'stop'; readonly cease: Cease }
  | { readonly kind: 'reset' }
  | { readonly kind: 'update'; readonly settings: PeerSettings }
  | { readonly kind: 'refresh' }
  | {
      readonly kind: 'fail';
      readonly error: BgpError;
      readonly hold?: 'max-nlri' | 'engine-max-nlri' | undefined;
    }
  | { readonly kind: 'connected'; readonly connection: number; readonly endpoints: Endpoints }
  | { readonly kind: 'disconnected'; readonly connection: number; readonly failure: ConnectionFailure }
  | { readonly kind: 'accept'; readonly connection: number; readonly endpoints: Endpoints }
  | { readonly kind: 'receive'; readonly connection: number; readonly octets: Uint8Array }
  | { readonly kind: 'flushed'; readonly connection: number }
  | { readonly kind: 'expire' };

/** What `update` and `refresh` answer, besides effects; undefined for all other inputs. */
interface Outcomes {
  update: ReturnType<Session['update']>['outcome'];
  refresh: ReturnType<Session['refresh']>['outcome'];
}

export interface InputResult<Input extends SessionInput = SessionInput> {
  readonly effects: readonly SessionEffect[];
  readonly outcome: Input['kind'] extends keyof Outcomes ? Outcomes[Input['kind']] : unknown;
}

export function applyInput<const Input extends SessionInput>(
  session: Session,
  input: Input,
  now: Instant,
): InputResult<Input> {
  // The type follows the kind, which TypeScript cannot follow through a switch.
  return apply(session, input, now) as InputResult<Input>;
}

function apply(session: Session, input: SessionInput, now: Instant): InputResult {
  switch (input.kind) {
    case 'start':
      return done(session.start(now));
    case 'stop':
      return done(session.stop(input.cease, now));
    case 'reset':
      return done(session.reset(now));
    case 'update':
      return session.update(input.settings, now);
    case 'refresh':
      return session.refresh();
    case 'fail':
      return done(session.fail(input.error, now, input.hold));
    case 'connected':
      return done(session.connected(input.connection, input.endpoints, now));
    case 'disconnected':
      return done(session.disconnected(input.connection, input.failure, now));
    case 'accept':
      return done(session.accept(input.connection, input.endpoints, now));
    case 'receive':
      return done(session.receive(input.connection, input.octets, now));
    case 'flushed':
      session.flushed(input.connection, now);
      return done([]);
    case 'expire':
      return done(session.expire(now));
  }
}

function done(effects: readonly SessionEffect[]): InputResult {
  return { effects, outcome: undefined };
}
