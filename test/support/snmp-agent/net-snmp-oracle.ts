/**
 * npm net-snmp as a second opinion on every byte: it writes requests that our codec has to read, and reads answers that
 * our codec wrote. No network: its socket is a function here.
 */
import { EventEmitter } from 'node:events';
import netSnmp from 'net-snmp';
import { decodeCommunityMessage, encodeCommunityMessage } from '../../../protocols/snmp/message.ts';
import { formatOid, type Oid } from '../../../protocols/snmp/oid.ts';
import type { Varbind } from '../../../protocols/snmp/pdu.ts';
import type { SnmpValue } from '../../../protocols/snmp/value.ts';
import type { Random } from '../random.ts';
import { type AgentUser, SimulatedAgent } from './agent.ts';
import { ObjectStore } from './object-store.ts';
import { randomOid, randomValue } from './random-pdu.ts';

interface PeerVarbind {
  oid: string;
  type?: number;
  value?: unknown;
}

type Answer = (error: Error | null, varbinds: PeerVarbind[]) => void;

/** The part of a session that is used here, with what its types leave out. */
interface PeerSession {
  get(oids: string[], callback: Answer): void;
  set(varbinds: PeerVarbind[], callback: Answer): void;
  close(): void;
  on(event: 'error', listener: (error: Error) => void): void;
}

/** Stands in for the socket: what is sent is answered at once by `answer`. */
class LoopSocket extends EventEmitter {
  answer: (datagram: Buffer) => Uint8Array | undefined = () => undefined;

  send(
    datagram: Buffer,
    _offset: number,
    length: number,
    _port: number,
    _address: string,
    sent: (error: null, bytes: number) => void,
  ): void {
    // The peer begins to wait for an answer when it hears that its request went.
    sent(null, length);
    const answer = this.answer(datagram);
    if (answer !== undefined) this.emit('message', Buffer.from(answer), {});
  }

  ref(): void {}
  unref(): void {}
  bind(): void {}
  close(): void {}
}

const AUTH: Record<string, string> = {
  md5: 'md5',
  'sha-1': 'sha',
  'sha-224': 'sha224',
  'sha-256': 'sha256',
  'sha-384': 'sha384',
  'sha-512': 'sha512',
};

/** Without DES: the peer asks OpenSSL for it, which no longer has it. snmpd is the witness for that. */
const PRIV: Record<string, string> = {
  'aes-128': 'aes',
  'aes-256': 'aes256b',
  'aes-256-reeder': 'aes256r',
};

/** Every combination that both sides know. */
export const SHARED_USERS: readonly AgentUser[] = Object.keys(AUTH).flatMap((auth) =>
  ['', ...Object.keys(PRIV)].map(
    (priv): AgentUser => ({
      name: `${auth}-${priv}`,
      auth: { protocol: auth as 'md5', password: 'authpass1' },
      ...(priv === '' ? {} : { priv: { protocol: priv as 'des', password: 'privpass1' } }),
    }),
  ),
);

/** The peer's type number and value for one of ours. */
export function asPeer(value: SnmpValue): { type: number; value: unknown } {
  switch (value.kind) {
    case 'integer':
      return { type: 2, value: value.value };
    case 'octet-string':
      return { type: 4, value: Buffer.from(value.value) };
    case 'object-identifier':
      return { type: 6, value: formatOid(value.value) };
    case 'ip-address':
      return { type: 64, value: value.value.join('.') };
    case 'counter32':
      return { type: 65, value: value.value };
    case 'gauge32':
      return { type: 66, value: value.value };
    case 'time-ticks':
      return { type: 67, value: value.value };
    case 'opaque':
      return { type: 68, value: Buffer.from(value.value) };
    case 'counter64':
      return { type: 70, value: value.value };
    case 'no-such-object':
      return { type: 128, value: null };
    case 'no-such-instance':
      return { type: 129, value: null };
    case 'end-of-mib-view':
      return { type: 130, value: null };
    default:
      return { type: 5, value: null };
  }
}

/** A form in which both sides' varbinds can be compared. */
function shown({ oid, type, value }: PeerVarbind): string {
  const content =
    type === 70
      ? Buffer.isBuffer(value)
        ? BigInt(`0x${value.toString('hex') || '0'}`).toString()
        : String(value)
      : Buffer.isBuffer(value)
        ? value.toString('hex')
        : String(value ?? '');
  return `${oid} ${type} ${content}`;
}

function shownOurs({ oid, value }: Varbind): string {
  return shown({ oid: formatOid(oid), ...asPeer(value) });
}

/** A value that an agent can hold; identifiers within what the peer can write (it knows no arc above 47 below 2). */
function heldValue(random: Random): SnmpValue {
  for (;;) {
    const value = randomValue(random);
    if (value.kind === 'object-identifier') return { kind: value.kind, value: realOid(random) };
    const exception = value.kind.startsWith('no-such') || value.kind === 'end-of-mib-view';
    if (!exception && value.kind !== 'null') return value;
  }
}

/** OIDs as every stack takes them: rooted at 1.3, which all real ones are. */
function realOid(random: Random): Oid {
  return [1, 3, ...randomOid(random)];
}

export interface Differential {
  readonly pdus: number;
  readonly differences: readonly string[];
}

/** `rounds` SetRequests of the peer with values of every kind, read by us, and their answers, read by the peer. */
export function compareCommunity(random: Random, rounds: number): Differential {
  const socket = new LoopSocket();
  const session = sessionOver(socket);
  const differences: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const varbinds = Array.from(
      { length: 1 + random.below(10) },
      (): Varbind => ({
        oid: realOid(random),
        value: heldValue(random),
      }),
    );
    const expected = varbinds.map(shownOurs).join('\n');
    socket.answer = (datagram) => {
      const decoded = decodeCommunityMessage(datagram);
      if (!decoded.ok) {
        differences.push(`we cannot read ${datagram.toString('hex')}: ${decoded.reason}`);
        return undefined;
      }
      const { pdu } = decoded.value;
      const read = pdu.varbinds.map(shownOurs).join('\n');
      if (read !== expected || pdu.type !== 'set-request')
        differences.push(`the peer wrote\n${expected}\nwe read\n${read}`);
      return encodeCommunityMessage({ ...decoded.value, pdu: { ...pdu, type: 'response', varbinds } });
    };
    session.set(
      varbinds.map(({ oid, value }) => {
        const peer = asPeer(value);
        return {
          oid: formatOid(oid),
          type: peer.type,
          value: typeof peer.value === 'bigint' ? bytesOf(peer.value) : peer.value,
        };
      }),
      (error, answer) => {
        const read = error === null ? answer.map(shown).join('\n') : String(error);
        if (read !== expected) differences.push(`we wrote\n${expected}\nthe peer read\n${read}`);
      },
    );
  }
  session.close();
  return { pdus: rounds * 2, differences };
}

/** The peer as a v3 manager of an agent that is our codec: discovery, digests, ciphers and values, both ways. */
export function compareV3(random: Random, user: AgentUser, rounds: number): Differential {
  const objects = new ObjectStore();
  const held = Array.from({ length: 200 }, () => ({ oid: realOid(random), value: heldValue(random) }));
  const distinct = new Map(held.map((varbind) => [formatOid(varbind.oid), varbind]));
  for (const { oid, value } of distinct.values()) objects.set(oid, value);
  const agent = new SimulatedAgent({ objects, users: [user], startedAt: 0 });
  const socket = new LoopSocket();
  const session = sessionOver(socket, user);
  const differences: string[] = [];
  let pdus = 0;
  socket.answer = (datagram) => {
    pdus += 1;
    const [answer] = agent.handle(datagram, 5_000);
    pdus += answer === undefined ? 0 : 1;
    return answer;
  };
  const names = [...distinct.keys()];
  for (let round = 0; round < rounds; round += 1) {
    const oids = Array.from({ length: 1 + random.below(8) }, () => random.pick(names));
    const expected = oids.map((oid) => shownOurs(distinct.get(oid) as Varbind)).join('\n');
    let answered = false;
    session.get(oids, (error, answer) => {
      answered = true;
      const read = error === null ? answer.map(shown).join('\n') : String(error);
      if (read !== expected) differences.push(`${user.name}: we wrote\n${expected}\nthe peer read\n${read}`);
    });
    if (!answered) differences.push(`${user.name}: no answer to ${oids.join(' ')}`);
  }
  session.close();
  return { pdus, differences };
}

function sessionOver(socket: LoopSocket, user?: AgentUser): PeerSession {
  const options = {
    dgramModule: { createSocket: () => socket },
    version: user === undefined ? netSnmp.Version2c : netSnmp.Version3,
    idBitsSize: 32,
  };
  const session: unknown =
    user === undefined
      ? netSnmp.createSession('127.0.0.1', 'public', options as object)
      : netSnmp.createV3Session('127.0.0.1', peerUser(user) as never, options as object);
  (session as PeerSession).on('error', () => {});
  return session as PeerSession;
}

function peerUser({ name, auth, priv }: AgentUser): Record<string, unknown> {
  const levels = netSnmp.SecurityLevel;
  return {
    name,
    level:
      priv !== undefined ? levels.authPriv : auth !== undefined ? levels.authNoPriv : levels.noAuthNoPriv,
    ...(auth && {
      authProtocol: (netSnmp.AuthProtocols as Record<string, unknown>)[AUTH[auth.protocol] as string],
      authKey: auth.password,
    }),
    ...(priv && {
      privProtocol: (netSnmp.PrivProtocols as Record<string, unknown>)[PRIV[priv.protocol] as string],
      privKey: priv.password,
    }),
  };
}

function bytesOf(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}
