import { hash } from 'node:crypto';
import { encodeAttribute } from '../../../protocols/bgp/ls/attribute.ts';
import { NlriType } from '../../../protocols/bgp/ls/code-point.ts';
import { encodeNlri } from '../../../protocols/bgp/ls/nlri.ts';
import { idOf } from '../network/expected-topology.ts';
import { linkStateObjects, routerDescriptor } from '../network/link-state-objects.ts';
import { type Announcement, Reflector } from '../network/reflector.ts';
import { type Domain, type Router, SimulatedNetwork } from '../network/simulated-network.ts';
import { Random } from '../random.ts';
import { type Receiver, startReceiver } from '../receiver/receiver.ts';
import { ObjectStore } from '../snmp-agent/object-store.ts';
import { UdpAgent } from '../snmp-agent/udp-agent.ts';

/** Addresses of the story (RFC 5737) are on loopback while it is played: others for each process, as runs may overlap. */
export const STORY_PREFIX = '192.0.2.';
export const PLAYED_PREFIX = `127.${64 + ((process.pid >> 8) & 127)}.${process.pid & 255}.`;

/** What the story's peers, devices and receivers are: a ring of three routers, a switch, an HTTP server. */
export interface ExampleNetwork {
  /** Topology ids by the names that the story has for them. */
  readonly ids: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export async function startExampleNetwork(): Promise<ExampleNetwork> {
  const { objects, ids } = exampleTopology();
  const stops: Array<() => unknown> = [];
  try {
    const reflector = await Reflector.listen(`${PLAYED_PREFIX}1`, 1790);
    stops.push(() => reflector.stop());
    await reflector.tell(objects);
    const agent = await startSwitch();
    stops.push(() => agent.stop());
    const receiver: Receiver = await startReceiver({ host: `${PLAYED_PREFIX}20`, port: 18_080 });
    stops.push(() => receiver.stop());
  } catch (error) {
    for (const stop of stops) await stop();
    throw error;
  }
  return {
    ids,
    async stop() {
      for (const stop of stops) await stop();
    },
  };
}

/** Known without a network: ids are hashes of what the routers are. */
export function exampleTopology(): { objects: Map<string, Announcement>; ids: Record<string, string> } {
  const options = { routers: 3, igp: 'isis', identifier: 1n, number: 1, chords: 0 } as const;
  const network = new SimulatedNetwork(
    { ...options, parallel: 0, unnumbered: 0, lansPerHundred: 0 },
    new Random(1),
  );
  const simulated = [...linkStateObjects(network).values()];
  const first = (type: string) => simulated.find((object) => object.type === type) as Announcement;
  const nodes = simulated.filter(({ type }) => type === 'node');
  const policy = srPolicy(network.routers[0] as Router, network.routers[1] as Router);
  const unknown = { nlri: Uint8Array.of(0xfd, 0xe8, 0, 4, 1, 2, 3, 4), attribute: new Uint8Array() };
  const ids = {
    '$node-1': idOf('n', (nodes[0] as Announcement).nlri),
    '$node-2': idOf('n', (nodes[1] as Announcement).nlri),
    '$node-3': idOf('n', (nodes[2] as Announcement).nlri),
    '$router-1': routerId('71  65000 1 0000.0000.0001'),
    '$link-1': idOf('l', first('link').nlri),
    '$prefix-1': idOf('p', first('ipv4-prefix').nlri),
    '$srv6-sid-1': idOf('s', first('srv6-sid').nlri),
    '$sr-policy-1': idOf('c', policy.nlri),
    '$unknown-1': idOf('u', unknown.nlri),
  };
  const all: Announcement[] = [...simulated, policy, unknown];
  return { objects: new Map(all.map((object) => [Buffer.from(object.nlri).toString('hex'), object])), ids };
}

/** A router's id is made from what its nodes have in common: SAFI, route distinguisher, AS, instance and system id. */
function routerId(mark: string): string {
  return `r.${hash('sha256', mark, 'buffer').toString('base64url', 0, 16)}`;
}

/** From the first router to the second by way of the third's label. */
function srPolicy(from: Router, to: Router): Announcement {
  const nlri = encodeNlri({
    type: 'sr-policy',
    safi: 71,
    protocol: 'segment-routing',
    identifier: 0n,
    localNode: routerDescriptor(from, from.domains[0] as Domain),
    remoteNode: null,
    descriptor: {
      'protocol-origin': 3,
      endpoint: to.loopback,
      color: 100,
      'originator-as': 65_000,
      originator: from.loopback,
      discriminator: 1,
    },
  });
  const context = { protocolId: 9, nlriType: NlriType.srPolicy };
  return { nlri, attribute: encodeAttribute({ 'policy-name': 'low delay' }, context) };
}

/** One interface, whose counters stand still. */
function startSwitch(): Promise<UdpAgent> {
  const entry = [1, 3, 6, 1, 2, 1, 31, 1, 1, 1];
  const objects = new ObjectStore();
  const name = new TextEncoder().encode('Gi0/1');
  objects.set([...entry, 1, 1], { kind: 'octet-string', value: name });
  objects.set([...entry, 6, 1], { kind: 'counter64', value: 4_294_967_296n });
  objects.set([...entry, 10, 1], { kind: 'counter64', value: 8_589_934_592n });
  return new UdpAgent({
    address: `${PLAYED_PREFIX}17`,
    port: 16_100,
    communities: ['public'],
    objects,
  }).start();
}
