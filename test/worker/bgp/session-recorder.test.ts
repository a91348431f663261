import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { CEASE_SUBCODE } from '../../../protocols/bgp/error.ts';
import { AFI, SAFI } from '../../../protocols/bgp/family.ts';
import { MESSAGE_TYPE } from '../../../protocols/bgp/header.ts';
import { encodePcap } from '../../../protocols/bgp/pcap.ts';
import { parseRecording, replay } from '../../../protocols/bgp/recording.ts';
import { encodeEndOfRib } from '../../../protocols/bgp/update.ts';
import { PeerDriver } from '../../../worker/bgp/peer-driver.ts';
import { SessionRecorder } from '../../../worker/bgp/session-recorder.ts';
import {
  collectingPorts,
  type FarEnd,
  farEndServer,
  peerOpen,
  peerSettings,
} from '../../support/bgp-peer.ts';

const folder = mkdtempSync(join(tmpdir(), 'graticule-recording-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The TCP payloads of a pcap file of IPv4 packets, with the port that each came from. */
function payloads(pcap: Uint8Array): Array<{ from: number; octets: Uint8Array }> {
  const view = new DataView(pcap.buffer, pcap.byteOffset, pcap.byteLength);
  const found: Array<{ from: number; octets: Uint8Array }> = [];
  for (let at = 24; at < pcap.length; ) {
    const length = view.getUint32(at + 8);
    const packet = at + 16;
    expect(view.getUint8(packet) >> 4).toBe(4);
    expect(view.getUint16(packet + 2)).toBe(length);
    found.push({ from: view.getUint16(packet + 20), octets: pcap.subarray(packet + 40, packet + length) });
    at = packet + length;
  }
  return found.filter(({ octets }) => octets.length > 0);
}

describe('a recorded session', () => {
  it('does the same again when it is replayed, keeps no password, and becomes a pcap file', async () => {
    let farEnd: FarEnd | undefined;
    const { server, port } = await farEndServer((each) => {
      farEnd = each;
    });
    const settings = peerSettings({ peerPort: port });
    const { ports, told, until } = collectingPorts();
    const path = join(folder, 'peer-1.jsonl');
    const recorder = new SessionRecorder(path, settings);
    const driver = new PeerDriver(settings, { ...ports, random: Math.random, recorder });
    driver.start();
    await until(() => driver.status().state === 'opensent');
    await farEnd?.establish(peerOpen(settings));
    await until(() => told.includes('established'));
    farEnd?.send(encodeEndOfRib({ afi: AFI.linkState, safi: SAFI.linkState }));
    await until(() => told.includes('end-of-rib 16388/71'));
    driver.refresh();
    driver.update({ ...settings, password: 'not in the file' });
    await driver.stop({ subcode: CEASE_SUBCODE.administrativeShutdown, text: 'done' });
    await recorder.close();
    farEnd?.socket.destroy();
    await new Promise((resolve) => server.close(resolve));

    const text = readFileSync(path, 'utf8');
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(text).not.toContain('not in the file');
    expect(text).toContain('password-1');

    const recording = parseRecording(text);
    const sent: Uint8Array[] = [];
    const replayed = replay(recording, (_, effects) => {
      for (const effect of effects) if (effect.kind === 'send') sent.push(effect.octets);
    });
    expect(replayed.status()).toEqual(driver.status());

    const segments = payloads(encodePcap(recording));
    const ours = Buffer.concat(segments.filter(({ from }) => from !== port).map(({ octets }) => octets));
    const theirs = Buffer.concat(segments.filter(({ from }) => from === port).map(({ octets }) => octets));
    expect(ours.equals(Buffer.concat(sent))).toBe(true);
    expect(ours.equals(Buffer.concat((farEnd?.received ?? []).map(({ octets }) => octets)))).toBe(true);
    expect(theirs[18]).toBe(MESSAGE_TYPE.open);
  });

  it('is read up to where a crash cut its last line', () => {
    const header = '{"v":1,"settings":{}}\n';
    const line = '{"at":1,"clock":1,"random":[],"input":{"kind":"reset"}}\n';
    expect(parseRecording(header + line + line.slice(0, 20)).inputs.length).toBe(1);
    expect(() => parseRecording('{"v":2}\n')).toThrow('version 2');
  });
});
