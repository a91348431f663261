/** MUSTs that no other test is about, one by one; test/vectors/rfc-must.json has the whole list. */
import { describe, expect, it } from 'vitest';
import {
  announcedGracefulRestart,
  CAPABILITY,
  type Capability,
  encodeCapabilities,
  gracefulRestartWithoutFamilies,
} from '../../../protocols/bgp/capability.ts';
import { CEASE_SUBCODE } from '../../../protocols/bgp/error.ts';
import { AFI, SAFI } from '../../../protocols/bgp/family.ts';
import { encodeMessage, MESSAGE_TYPE } from '../../../protocols/bgp/header.ts';
import { encodeKeepalive } from '../../../protocols/bgp/keepalive.ts';
import { encodeNlri } from '../../../protocols/bgp/ls/nlri.ts';
import { LinkStateTable } from '../../../protocols/bgp/ls/table.ts';
import { encodeNotification } from '../../../protocols/bgp/notification.ts';
import { decodeOpen, encodeOpen, openFor, validateOpen } from '../../../protocols/bgp/open.ts';
import { encodeRouteRefresh } from '../../../protocols/bgp/route-refresh.ts';
import { type DecodedUpdate, decodeUpdate, encodeEndOfRib } from '../../../protocols/bgp/update.ts';
import { peerOpen, peerSettings } from '../../support/bgp-peer.ts';
import { Stage } from '../../support/session-stage.ts';

const FAMILY = { afi: AFI.linkState, safi: SAFI.linkState };
const NODE = encodeNlri({
  type: 'node',
  safi: 71,
  protocol: 'isis-level-2',
  identifier: 0n,
  localNode: { 'igp-router-id': '0000.0000.0001' },
});
const ORIGIN = [0x40, 1, 1, 0];
const AS_PATH = [0x40, 2, 0];
const MP_REACH = [0x80, 14, 9 + NODE.length, 0x40, 4, 71, 4, 10, 0, 0, 1, 0, ...NODE];
const MP_UNREACH = [0x80, 15, 3 + NODE.length, 0x40, 4, 71, ...NODE];

function updateMessage(...attributes: number[][]): Uint8Array {
  const flat = attributes.flat();
  return encodeMessage(
    MESSAGE_TYPE.update,
    Uint8Array.from([0, 0, flat.length >> 8, flat.length & 0xff, ...flat]),
  );
}

function decoded(...attributes: number[][]): DecodedUpdate {
  return decodeUpdate(updateMessage(...attributes), {
    families: [FAMILY],
    internal: true,
    fourOctetAs: true,
    localAs: 65_000,
    localIdentifier: 0x0a00_0001,
  });
}

/** What the routes of an UPDATE come to: told, withdrawn, or the NOTIFICATION that ends the session. */
function outcome(update: DecodedUpdate): string {
  if (update.kind !== 'routes') {
    return update.kind === 'error' ? `reset ${update.error.code}/${update.error.subcode}` : update.kind;
  }
  return update.updates.some(({ reach }) => reach !== undefined) ? 'told' : 'withdrawn';
}

/** A table after these UPDATEs, as the worker feeds it. */
function tableAfter(...updates: DecodedUpdate[]): LinkStateTable {
  const table = new LinkStateTable();
  for (const update of updates) {
    if (update.kind !== 'routes') continue;
    for (const each of update.updates) {
      table.applyUpdate(each as Parameters<LinkStateTable['applyUpdate']>[0], 1);
    }
  }
  return table;
}

describe('RFC 4271', () => {
  it('§4.1: what is sent has a Marker of ones and a Length that ends with the message', () => {
    const stage = new Stage();
    const connection = stage.establish();
    stage.receive(connection, encodeRouteRefresh({ ...FAMILY, subtype: 0 }));
    stage.session.refresh();
    stage.take(stage.session.stop({ subcode: CEASE_SUBCODE.administrativeShutdown }, stage.now()));
    const sent = stage.effects.flatMap((effect) => (effect.kind === 'send' ? [effect.octets] : []));
    expect(new Set(sent.map((octets) => octets[18]))).toEqual(new Set([1, 2, 3, 4, 5]));
    for (const octets of sent) {
      expect(octets.subarray(0, 16)).toEqual(new Uint8Array(16).fill(0xff));
      expect(((octets[16] as number) << 8) | (octets[17] as number)).toBe(octets.length);
    }
  });

  it('§4.3: the low four bits of an attribute’s flags are ignored', () => {
    expect(outcome(decoded(MP_REACH, [0x4f, 1, 1, 0], AS_PATH))).toBe('told');
  });

  it('§4.3: an object that one UPDATE withdraws and tells is told', () => {
    expect(tableAfter(decoded(MP_UNREACH, MP_REACH, ORIGIN, AS_PATH)).size).toBe(1);
    expect(tableAfter(decoded(MP_REACH, ORIGIN, AS_PATH, MP_UNREACH)).size).toBe(1);
  });

  it('§4.4: KEEPALIVEs are at least a second apart, whatever the jitter', () => {
    const stage = new Stage({ holdTimeSeconds: 3 }, 0);
    const connection = stage.establish();
    const before = stage.sentOn(connection).filter((type) => type === MESSAGE_TYPE.keepalive).length;
    for (let second = 0; second < 10; second += 1) {
      stage.receive(connection, encodeKeepalive());
      stage.advance(1);
    }
    const sent = stage.sentOn(connection).filter((type) => type === MESSAGE_TYPE.keepalive).length;
    expect(sent - before).toBe(10);
  });

  it('§6: an error without a subcode is sent with 0', () => {
    const stage = new Stage({ holdTimeSeconds: 9 });
    stage.establish();
    stage.advance(10);
    expect(stage.lastNotification()).toMatchObject({ code: 4, subcode: 0 });
  });

  it('§6.2: the hold time that was agreed on is the one that runs', () => {
    const stage = new Stage({ holdTimeSeconds: 90 });
    stage.establish({ holdTimeSeconds: 30 });
    stage.advance(29);
    expect(stage.session.state).toBe('Established');
    stage.advance(2);
    expect(stage.session.state).not.toBe('Established');
  });

  it('§6.3: an optional attribute that is not known changes nothing, transitive or not', () => {
    for (const flags of [0x80, 0xc0, 0xe0]) {
      expect(outcome(decoded(MP_REACH, ORIGIN, AS_PATH, [flags, 99, 2, 1, 2]))).toBe('told');
    }
  });

  it('§6.7: a Cease is not sent for a fatal error', () => {
    for (const octets of [
      new Uint8Array(19),
      updateMessage([0x40, 99, 0]),
      encodeOpen(peerOpen(peerSettings())),
    ]) {
      const stage = new Stage();
      stage.receive(stage.establish(), octets);
      expect(stage.lastNotification()?.code).toBeOneOf([1, 3, 5]);
    }
  });

  it('§8.2.1: each connection has a machine of its own', () => {
    const stage = new Stage();
    stage.open();
    const incoming = stage.session.nextConnection();
    const endpoints = { localAddress: '127.0.0.1', localPort: 179, peerAddress: '127.0.0.2', peerPort: 4000 };
    stage.take(stage.session.accept(incoming, endpoints, stage.now()));
    expect(stage.session.machines.map(({ state, connection }) => [state, connection])).toEqual([
      ['OpenSent', stage.lastConnection()],
      ['OpenSent', incoming],
    ]);
  });
});

describe('RFC 4724', () => {
  it('§3: reserved bits are sent as zero and ignored when received', () => {
    expect(gracefulRestartWithoutFamilies({ notification: true }).value).toEqual(Uint8Array.of(0x40, 0));
    const value = Uint8Array.of(0x30, 120, 0x40, 4, 71, 0x7f);
    expect(announcedGracefulRestart([{ code: CAPABILITY.gracefulRestart, value }])).toEqual({
      restarted: false,
      notification: false,
      restartTimeSeconds: 120,
      families: [{ afi: 16_388, safi: 71, forwardingPreserved: false }],
    });
  });

  it('§3: of several graceful restart capabilities the last counts', () => {
    const capability = (seconds: number): Capability => ({
      code: CAPABILITY.gracefulRestart,
      value: Uint8Array.of(0, seconds),
    });
    expect(announcedGracefulRestart([capability(9), capability(7)])).toMatchObject({ restartTimeSeconds: 7 });
  });

  it('§4.2: the Restart State bit is not set, at a reconnection neither', () => {
    const stage = new Stage();
    const connection = stage.establish();
    stage.take(stage.session.disconnected(connection, { errno: 'ECONNRESET' }, stage.now()));
    stage.advance(3);
    stage.answer();
    const opens = stage.effects.flatMap((effect) =>
      effect.kind === 'send' && effect.octets[18] === MESSAGE_TYPE.open ? [decodeOpen(effect.octets)] : [],
    );
    expect(opens).toHaveLength(2);
    for (const open of opens) {
      if ('code' in open) throw new Error(open.text);
      expect(announcedGracefulRestart(open.capabilities)?.restarted).toBe(false);
    }
  });
});

describe('RFC 4760', () => {
  it('§3: the reserved octets of MP_REACH_NLRI and of the capability are ignored', () => {
    const reserved = [...MP_REACH];
    reserved[11] = 0xff;
    expect(tableAfter(decoded(reserved, ORIGIN, AS_PATH)).size).toBe(1);
    const settings = peerSettings();
    const open = peerOpen(settings);
    const capabilities = open.capabilities.map((capability) =>
      capability.code === CAPABILITY.multiprotocol
        ? { ...capability, value: capability.value.with(2, 0xff) }
        : capability,
    );
    const announced = openFor(settings, 'full').capabilities;
    expect(validateOpen({ ...open, capabilities }, settings, announced)).toMatchObject({
      families: [{ afi: 16_388, safi: 71 }, { safi: 72 }],
    });
  });

  it('§8: each family that is used was announced by both sides', () => {
    const stage = new Stage();
    stage.establish();
    const sent = stage.session.status().capabilitiesSent;
    expect(sent).toContain('multiprotocol:16388/71');
    expect(sent).toContain('multiprotocol:16388/72');
  });
});

describe('RFC 5492', () => {
  const settings = peerSettings();
  const announced = openFor(settings, 'full').capabilities;
  const { capabilities } = peerOpen(settings);

  it('§3, §5: a capability that is not known is ignored, and no reason to end the session', () => {
    const stage = new Stage();
    stage.establish({
      capabilities: [
        { code: 200, value: Uint8Array.of(1, 2, 3) },
        ...capabilities,
        { code: 0, value: new Uint8Array(0) },
      ],
    });
    expect(stage.session.state).toBe('Established');
  });

  it('§4: the same capability may come twice', () => {
    const twice = { ...peerOpen(settings), capabilities: [...capabilities, ...capabilities] };
    expect(validateOpen(twice, settings, announced)).toMatchObject({ fourOctetAs: true });
  });

  it('§4: capabilities may come in several optional parameters', () => {
    const parameters = capabilities.map((capability) => {
      const encoded = encodeCapabilities([capability]);
      return [2, encoded.length, ...encoded];
    });
    const flat = parameters.flat();
    const body = [4, 0xfd, 0xe8, 0, 90, 10, 0, 0, 2, flat.length, ...flat];
    expect(decodeOpen(encodeMessage(MESSAGE_TYPE.open, Uint8Array.from(body)))).toMatchObject({
      capabilities,
    });
  });
});

describe('RFC 6793', () => {
  it('§4.1: AS4_PATH and AS4_AGGREGATOR change nothing between speakers of four octets', () => {
    const as4Path = [0xc0, 17, 6, 2, 1, 0, 0, 0xfd, 0xe8];
    const as4Aggregator = [0xc0, 18, 8, 0, 0, 0, 1, 10, 0, 0, 9];
    expect(outcome(decoded(MP_REACH, ORIGIN, AS_PATH, as4Path, as4Aggregator))).toBe('told');
  });

  it('§4.1: our AS number stands in the capability', () => {
    const open = openFor(peerSettings({ localAs: 4_200_000_001 }), 'full');
    expect(open.myAutonomousSystem).toBe(23_456);
    expect(open.capabilities.find(({ code }) => code === CAPABILITY.fourOctetAs)?.value).toEqual(
      Uint8Array.of(0xfa, 0x56, 0xea, 0x01),
    );
  });
});

describe('RFC 7313', () => {
  const mark = (subtype: number) => encodeRouteRefresh({ ...FAMILY, subtype });
  const marks = (stage: Stage) => stage.kinds().filter((kind) => kind.startsWith('route-refresh'));

  it('§4: a beginning is heeded once the family’s End-of-RIB has come, and its end then sweeps', () => {
    const stage = new Stage();
    const connection = stage.establish();
    stage.receive(connection, encodeEndOfRib(FAMILY), mark(1), mark(2));
    expect(marks(stage)).toEqual(['route-refresh-begin', 'route-refresh-end']);
  });

  it('§4: a beginning before the End-of-RIB of a peer with graceful restart is ignored, with its end', () => {
    const stage = new Stage();
    const connection = stage.establish();
    stage.receive(connection, mark(1), mark(2), encodeEndOfRib(FAMILY), mark(2));
    expect(marks(stage)).toEqual([]);
  });

  it('§4: a peer without graceful restart sends no End-of-RIB, so its beginnings count at once', () => {
    const stage = new Stage();
    const capabilities = peerOpen(stage.settings).capabilities.filter(
      ({ code }) => code !== CAPABILITY.gracefulRestart,
    );
    const connection = stage.establish({ capabilities });
    stage.receive(connection, mark(1), mark(2));
    expect(marks(stage)).toEqual(['route-refresh-begin', 'route-refresh-end']);
  });
});

describe('RFC 7606', () => {
  it('§2: treat-as-withdraw takes what was told before out of the table', () => {
    const told = decoded(MP_REACH, ORIGIN, AS_PATH);
    expect(tableAfter(told).size).toBe(1);
    expect(tableAfter(told, decoded(MP_REACH, [0x40, 1, 1, 9], AS_PATH)).size).toBe(0);
  });

  it('§2: attribute discard leaves the rest of the UPDATE standing', () => {
    expect(tableAfter(decoded(MP_REACH, ORIGIN, AS_PATH, [0x40, 6, 1, 0])).size).toBe(1);
  });

  it('§4: an attribute of no octets is an error, but for AS_PATH and ATOMIC_AGGREGATE', () => {
    for (const [flags, code] of [
      [0x40, 1],
      [0x40, 3],
      [0x80, 4],
      [0x40, 5],
      [0xc0, 8],
      [0x80, 9],
      [0x80, 10],
      [0xc0, 16],
      [0x80, 24],
      [0xc0, 25],
      [0xc0, 32],
      [0xc0, 128],
    ] as const) {
      const others = code === 1 ? [AS_PATH] : [ORIGIN, AS_PATH];
      expect(outcome(decoded(MP_REACH, ...others, [flags, code, 0])), `attribute ${code}`).toBe('withdrawn');
    }
    expect(outcome(decoded(MP_REACH, ORIGIN, AS_PATH, [0x40, 6, 0]))).toBe('told');
  });

  it('§4: after an attribute that is cut, the Total Attribute Length says where the NLRI begin', () => {
    const attributes = [...MP_REACH, ...ORIGIN, ...AS_PATH, 0x80, 4, 9, 0];
    const wrongPrefix = [33, 1, 2, 3, 4, 5];
    const message = (nlri: number[]) =>
      encodeMessage(
        MESSAGE_TYPE.update,
        Uint8Array.from([0, 0, attributes.length >> 8, attributes.length & 0xff, ...attributes, ...nlri]),
      );
    const stage = (octets: Uint8Array) => {
      const one = new Stage();
      one.receive(one.establish(), octets);
      return one;
    };
    expect(stage(message([24, 10, 0, 0])).session.state).toBe('Established');
    expect(stage(message(wrongPrefix)).lastNotification()).toMatchObject({ code: 3, subcode: 10 });
  });

  it('§5.1: what we send as UPDATE has one field of routes, and nothing before it', () => {
    const endOfRib = encodeEndOfRib(FAMILY);
    expect([...endOfRib.subarray(19)]).toEqual([0, 0, 0, 6, 0x80, 15, 3, 0x40, 4, 71]);
  });

  it('§5.4: an NLRI type that is not known is kept, as RFC 9552 §5.2 has it', () => {
    const unknown = [0x0f, 0xff, 0, 4, 1, 2, 3, 4];
    const reach = [0x80, 14, 9 + unknown.length, 0x40, 4, 71, 4, 10, 0, 0, 1, 0, ...unknown];
    expect(tableAfter(decoded(reach, ORIGIN, AS_PATH)).nlris.unknown).toBe(1);
  });

  it('§6: a malformed UPDATE is handed on whole, with what is wrong in it, before what follows from it', () => {
    const octets = updateMessage(MP_REACH, [0x40, 1, 1, 9], AS_PATH);
    const stage = new Stage();
    stage.receive(stage.establish(), octets);
    const [malformed, update] = stage.effects.filter(({ kind }) => /update$/.test(kind));
    expect(malformed).toMatchObject({
      kind: 'malformed-update',
      octets,
      problems: [{ text: expect.stringContaining('ORIGIN') }],
    });
    expect(update?.kind).toBe('update');
    const fatal = new Stage();
    fatal.receive(fatal.establish(), updateMessage(MP_REACH, MP_REACH));
    expect(fatal.kinds().slice(-4)).toContain('malformed-update');
  });

  it('§7.13, §7.15, §7.16: Traffic Engineering, IPv6 communities and ATTR_SET cost their routes when malformed', () => {
    for (const attribute of [
      [0x80, 24, 0],
      [0xc0, 25, 19, ...new Array<number>(19).fill(1)],
      [0xc0, 128, 3, 1, 2, 3],
    ]) {
      expect(outcome(decoded(MP_REACH, ORIGIN, AS_PATH, attribute))).toBe('withdrawn');
    }
  });

  it('§7.14, §7.15: extended communities of a type that is not known are no error', () => {
    const extended = [0xc0, 16, 8, 0x7f, 0x7f, 1, 2, 3, 4, 5, 6];
    const ipv6 = [0xc0, 25, 20, 0x7f, 0x7f, ...new Array<number>(18).fill(1)];
    expect(outcome(decoded(MP_REACH, ORIGIN, AS_PATH, extended, ipv6))).toBe('told');
  });
});

describe('RFC 8654', () => {
  it('§3: the capability is number 6, without a value', () => {
    const { capabilities } = openFor(peerSettings(), 'full');
    expect(capabilities).toContainEqual({ code: 6, value: new Uint8Array(0) });
  });

  it('§4: a message of 65,535 octets is received', () => {
    const length = 65_535 - 23 - 4;
    const large = updateMessage([0x90, 99, length >> 8, length & 0xff, ...new Array<number>(length).fill(0)]);
    expect(large.length).toBe(65_535);
    const stage = new Stage();
    stage.receive(stage.establish(), large);
    expect(stage.session.state).toBe('Established');
  });

  it('§5: a NOTIFICATION to a peer that did not announce it stays within 4,096 octets', () => {
    const data = new Uint8Array(5000);
    expect(encodeNotification({ code: 3, subcode: 2, data }, 4096).length).toBeLessThanOrEqual(4096);
  });
});

describe('RFC 9072', () => {
  const settings = peerSettings();

  it('§2: the extended form is read whatever stands in the one-octet length, and when it was not needed', () => {
    const encoded = encodeCapabilities(peerOpen(settings).capabilities);
    const parameter = [2, encoded.length >> 8, encoded.length & 0xff, ...encoded];
    for (const oneOctetLength of [1, 40, 254, 255]) {
      const body = [
        4,
        0xfd,
        0xe8,
        0,
        90,
        10,
        0,
        0,
        2,
        oneOctetLength,
        255,
        0,
        parameter.length,
        ...parameter,
      ];
      expect(decodeOpen(encodeMessage(MESSAGE_TYPE.open, Uint8Array.from(body)))).toMatchObject({
        capabilities: peerOpen(settings).capabilities,
      });
    }
  });

  it('§2: parameters of no more than 255 octets are sent in the form of RFC 4271', () => {
    const encoded = encodeOpen(openFor(settings, 'full'));
    expect(encoded[28]).toBe(encoded.length - 29);
    expect(encoded[29]).toBe(2);
  });
});
