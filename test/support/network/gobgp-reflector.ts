/** gobgpd between a simulated network and the product: a route reflector that is not ours. */
import { freePort } from '../../../local/dynamodb-emulator.ts';
import type { LinkStateAttributes } from '../../../protocols/bgp/ls/attributes.ts';
import { type Gobgpd, startGobgpd } from '../gobgp.ts';
import { until } from '../until.ts';
import type { LinkStateObject } from './link-state-objects.ts';
import { Reflector } from './reflector.ts';
import type { TruthSource } from './truth-run.ts';

/** Members whose TLVs GoBGP v4.8.0 does not know, and drops when it passes an attribute on. */
export const LEFT_OUT: readonly (keyof LinkStateAttributes)[] = [
  'prefix-metric',
  'prefix-attribute-flags',
  'lan-adjacency-sids',
  'isis-srv6-lan-end-x-sids',
];

/** What is not told through it, in words. */
export const NOT_TOLD =
  'of a router in two areas its second node and prefix, of one in two levels its second SID';

export interface GobgpReflectorOptions {
  readonly directory: string;
  /** Where the simulated network's own reflector tells it everything. */
  readonly feed: string;
  /** Where the product connects to. */
  readonly address: string;
  readonly routerId: string;
}

const PRODUCT = '127.0.0.1';

export class GobgpReflector implements TruthSource {
  readonly address: string;
  readonly port: number;
  readonly #gobgpd: Gobgpd;
  readonly #feed: Reflector;

  private constructor(address: string, port: number, gobgpd: Gobgpd, feed: Reflector) {
    this.address = address;
    this.port = port;
    this.#gobgpd = gobgpd;
    this.#feed = feed;
  }

  static async start({ directory, feed, address, routerId }: GobgpReflectorOptions): Promise<GobgpReflector> {
    const reflector = await Reflector.listen(feed, 0);
    const port = await freePort();
    const gobgpd = await startGobgpd({
      directory,
      address,
      port,
      apiPort: await freePort(),
      as: 65_000,
      routerId,
      neighborAddress: PRODUCT,
      neighborAs: 65_000,
      reflected: { address: feed, port: reflector.port },
    });
    return new GobgpReflector(address, port, gobgpd, reflector);
  }

  async tell(objects: ReadonlyMap<string, LinkStateObject>, overMilliseconds = 0): Promise<void> {
    await this.#feed.tell(withoutTwins(objects), overMilliseconds);
    // Before the first session gobgpd has nothing to pass on.
    if (this.#feed.sessions > 0) return;
    await until(
      'gobgpd takes the feed',
      () => this.#feed.sessions,
      (count) => count > 0,
    );
  }

  drop(): void {
    this.#gobgpd.gobgp('neighbor', PRODUCT, 'disable');
  }

  reconnect(): void {
    this.#gobgpd.gobgp('neighbor', PRODUCT, 'enable');
  }

  async stop(): Promise<void> {
    await this.#gobgpd.stop();
    await this.#feed.stop();
  }

  passedOn(objects: ReadonlyMap<string, LinkStateObject>): ReadonlyMap<string, LinkStateObject> {
    return new Map(
      [...withoutTwins(objects)].map(([key, object]) => [
        key,
        { ...object, attributes: known(object.attributes) },
      ]),
    );
  }
}

function known(attributes: LinkStateAttributes): LinkStateAttributes {
  return Object.fromEntries(
    Object.entries(attributes).filter(([name]) => !(LEFT_OUT as readonly string[]).includes(name)),
  );
}

/** Of objects that GoBGP v4.8.0 takes for one, the first: nodes and prefixes in two areas, SIDs in two levels. */
function withoutTwins(objects: ReadonlyMap<string, LinkStateObject>): ReadonlyMap<string, LinkStateObject> {
  const seen = new Set<string>();
  return new Map(
    [...objects].filter(([, { type, domain, localNode, descriptor }]) => {
      if (type === 'link') return true;
      const protocol = type === 'srv6-sid' ? '' : domain.protocol;
      const name = JSON.stringify([type, protocol, localNode['igp-router-id'], descriptor]);
      if (seen.has(name)) return false;
      seen.add(name);
      return true;
    }),
  );
}
