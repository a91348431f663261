/**
 * One device's message layer: PDUs become datagrams and answers become PDUs again. It lives as long as the
 * device's settings do and keeps what was learnt of the agent's engine from one cycle to the next.
 */
import { BerReader, BerWriter, copyBytes, Tag } from './ber.ts';
import { AuthoritativeEngine, type UsmUser } from './engine.ts';
import { type AnomalyCounts, countAnomaly, type SnmpAnomaly, type SnmpFault } from './fault.ts';
import { MAXIMUM_MESSAGE_BYTES, MessageFlag, VERSION_NUMBER } from './message.ts';
import { compareOids, decodeOid, type Oid } from './oid.ts';
import { writePdu } from './pdu.ts';
import { decodeUsmMessage, decryptScopedPdu, sealUsmMessage, type UsmMessage, verifyDigest } from './usm.ts';
import { VarbindTable } from './varbind-table.ts';

export type SessionSettings =
  | { readonly version: 'v1' | 'v2c'; readonly community: Uint8Array }
  | {
      readonly version: 'v3';
      readonly user: UsmUser;
      readonly contextName: Uint8Array;
      /** The engine id that the device must have; empty: the one that it tells. */
      readonly engineId: Uint8Array;
      /** Where the counter of salts begins: random, so that a restarted manager repeats none (RFC 3826 §3.1.4.1). */
      readonly salt: bigint;
    };

/** What an answer turned out to be. */
export type Opened =
  | { readonly kind: 'pdu'; readonly bytes: Uint8Array; readonly start: number; readonly end: number }
  /** The engine or its clock is known now: what was asked has to be sent again. */
  | { readonly kind: 'again'; readonly restarted: boolean }
  | { readonly kind: 'ignored'; readonly anomaly: SnmpAnomaly }
  | { readonly kind: 'fault'; readonly fault: SnmpFault };

/** RFC 3414 §5, usmStats, by the last arc but the instance. */
const USM_STATS: Oid = [1, 3, 6, 1, 6, 3, 15, 1, 1];
const UsmStat = {
  unsupportedSecLevels: 1,
  notInTimeWindows: 2,
  unknownUserNames: 3,
  unknownEngineIds: 4,
  wrongDigests: 5,
  decryptionErrors: 6,
} as const;

/** RFC 3411 §5, SnmpEngineID. */
const ENGINE_ID_BYTES = { min: 5, max: 32 };

export class SnmpSession {
  readonly settings: SessionSettings;
  private engine: AuthoritativeEngine | undefined;
  private salt: bigint;
  private readonly report = new VarbindTable(4);

  constructor(settings: SessionSettings) {
    this.settings = settings;
    this.salt = settings.version === 'v3' ? settings.salt : 0n;
  }

  /** Whether the engine has to be asked for its id before anything else (RFC 3414 §4). */
  get needsDiscovery(): boolean {
    return this.settings.version === 'v3' && this.engine === undefined;
  }

  /** What v3 adds to a PDU, about; community messages add a few bytes. */
  get overheadBytes(): number {
    return this.settings.version === 'v3' ? 160 : 20 + this.settings.community.length;
  }

  /** Forgets the engine, so that the next cycle asks for it anew. */
  forgetEngine(): void {
    this.engine = undefined;
  }

  /** The empty request whose Report names the engine (RFC 3414 §4 step 1). */
  sealDiscovery(requestId: number): Uint8Array {
    const writer = new BerWriter(64);
    writePdu(writer, { type: 'get-request', requestId, errorStatus: 0, errorIndex: 0, varbinds: [] });
    return sealUsmMessage(
      { ...UNKNOWN_ENGINE, messageId: requestId, reportable: true },
      { name: EMPTY },
      scopedPdu(writer, EMPTY, EMPTY),
    );
  }

  /**
   * A datagram that carries the PDU that `writer` holds, and what this layer puts around it; the request id serves as
   * message id too.
   */
  seal(writer: BerWriter, requestId: number, now: number): Uint8Array {
    const { settings } = this;
    if (settings.version !== 'v3') {
      writer.primitive(Tag.octetString, settings.community);
      writer.integer(VERSION_NUMBER[settings.version]);
      writer.wrap(Tag.sequence, 0);
      return writer.finish();
    }
    const { engine } = this;
    if (engine === undefined) return this.sealDiscovery(requestId);
    return sealUsmMessage(
      {
        messageId: requestId,
        maxSize: MAXIMUM_MESSAGE_BYTES,
        reportable: true,
        engineId: engine.id,
        engineBoots: engine.boots,
        engineTime: engine.timeAt(now),
        salt: this.nextSalt(engine.boots),
      },
      engine.user,
      scopedPdu(writer, engine.id, settings.contextName),
    );
  }

  /** What a datagram from the device's address says. Its request or message id is the caller's to compare. */
  open(datagram: Uint8Array, now: number, anomalies: AnomalyCounts): Opened {
    const opened =
      this.settings.version === 'v3'
        ? this.openV3(datagram, now, anomalies)
        : openCommunity(datagram, this.settings.version);
    if (opened.kind === 'ignored') countAnomaly(anomalies, opened.anomaly);
    return opened;
  }

  private openV3(datagram: Uint8Array, now: number, anomalies: AnomalyCounts): Opened {
    const decoded = decodeUsmMessage(datagram);
    if (!decoded.ok) return ignored('malformed');
    const message = decoded.value;
    const { engine } = this;
    if (engine === undefined) return this.learnEngine(message, now);
    if (Buffer.compare(message.usm.engineId, engine.id) !== 0) {
      return this.engineChanged(message.usm.engineId, engine.id);
    }
    const authenticated = (message.flags & MessageFlag.auth) !== 0;
    if (!authenticated && engine.user.auth !== undefined) return this.unauthenticated(message);
    let restarted = false;
    if (authenticated) {
      if (!verifyDigest(datagram, message, engine.user)) return ignored('wrong-digest');
      const before = engine.timeAt(now);
      const judgement = engine.judge(message.usm.engineBoots, message.usm.engineTime, now);
      if (judgement === 'outside-window') return this.outsideWindow(message, before);
      restarted = judgement === 'restarted';
    }
    const plain = decryptScopedPdu(message, engine.user);
    const inner = plain === undefined ? undefined : scopedContent(plain);
    if (plain === undefined || inner === undefined) return ignored('undecipherable');
    if (plain[inner.start] === REPORT_TAG)
      return this.reportOf(plain, inner, restarted, authenticated, anomalies);
    if (engine.user.priv !== undefined && !message.encrypted) return ignored('wrong-security-level');
    return restarted ? { kind: 'again', restarted } : { kind: 'pdu', bytes: plain, ...inner };
  }

  /** Any v3 message of an engine tells its id (RFC 3414 §4); discovery's answer is a Report in clear. */
  private learnEngine(message: UsmMessage, now: number): Opened {
    const { settings } = this;
    const { engineId, engineBoots, engineTime } = message.usm;
    if (settings.version !== 'v3') return ignored('malformed');
    if (engineId.length < ENGINE_ID_BYTES.min || engineId.length > ENGINE_ID_BYTES.max)
      return ignored('malformed');
    if (settings.engineId.length > 0 && Buffer.compare(engineId, settings.engineId) !== 0) {
      return this.engineChanged(engineId, settings.engineId);
    }
    this.engine = new AuthoritativeEngine(copyBytes(engineId), settings.user, engineBoots, engineTime, now);
    return { kind: 'again', restarted: false };
  }

  private engineChanged(found: Uint8Array, expected: Uint8Array): Opened {
    this.engine = undefined;
    return fault(
      'snmp-engine-changed',
      `the agent's engine id is ${hex(found)}, ${hex(expected)} was expected: another device answers, or it was replaced`,
    );
  }

  /** The clock went back, or a recorded message is played to us: only the first can be seen in a Report. */
  private outsideWindow(message: UsmMessage, expectedTime: number): Opened {
    const { engine } = this;
    const plain = engine === undefined ? undefined : decryptScopedPdu(message, engine.user);
    const inner = plain === undefined ? undefined : scopedContent(plain);
    if (plain === undefined || inner === undefined || plain[inner.start] !== REPORT_TAG) {
      return ignored('outside-time-window');
    }
    this.engine = undefined;
    const { engineBoots, engineTime } = message.usm;
    return fault(
      'snmp-not-in-time-window',
      `the agent's clock went back: boots ${engineBoots}, time ${engineTime} s, and boots ${engine?.boots}, time ${expectedTime} s was expected`,
    );
  }

  /** An authenticated user may be told in clear only what the agent could not sign for him (RFC 3414 §3.2). */
  private unauthenticated(message: UsmMessage): Opened {
    const inner = message.encrypted ? undefined : scopedContent(message.data);
    if (inner === undefined || message.data[inner.start] !== REPORT_TAG)
      return ignored('wrong-security-level');
    const stat = this.statOf(message.data, inner);
    if (stat === UsmStat.notInTimeWindows || stat === UsmStat.decryptionErrors) {
      return ignored('unauthenticated-report');
    }
    return reportFault(stat);
  }

  private reportOf(
    bytes: Uint8Array,
    inner: Range,
    restarted: boolean,
    authenticated: boolean,
    anomalies: AnomalyCounts,
  ): Opened {
    const stat = this.statOf(bytes, inner);
    if (stat !== UsmStat.notInTimeWindows) return reportFault(stat);
    if (!authenticated) return ignored('unauthenticated-report');
    countAnomaly(anomalies, 'time-resync');
    return { kind: 'again', restarted };
  }

  /** Which of usmStats a Report carries, undefined when another. */
  private statOf(bytes: Uint8Array, { start, end }: Range): number | undefined {
    const table = this.report;
    if (table.decode(bytes, start, end) !== undefined || table.count === 0) return undefined;
    const oid = decodeOid(bytes, table.nameStart[0], table.nameEnd[0]);
    if (oid === undefined || compareOids(oid.slice(0, USM_STATS.length), USM_STATS) !== 0) return undefined;
    return oid[USM_STATS.length];
  }

  private nextSalt(boots: number): Uint8Array {
    this.salt = BigInt.asUintN(64, this.salt + 1n);
    const salt = Buffer.allocUnsafe(8);
    salt.writeBigUInt64BE(this.salt);
    const des = this.settings.version === 'v3' && this.settings.user.priv?.protocol === 'des';
    // RFC 3414 §8.1.1.1: boots and a local counter.
    if (des) salt.writeUInt32BE(boots, 0);
    return salt;
  }
}

interface Range {
  readonly start: number;
  readonly end: number;
}

const REPORT_TAG = 0xa8;
const EMPTY = new Uint8Array(0);
const UNKNOWN_ENGINE = {
  maxSize: MAXIMUM_MESSAGE_BYTES,
  engineId: EMPTY,
  engineBoots: 0,
  engineTime: 0,
  salt: EMPTY,
};

function openCommunity(datagram: Uint8Array, version: 'v1' | 'v2c'): Opened {
  const reader = new BerReader(datagram);
  const length = reader.readHeader(Tag.sequence);
  const end = reader.offset + length;
  const number = reader.readInteger();
  const communityLength = reader.readHeader(Tag.octetString);
  const start = reader.offset + communityLength;
  if (reader.failure !== undefined || number !== VERSION_NUMBER[version] || start >= end)
    return ignored('malformed');
  return { kind: 'pdu', bytes: datagram, start, end };
}

/** The scoped PDU around the PDU that the writer holds (RFC 3412 §6.8). */
function scopedPdu(writer: BerWriter, contextEngineId: Uint8Array, contextName: Uint8Array): Uint8Array {
  writer.primitive(Tag.octetString, contextName);
  writer.primitive(Tag.octetString, contextEngineId);
  writer.wrap(Tag.sequence, 0);
  return writer.finish();
}

/** Where the PDU lies in a scoped PDU (RFC 3412 §6.8). */
function scopedContent(bytes: Uint8Array): Range | undefined {
  const reader = new BerReader(bytes);
  const length = reader.readHeader(Tag.sequence);
  reader.end = reader.offset + length;
  const { end } = reader;
  for (let field = 0; field < 2; field += 1) {
    const fieldLength = reader.readHeader(Tag.octetString);
    reader.offset += fieldLength;
  }
  const tag = reader.peekTag();
  return reader.failure === undefined && tag >= 0xa0 && tag <= 0xa8
    ? { start: reader.offset, end }
    : undefined;
}

/** RFC 3414 §3.2: what each usmStats Report means to the one who asked. */
function reportFault(stat: number | undefined): Opened {
  switch (stat) {
    case UsmStat.unsupportedSecLevels:
      return fault('authentication', 'the agent has this user, but not at this security level');
    case UsmStat.unknownUserNames:
      return fault('snmp-unknown-user', 'the agent knows no user of this name');
    case UsmStat.unknownEngineIds:
      return fault('snmp-engine-changed', 'the agent does not answer to the engine id that it had');
    case UsmStat.wrongDigests:
      return fault(
        'snmp-wrong-digest',
        'the agent refuses the digest: wrong authentication password or protocol',
      );
    case UsmStat.decryptionErrors:
      return fault('snmp-decryption', 'the agent cannot decrypt: wrong privacy password or protocol');
    default:
      return fault(
        'protocol-error',
        'the agent sent a Report that says nothing of users: wrong context, or unsupported',
      );
  }
}

function ignored(anomaly: SnmpAnomaly): Opened {
  return { kind: 'ignored', anomaly };
}

function fault(code: SnmpFault['code'], detail: string): Opened {
  return { kind: 'fault', fault: { code, detail } };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
