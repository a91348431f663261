/**
 * A recording as a pcap file, for a ticket with the peer's vendor: the messages of both sides with their times, in TCP
 * segments as good as those that were (their boundaries and sequence numbers are made up, the octets are not).
 * Format: https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-04.html
 */
import { concatenate, octetsOf } from './octet-writer.ts';
import { type Recording, replay } from './recording.ts';
import type { Endpoints } from './session-effect.ts';

const MAGIC_MICROSECONDS = 0xa1b2_c3d4;
/** Packets begin with an IPv4 or IPv6 header. */
const LINKTYPE_RAW = 101;
const SNAPSHOT_LENGTH = 0x4_0000;
const IPPROTO_TCP = 6;
const SEGMENT_OCTETS = 16_384;
const FLAG = { fin: 0x01, syn: 0x02, ack: 0x10, pushAck: 0x18, reset: 0x04 } as const;

interface Conversation {
  readonly endpoints: Endpoints;
  ourSequence: number;
  theirSequence: number;
}

export function encodePcap(recording: Recording): Uint8Array {
  const parts: Uint8Array[] = [
    octetsOf(
      [MAGIC_MICROSECONDS, 4],
      [2, 2],
      [4, 2],
      [0, 4],
      [0, 4],
      [SNAPSHOT_LENGTH, 4],
      [LINKTYPE_RAW, 4],
    ),
  ];
  const conversations = new Map<number, Conversation>();

  const packet = (at: number, connection: number, isOurs: boolean, flags: number, payload: Uint8Array) => {
    const conversation = conversations.get(connection);
    if (conversation === undefined) return;
    const segment = encodeSegment(conversation, isOurs, flags, payload);
    const microseconds = Math.round((at % 1000) * 1000);
    parts.push(
      octetsOf([Math.floor(at / 1000), 4], [microseconds, 4], [segment.length, 4], [segment.length, 4]),
      segment,
    );
    const advance = payload.length + ((flags & (FLAG.syn | FLAG.fin)) === 0 ? 0 : 1);
    if (isOurs) conversation.ourSequence += advance;
    else conversation.theirSequence += advance;
  };
  const data = (at: number, connection: number, isOurs: boolean, octets: Uint8Array) => {
    for (let from = 0; from < octets.length; from += SEGMENT_OCTETS) {
      packet(at, connection, isOurs, FLAG.pushAck, octets.subarray(from, from + SEGMENT_OCTETS));
    }
  };
  const nothing = new Uint8Array(0);
  const handshake = (at: number, connection: number, endpoints: Endpoints, isOurs: boolean) => {
    conversations.set(connection, { endpoints, ourSequence: 0, theirSequence: 0 });
    packet(at, connection, isOurs, FLAG.syn, nothing);
    packet(at, connection, !isOurs, FLAG.syn | FLAG.ack, nothing);
    packet(at, connection, isOurs, FLAG.ack, nothing);
  };

  replay(recording, ({ input, now }, effects) => {
    if (input.kind === 'connected') handshake(now.wall, input.connection, input.endpoints, true);
    if (input.kind === 'accept') handshake(now.wall, input.connection, input.endpoints, false);
    if (input.kind === 'receive') data(now.wall, input.connection, false, input.octets);
    if (input.kind === 'disconnected') {
      const flags = input.failure.errno === '' ? FLAG.fin | FLAG.ack : FLAG.reset | FLAG.ack;
      packet(now.wall, input.connection, false, flags, nothing);
      conversations.delete(input.connection);
    }
    for (const effect of effects) {
      if (effect.kind === 'send') data(now.wall, effect.connection, true, effect.octets);
      if (effect.kind === 'close') {
        packet(now.wall, effect.connection, true, FLAG.fin | FLAG.ack, nothing);
        conversations.delete(effect.connection);
      }
    }
  });
  return concatenate(...parts);
}

function encodeSegment(
  { endpoints, ourSequence, theirSequence }: Conversation,
  isOurs: boolean,
  flags: number,
  payload: Uint8Array,
): Uint8Array {
  const { localAddress, localPort, peerAddress, peerPort } = endpoints;
  const [source, destination] = isOurs ? [localAddress, peerAddress] : [peerAddress, localAddress];
  const [sourcePort, destinationPort] = isOurs ? [localPort, peerPort] : [peerPort, localPort];
  const [sequence, acknowledged] = isOurs ? [ourSequence, theirSequence] : [theirSequence, ourSequence];
  const tcp = concatenate(
    octetsOf([sourcePort, 2], [destinationPort, 2], [sequence % 2 ** 32, 4], [acknowledged % 2 ** 32, 4]),
    octetsOf([5 << 4, 1], [flags, 1], [0xffff, 2], [0, 2], [0, 2]),
    payload,
  );
  const from = addressOctets(source);
  const to = addressOctets(destination);
  const pseudoHeader = concatenate(from, to, octetsOf([tcp.length, 4], [IPPROTO_TCP, 4]));
  tcp.set(octetsOf([checksum(concatenate(pseudoHeader, tcp)), 2]), 16);
  return concatenate(
    from.length === 4 ? ipv4Header(from, to, tcp.length) : ipv6Header(from, to, tcp.length),
    tcp,
  );
}

function ipv4Header(from: Uint8Array, to: Uint8Array, length: number): Uint8Array {
  const header = concatenate(
    octetsOf([0x45, 1], [0, 1], [20 + length, 2], [0, 2], [0, 2], [64, 1], [IPPROTO_TCP, 1], [0, 2]),
    from,
    to,
  );
  header.set(octetsOf([checksum(header), 2]), 10);
  return header;
}

function ipv6Header(from: Uint8Array, to: Uint8Array, length: number): Uint8Array {
  return concatenate(octetsOf([0x6000_0000, 4], [length, 2], [IPPROTO_TCP, 1], [64, 1]), from, to);
}

/** RFC 1071. */
function checksum(octets: Uint8Array): number {
  let sum = 0;
  for (let index = 0; index < octets.length; index += 2) {
    sum += ((octets[index] as number) << 8) | (octets[index + 1] ?? 0);
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

/** 4 or 16 octets of an address literal as the system writes it. */
function addressOctets(address: string): Uint8Array {
  if (!address.includes(':')) return Uint8Array.from(address.split('.'), Number);
  const [head = '', tail = ''] = address.split('::');
  const groups = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const left = groups(head);
  const right = groups(tail);
  const all = [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
  return octetsOf(...all.map((group) => [group, 2] as const));
}
