/**
 * An SNMP agent for tests and the demo: v1, v2c and v3, any objects, and misbehaviour on command.
 * It is a function from datagram to datagrams; `udp-agent.ts` gives it a socket.
 */
import { BerWriter, copyBytes, Tag } from '../../../protocols/snmp/ber.ts';
import {
  decodeCommunityMessage,
  decodeScopedPdu,
  encodeCommunityMessage,
  encodeScopedPdu,
  MessageFlag,
  versionOf,
} from '../../../protocols/snmp/message.ts';
import { compareOids, encodeOid, type Oid, startsWith } from '../../../protocols/snmp/oid.ts';
import { ErrorStatus, encodePdu, type Pdu, type Varbind } from '../../../protocols/snmp/pdu.ts';
import {
  authenticationKey,
  cipherKey,
  decodeUsmMessage,
  decryptScopedPdu,
  type LocalizedUser,
  sealUsmMessage,
  type UsmMessage,
  verifyDigest,
} from '../../../protocols/snmp/usm.ts';
import {
  type AuthProtocol,
  localizeKey,
  type PrivProtocol,
  passwordToKey,
  privacyKey,
} from '../../../protocols/snmp/usm-key.ts';
import { encodeValue } from '../../../protocols/snmp/value.ts';
import type { ObjectStore } from './object-store.ts';

export interface AgentUser {
  readonly name: string;
  readonly auth?: { readonly protocol: AuthProtocol; readonly password: string };
  readonly priv?: { readonly protocol: PrivProtocol; readonly password: string };
}

export interface AgentOptions {
  readonly objects: ObjectStore;
  readonly communities?: readonly string[];
  readonly users?: readonly AgentUser[];
  readonly engineId?: Uint8Array;
  readonly startedAt: number;
}

/** What the agent does wrong, from the moment it is set until it is unset. */
export interface AgentFaults {
  /** Answers nothing. */
  frozen?: boolean;
  /** Answers each request this many times. */
  copies?: number;
  /** tooBig for every answer of more varbinds than this; 0: for all. */
  tooBigAbove?: number;
  /** Answers stop before they exceed this. */
  maxMessageBytes?: number;
  /** Under this object GetNext gives the same instance for ever. */
  loopsAt?: Oid;
  /** Under this object GetNext makes up instances for ever. */
  endlessAt?: Oid;
  /** genErr for requests that touch this. */
  genErrAt?: Oid;
  /** authorizationError for all. */
  forbidden?: boolean;
  /** GetBulk is answered by genErr. */
  noBulk?: boolean;
  /** INTEGER values come with nine bytes of content. */
  longIntegers?: boolean;
  /** Bytes that are no SNMP in place of each answer. */
  garbage?: boolean;
  /** Answers have a digest of another key. */
  wrongDigest?: boolean;
  /** What cannot be decrypted is dropped without a Report, as Net-SNMP does. */
  silentDecryption?: boolean;
  /** Requests that are still answered; then silence. */
  diesAfter?: number;
  /** Requests that are answered before a restart; it happens once. */
  restartsAfter?: number;
  /** Knows no newer version. */
  onlyV1?: boolean;
  /** Every clock is outside its time window, also the one that it tells itself. */
  refusesClock?: boolean;
  /** v1 answers carry Counter64 as they are. */
  counter64InV1?: boolean;
}

const USM_STATS: Oid = [1, 3, 6, 1, 6, 3, 15, 1, 1];
const SYS_UP_TIME: Oid = [1, 3, 6, 1, 2, 1, 1, 3, 0];
const TIME_WINDOW_SECONDS = 150;

export class SimulatedAgent {
  faults: AgentFaults = {};
  /** Requests that were understood, by operation: what a polite manager keeps small. */
  readonly requests: Record<string, number> = {};
  engineId: Uint8Array;
  engineBoots = 1;
  /** Seconds that the engine's clock stands off. */
  clockOffsetSeconds = 0;
  readonly objects: ObjectStore;
  private readonly communities: readonly string[];
  private readonly users: readonly AgentUser[];
  private readonly keys = new Map<string, LocalizedUser>();
  private startedAt: number;
  private salt = 1;
  private reports = 0;

  constructor(options: AgentOptions) {
    this.objects = options.objects;
    this.communities = options.communities ?? ['public'];
    this.users = options.users ?? [];
    this.engineId = options.engineId ?? Uint8Array.of(0x80, 0, 0x1f, 0x88, 4, 1, 2, 3, 4);
    this.startedAt = options.startedAt;
    this.objects.set(SYS_UP_TIME, (now) => ({
      kind: 'time-ticks',
      value: Math.floor((now - this.startedAt) / 10) % 2 ** 32,
    }));
  }

  /** Starts anew: sysUpTime at zero, engine boots one up. */
  restart(now: number): void {
    this.startedAt = now;
    this.engineBoots += 1;
  }

  /** Becomes another engine, as a device put in the place of this one would. */
  swapEngine(engineId: Uint8Array): void {
    this.engineId = engineId;
    this.keys.clear();
  }

  handle(datagram: Uint8Array, now: number): Uint8Array[] {
    if (this.faults.frozen || this.isDead(now)) return [];
    const answer =
      versionOf(datagram) === 'v3'
        ? this.handleV3(copyBytes(datagram), now)
        : this.handleCommunity(datagram, now);
    if (answer === undefined) return [];
    const sent = this.faults.garbage ? Uint8Array.of(0x30, 0x82, 0xff, 0xff, 1, 2, 3) : answer;
    return Array.from({ length: this.faults.copies ?? 1 }, () => sent);
  }

  /** Counts down to what happens after so many requests. */
  private isDead(now: number): boolean {
    const { diesAfter, restartsAfter } = this.faults;
    if (diesAfter !== undefined) this.faults.diesAfter = Math.max(0, diesAfter - 1);
    if (restartsAfter !== undefined) this.faults.restartsAfter = restartsAfter - 1;
    if (restartsAfter === 0) this.restart(now);
    return diesAfter === 0;
  }

  private handleCommunity(datagram: Uint8Array, now: number): Uint8Array | undefined {
    const decoded = decodeCommunityMessage(datagram);
    if (!decoded.ok) return undefined;
    const { version, community, pdu } = decoded.value;
    if (this.faults.onlyV1 && version !== 'v1') return undefined;
    if (!this.communities.includes(Buffer.from(community).toString('latin1'))) return undefined;
    const limit = this.faults.maxMessageBytes ?? 65_507;
    const response = this.respond(pdu, now, version === 'v1', limit - 30 - community.length);
    return response === undefined ? undefined : encodeCommunityMessage({ version, community, pdu: response });
  }

  private handleV3(datagram: Uint8Array, now: number): Uint8Array | undefined {
    const decoded = decodeUsmMessage(datagram);
    if (!decoded.ok) return undefined;
    const message = decoded.value;
    const inClear: LocalizedUser = { name: message.usm.userName };
    if (Buffer.compare(message.usm.engineId, this.engineId) !== 0)
      return this.report(4, message, inClear, now);
    const user = this.userNamed(Buffer.from(message.usm.userName).toString('utf8'));
    if (user === undefined) return this.report(3, message, inClear, now);
    const level = message.flags & (MessageFlag.auth | MessageFlag.priv);
    const missing = (level & MessageFlag.auth && !user.auth) || (level & MessageFlag.priv && !user.priv);
    if (missing) return this.report(1, message, inClear, now);
    let signer: LocalizedUser = inClear;
    if (level & MessageFlag.auth && user.auth !== undefined) {
      if (!verifyDigest(datagram, message, user)) return this.report(5, message, inClear, now);
      signer = { name: user.name, auth: user.auth };
      const off = Math.abs(message.usm.engineTime - this.engineTime(now));
      const inWindow = message.usm.engineBoots === this.engineBoots && off <= TIME_WINDOW_SECONDS;
      if (!inWindow || this.faults.refusesClock) {
        return this.report(2, message, signer, now);
      }
    }
    const plain = decryptScopedPdu(message, user);
    const scoped = plain === undefined ? undefined : decodeScopedPdu(plain);
    if (scoped === undefined || !scoped.ok) {
      return this.faults.silentDecryption ? undefined : this.report(6, message, signer, now);
    }
    // Below the level that the user was given, nothing is readable (RFC 3415).
    const wanted = (user.auth ? MessageFlag.auth : 0) | (user.priv ? MessageFlag.priv : 0);
    const limit = Math.min(this.faults.maxMessageBytes ?? 65_507, message.maxSize) - 200;
    const { pdu } = scoped.value;
    const response =
      level < wanted
        ? { ...pdu, type: 'response' as const, errorStatus: ErrorStatus.authorizationError, errorIndex: 0 }
        : this.respond(pdu, now, false, limit);
    if (response === undefined) return undefined;
    return this.seal(
      message,
      (level & MessageFlag.priv) !== 0 ? user : signer,
      encodePduScoped(scoped.value, response),
      now,
    );
  }

  private report(
    stat: number,
    message: UsmMessage,
    user: LocalizedUser,
    now: number,
  ): Uint8Array | undefined {
    if ((message.flags & MessageFlag.reportable) === 0) return undefined;
    this.reports += 1;
    const clear = message.encrypted ? undefined : decodeScopedPdu(message.data);
    const pdu: Pdu = {
      type: 'report',
      requestId: clear?.ok ? clear.value.pdu.requestId : 0,
      errorStatus: 0,
      errorIndex: 0,
      varbinds: [{ oid: [...USM_STATS, stat, 0], value: { kind: 'counter32', value: this.reports } }],
    };
    const scoped = encodeScopedPdu({ contextEngineId: this.engineId, contextName: new Uint8Array(0), pdu });
    return this.seal(message, user, scoped, now);
  }

  private seal(message: UsmMessage, user: LocalizedUser, scoped: Uint8Array, now: number): Uint8Array {
    this.salt += 1;
    const salt = Buffer.alloc(8);
    salt.writeUInt32BE(this.salt, 4);
    const sealed = sealUsmMessage(
      {
        messageId: message.messageId,
        maxSize: 65_507,
        reportable: false,
        engineId: this.engineId,
        engineBoots: this.engineBoots,
        engineTime: this.engineTime(now),
        salt,
      },
      user,
      scoped,
    );
    if (this.faults.wrongDigest && user.auth !== undefined) {
      sealed[sealed.length - 1] = (sealed.at(-1) as number) ^ 0xff;
    }
    return sealed;
  }

  private engineTime(now: number): number {
    return Math.max(0, Math.floor((now - this.startedAt) / 1000) + this.clockOffsetSeconds);
  }

  private respond(request: Pdu, now: number, v1: boolean, limit: number): Pdu | undefined {
    const { faults } = this;
    this.requests[request.type] = (this.requests[request.type] ?? 0) + 1;
    const refuse = (errorStatus: number, errorIndex: number): Pdu => ({
      ...request,
      type: 'response',
      errorStatus,
      errorIndex,
    });
    if (faults.forbidden) return refuse(ErrorStatus.authorizationError, 0);
    if (faults.noBulk && request.type === 'get-bulk-request') return refuse(ErrorStatus.genErr, 0);
    if (v1 && request.type === 'get-bulk-request') return undefined;
    const { genErrAt } = faults;
    if (genErrAt !== undefined) {
      const place = request.varbinds.findIndex(({ oid }) => startsWith(oid, genErrAt));
      if (place >= 0) return refuse(ErrorStatus.genErr, place + 1);
    }
    const varbinds = this.varbindsFor(request, now, limit, v1);
    if (v1) {
      const place = varbinds.findIndex(
        ({ value }) => value.kind.startsWith('no-such') || value.kind === 'end-of-mib-view',
      );
      if (place >= 0) return refuse(ErrorStatus.noSuchName, place + 1);
    }
    if (varbinds.length > (faults.tooBigAbove ?? Number.POSITIVE_INFINITY)) {
      return { ...refuse(ErrorStatus.tooBig, 0), varbinds: [] };
    }
    const response: Pdu = { ...request, type: 'response', errorStatus: 0, errorIndex: 0, varbinds };
    const whole = encodePdu(response).length <= limit;
    return whole ? response : { ...refuse(ErrorStatus.tooBig, 0), varbinds: [] };
  }

  private varbindsFor(request: Pdu, now: number, limit: number, v1: boolean): Varbind[] {
    if (request.type === 'get-request') {
      return request.varbinds.map(({ oid }) => ({
        oid,
        value: this.shown(this.objects.get(oid, now) ?? { kind: 'no-such-instance' }, v1),
      }));
    }
    const bulk = request.type === 'get-bulk-request';
    const nonRepeaters = bulk ? Math.max(0, request.errorStatus) : request.varbinds.length;
    const repetitions = bulk ? Math.max(0, request.errorIndex) : 1;
    const once = request.varbinds.slice(0, nonRepeaters).map(({ oid }) => this.next(oid, now, v1));
    let repeated = request.varbinds.slice(nonRepeaters).map(({ oid }) => oid);
    let left = limit - 20 - sizeOf(once);
    const varbinds = once;
    // RFC 3416 §4.2.3: as many as fit, and no further round once all are past the end.
    for (let round = 0; round < repetitions && repeated.length > 0; round += 1) {
      const row = repeated.map((oid) => this.next(oid, now, v1));
      for (const varbind of row) {
        left -= sizeOf([varbind]);
        if (left < 0 && bulk) return varbinds;
        varbinds.push(varbind);
      }
      if (row.every(({ value }) => value.kind === 'end-of-mib-view')) break;
      repeated = row.map(({ oid }) => oid);
    }
    return varbinds;
  }

  private next(oid: Oid, now: number, v1: boolean): Varbind {
    const { loopsAt, endlessAt } = this.faults;
    if (endlessAt !== undefined && startsWith(oid, endlessAt)) {
      const last = oid.length === endlessAt.length ? 0 : (oid.at(-1) as number);
      return { oid: [...endlessAt, last + 1], value: { kind: 'gauge32', value: last } };
    }
    const found = this.objects.next(oid, now);
    if (found === undefined) return { oid, value: { kind: 'end-of-mib-view' } };
    if (loopsAt !== undefined && startsWith(found.oid, loopsAt) && compareOids(oid, loopsAt) !== 0) {
      return this.objects.next(loopsAt, now) ?? found;
    }
    return { oid: found.oid, value: this.shown(found.value, v1) };
  }

  private shown(value: Varbind['value'], v1: boolean): Varbind['value'] {
    if (this.faults.longIntegers && value.kind === 'integer') {
      return { kind: 'unreadable', tag: 2, value: new Uint8Array(9).fill(1) };
    }
    // RFC 3584 §4.2.2.1: v1 has no Counter64, so that such an object is not there.
    if (v1 && value.kind === 'counter64' && !this.faults.counter64InV1) return { kind: 'no-such-object' };
    return value;
  }

  private userNamed(name: string): LocalizedUser | undefined {
    const known = this.keys.get(name);
    if (known !== undefined) return known;
    const user = this.users.find((candidate) => candidate.name === name);
    if (user === undefined) return undefined;
    const localized = localizeAgentUser(user, this.engineId);
    this.keys.set(name, localized);
    return localized;
  }
}

/** Ku by protocol and password: making one costs a millisecond or more, and tests make the same ones again. */
const derivedKeys = new Map<string, Uint8Array>();

export function keyOf(protocol: AuthProtocol, password: string): Uint8Array {
  const name = `${protocol} ${password}`;
  const key = derivedKeys.get(name) ?? passwordToKey(protocol, new TextEncoder().encode(password));
  derivedKeys.set(name, key);
  return key;
}

function localizeAgentUser(user: AgentUser, engineId: Uint8Array): LocalizedUser {
  const name = new TextEncoder().encode(user.name);
  const { auth, priv } = user;
  if (auth === undefined) return { name };
  const key = localizeKey(auth.protocol, keyOf(auth.protocol, auth.password), engineId);
  const localized: LocalizedUser = { name, auth: authenticationKey(auth.protocol, key) };
  if (priv === undefined) return localized;
  const privKey = keyOf(auth.protocol, priv.password);
  return {
    ...localized,
    priv: cipherKey(priv.protocol, privacyKey(priv.protocol, auth.protocol, privKey, engineId)),
  };
}

function encodePduScoped(
  scoped: { contextEngineId: Uint8Array; contextName: Uint8Array },
  pdu: Pdu,
): Uint8Array {
  return encodeScopedPdu({ contextEngineId: scoped.contextEngineId, contextName: scoped.contextName, pdu });
}

const measure = new BerWriter(4_096);

/** Bytes of the varbinds within a message of usual size. */
function sizeOf(varbinds: readonly Varbind[]): number {
  measure.reset();
  for (const { oid, value } of varbinds) {
    encodeValue(measure, value);
    measure.header(Tag.objectIdentifier, 0);
    measure.header(Tag.sequence, 300);
    measure.raw(encodeOid(oid));
  }
  return measure.length;
}
