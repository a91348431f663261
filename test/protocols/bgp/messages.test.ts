import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formatCapability } from '../../../protocols/bgp/capability.ts';
import { AFI, formatFamily, SAFI } from '../../../protocols/bgp/family.ts';
import { decodeHeader, encodeMessage, MESSAGE_TYPE, nameMessage } from '../../../protocols/bgp/header.ts';
import { formatIdentifier } from '../../../protocols/bgp/identifier.ts';
import { encodeKeepalive } from '../../../protocols/bgp/keepalive.ts';
import {
  decodeNotification,
  decodeShutdownText,
  encodeNotification,
  encodeShutdownText,
} from '../../../protocols/bgp/notification.ts';
import { formatHex } from '../../../protocols/bgp/octet-writer.ts';
import { decodeOpen, encodeOpen, type Open, openFor, validateOpen } from '../../../protocols/bgp/open.ts';
import { ReceiveBuffer, viewOf } from '../../../protocols/bgp/receive-buffer.ts';
import { decodeRouteRefresh, encodeRouteRefresh } from '../../../protocols/bgp/route-refresh.ts';
import { decodeUpdate, encodeEndOfRib } from '../../../protocols/bgp/update.ts';
import { peerOpen, peerSettings } from '../../support/bgp-peer.ts';

interface Vector {
  name: string;
  source: string;
  hex: string;
  value: Record<string, unknown>;
}

const file = new URL('../../vectors/bgp/messages.json', import.meta.url);
const vectors: Vector[] = JSON.parse(readFileSync(file, 'utf8'));
const octetsOfHex = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));
const CONTEXT = {
  families: [{ afi: AFI.linkState, safi: SAFI.linkState }],
  internal: true,
  fourOctetAs: true,
  localAs: 65_000,
  localIdentifier: 1,
};

/** A message as the vectors' values write it down. */
function describeMessage(octets: Uint8Array): Record<string, unknown> {
  const type = nameMessage(octets[18] as number);
  switch (octets[18]) {
    case MESSAGE_TYPE.open: {
      const open = decodeOpen(octets);
      if ('code' in open) return { type, error: `${open.code}/${open.subcode}` };
      return {
        type,
        as: open.myAutonomousSystem,
        'hold-time': open.holdTimeSeconds,
        identifier: formatIdentifier(open.bgpIdentifier),
        capabilities: open.capabilities.map(formatCapability),
      };
    }
    case MESSAGE_TYPE.notification: {
      const notification = decodeNotification(octets);
      const { code, subcode, data } = notification;
      return { type, code, subcode, data: formatHex(data), text: decodeShutdownText(notification) };
    }
    case MESSAGE_TYPE.routeRefresh:
      return { type, ...decodeRouteRefresh(octets) };
    case MESSAGE_TYPE.update: {
      const update = decodeUpdate(octets, CONTEXT);
      return {
        type,
        ...(update.kind === 'end-of-rib' ? { 'end-of-rib': formatFamily(update.family) } : update),
      };
    }
    default:
      return { type };
  }
}

/** The same message from our encoder; a peer may choose other forms of an OPEN, which then only have to mean the same. */
function encodeAgain(octets: Uint8Array): Uint8Array {
  switch (octets[18]) {
    case MESSAGE_TYPE.open:
      return encodeOpen(decodeOpen(octets) as Open);
    case MESSAGE_TYPE.notification:
      return encodeNotification(decodeNotification(octets), 4096);
    case MESSAGE_TYPE.routeRefresh: {
      const refresh = decodeRouteRefresh(octets);
      if ('code' in refresh) throw new Error(refresh.text);
      return encodeRouteRefresh(refresh);
    }
    case MESSAGE_TYPE.update: {
      const update = decodeUpdate(octets, CONTEXT);
      if (update.kind !== 'end-of-rib') throw new Error('we send no other UPDATE');
      return encodeEndOfRib(update.family);
    }
    default:
      return encodeKeepalive();
  }
}

/** What a receive buffer makes of the octets when they come in pieces of this size. */
function inPieces(octets: Uint8Array, size: number): string[] {
  const buffer = new ReceiveBuffer();
  const messages: string[] = [];
  for (let at = 0; at < octets.length; at += size) {
    buffer.append(octets.slice(at, at + size));
    for (let message = buffer.next(4096); message !== undefined; message = buffer.next(4096)) {
      messages.push('code' in message ? `${message.code}/${message.subcode}` : formatHex(viewOf(message)));
      if ('code' in message) return messages;
    }
  }
  return messages;
}

describe('messages of other speakers', () => {
  for (const { name, source, hex, value } of vectors) {
    it(`are read and written: ${name} (${source})`, () => {
      const octets = octetsOfHex(hex);
      expect(describeMessage(octets)).toEqual(value);
      const again = encodeAgain(octets);
      expect(describeMessage(again)).toEqual(value);
      if (value['type'] !== 'OPEN') expect(formatHex(again)).toBe(hex);
    });
  }

  it('are the same in whatever pieces they come', () => {
    const stream = octetsOfHex(vectors.map(({ hex }) => hex).join(''));
    for (const size of [1, 2, 3, 7, 18, 19, 20, 64, 100, stream.length]) {
      expect(inPieces(stream, size)).toEqual(vectors.map(({ hex }) => hex));
    }
  });

  it('raise no exception when they are cut anywhere', () => {
    for (const { hex } of vectors) {
      const octets = octetsOfHex(hex);
      for (let length = 19; length < octets.length; length += 1) describeMessage(octets.slice(0, length));
    }
  });
});

describe('a header (RFC 4271 §6.1)', () => {
  const header = (changes: Record<number, number>, length = 19, type = 4) => {
    const octets = encodeMessage(MESSAGE_TYPE.keepalive, new Uint8Array(0));
    octets[16] = length >> 8;
    octets[17] = length & 0xff;
    octets[18] = type;
    for (const [at, value] of Object.entries(changes)) octets[Number(at)] = value;
    return decodeHeader(octets, 0, 4096);
  };

  it('with a Marker that is not all ones is 1/1', () => {
    for (const at of [0, 7, 15]) expect(header({ [at]: 0xfe })).toMatchObject({ code: 1, subcode: 1 });
  });

  it('with a Length below 19, above 4096 or wrong for its type is 1/2 with the Length as data', () => {
    for (const [length, type] of [
      [18, 4],
      [0, 2],
      [4097, 2],
      [20, 4],
      [28, 1],
      [22, 2],
      [20, 3],
      [22, 5],
    ] as const) {
      const error = header({}, length, type);
      expect(error).toMatchObject({ code: 1, subcode: 2, data: Uint8Array.of(length >> 8, length & 0xff) });
    }
  });

  it('with a Type that is not known is 1/3 with the Type as data', () => {
    for (const type of [0, 6, 255]) {
      expect(header({}, 19, type)).toMatchObject({ code: 1, subcode: 3, data: Uint8Array.of(type) });
    }
  });

  it('may say up to 65535 where extended messages are agreed on, but not for OPEN and KEEPALIVE (RFC 8654 §4)', () => {
    const octets = encodeMessage(MESSAGE_TYPE.update, new Uint8Array(5000));
    expect(decodeHeader(octets, 0, 65_535)).toEqual({ type: 2, length: 5019 });
    expect(decodeHeader(encodeMessage(MESSAGE_TYPE.open, new Uint8Array(5000)), 0, 65_535)).toMatchObject({
      code: 1,
      subcode: 2,
    });
  });
});

describe('an OPEN (RFC 4271 §6.2)', () => {
  const settings = peerSettings();
  const announced = openFor(settings, 'full').capabilities;
  const validated = (changes: Partial<Open>) =>
    validateOpen(peerOpen(settings, changes), settings, announced);
  const raw = (body: number[]) => encodeMessage(MESSAGE_TYPE.open, Uint8Array.from(body));
  const fixed = [4, 0xfd, 0xe8, 0, 90, 10, 0, 0, 2];

  it('of another version is 2/1 with ours as data, whatever follows', () => {
    expect(decodeOpen(raw([3, 0, 0, 0, 0, 0, 0, 0, 0, 7]))).toMatchObject({
      code: 2,
      subcode: 1,
      data: Uint8Array.of(0, 4),
    });
  });

  it('with another AS, or AS 0, is 2/2', () => {
    expect(validated({ capabilities: [], myAutonomousSystem: 65_001 })).toMatchObject({
      code: 2,
      subcode: 2,
    });
    expect(validated({ capabilities: [], myAutonomousSystem: 0 })).toMatchObject({ code: 2, subcode: 2 });
  });

  it('with identifier 0, or with ours inside our AS, is 2/3, but with ours from another AS is fine (RFC 6286 §2.2)', () => {
    expect(validated({ bgpIdentifier: 0 })).toMatchObject({ code: 2, subcode: 3 });
    expect(validated({ bgpIdentifier: 0x0a00_0001 })).toMatchObject({ code: 2, subcode: 3 });
    const external = peerSettings({ peerAs: 65_001 });
    const open = { ...peerOpen(external), bgpIdentifier: 0x0a00_0001 };
    expect(validateOpen(open, external, announced)).toMatchObject({ internal: false });
  });

  it('with a hold time of 1 or 2 s is 2/6, and 0 is taken', () => {
    expect(validated({ holdTimeSeconds: 1 })).toMatchObject({ code: 2, subcode: 6 });
    expect(validated({ holdTimeSeconds: 2 })).toMatchObject({ code: 2, subcode: 6 });
    expect(validated({ holdTimeSeconds: 0 })).toMatchObject({ holdTimeSeconds: 0 });
    expect(validated({ holdTimeSeconds: 30 })).toMatchObject({ holdTimeSeconds: 30 });
    expect(validated({ holdTimeSeconds: 600 })).toMatchObject({ holdTimeSeconds: 90 });
  });

  it('with an optional parameter that is not known is 2/4, and 255 behind the first place is one (RFC 9072 §3)', () => {
    expect(decodeOpen(raw([...fixed, 2, 1, 0]))).toMatchObject({ code: 2, subcode: 4 });
    expect(decodeOpen(raw([...fixed, 4, 2, 0, 255, 0]))).toMatchObject({ code: 2, subcode: 4 });
  });

  it('whose lengths point outside is 2/0', () => {
    for (const parameters of [[1], [3, 2, 5, 1], [4, 2, 2, 1, 9], [2, 2], [9, 255, 0, 9, 2], [2, 255, 0]]) {
      expect(decodeOpen(raw([...fixed, ...parameters]))).toMatchObject({ code: 2, subcode: 0 });
    }
  });

  it('is written in the form of RFC 9072 when its parameters need it, and read back', () => {
    const capabilities = Array.from({ length: 100 }, (_, code) => ({
      code: 100 + code,
      value: new Uint8Array(4),
    }));
    const encoded = encodeOpen({ ...peerOpen(settings), capabilities });
    expect([encoded[28], encoded[29]]).toEqual([255, 255]);
    expect(decodeOpen(encoded)).toMatchObject({ capabilities });
  });

  it('takes the 4-octet AS for the AS, and says AS_TRANS in the field that is too small (RFC 6793)', () => {
    const large = peerSettings({ peerAs: 4_200_000_001 });
    expect(peerOpen(large).myAutonomousSystem).toBe(23_456);
    expect(validateOpen(peerOpen(large), large, announced)).toMatchObject({ peerAs: 4_200_000_001 });
  });

  it('agrees only on what both announce (RFC 5492 §3)', () => {
    const peer = { capabilities: peerOpen(settings).capabilities.slice(0, 3) };
    expect(validated(peer)).toMatchObject({
      fourOctetAs: true,
      routeRefresh: false,
      enhancedRouteRefresh: false,
      extendedMessage: false,
      gracefulRestart: undefined,
    });
  });
});

describe('a shutdown text (RFC 9003 §2)', () => {
  it('is cut to 255 octets at a character', () => {
    const encoded = encodeShutdownText('é'.repeat(200));
    expect(encoded[0]).toBe(254);
    expect(encoded.length).toBe(255);
    const notification = { code: 6, subcode: 2, data: encoded };
    expect(decodeShutdownText(notification)).toBe('é'.repeat(127));
  });

  it('that is not UTF-8, or longer than it says, is no text', () => {
    for (const data of [Uint8Array.of(2, 0xc3, 0x28), Uint8Array.of(9, 0x61), Uint8Array.of(0)]) {
      expect(decodeShutdownText({ code: 6, subcode: 2, data })).toBe('');
    }
  });
});
