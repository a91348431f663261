/**
 * A network that knows the truth about itself: IS-IS with two levels and OSPF with areas, parallel, unnumbered and LAN
 * links, segment routing with MPLS and SRv6. Links, routers and metrics change when they are told to.
 */
import type { Random } from '../random.ts';

/** One flooding domain: an IS-IS level or an OSPF area of one instance. */
export interface Domain {
  readonly protocol: 'isis-level-1' | 'isis-level-2' | 'ospfv2';
  readonly identifier: bigint;
  /** OSPF only. */
  readonly area?: string;
}

export interface Router {
  readonly number: number;
  name: string;
  readonly loopback: string;
  readonly loopback6: string;
  /** First label of its SR global block. */
  readonly blockStart: number;
  readonly domains: Domain[];
  overload: boolean;
  up: boolean;
}

/** One direction of a link. */
export interface End {
  readonly router: Router;
  metric: number;
  readonly address: string;
  readonly address6: string;
  /** Link identifier; 0 on links that have none. */
  readonly identifier: number;
  readonly adjacencyLabel: number;
  readonly endXSid: string;
  delay: number;
  bandwidth: number;
  groups: number;
  teMetric: number;
}

export interface PointToPointLink {
  readonly domain: Domain;
  readonly ends: readonly [End, End];
  /** By addresses of both families, by link identifiers, or by one family and nothing else. */
  readonly kind: 'addressed' | 'unnumbered' | 'ipv4-only';
  up: boolean;
}

export interface Lan {
  readonly domain: Domain;
  readonly number: number;
  /** The first is the designated router. */
  readonly members: readonly LanMember[];
  up: boolean;
}

export interface LanMember extends End {
  /** A label and a SID for each other member, by its router's number. */
  readonly neighborLabels: ReadonlyMap<number, number>;
  readonly neighborSids: ReadonlyMap<number, string>;
}

export interface NetworkOptions {
  readonly routers: number;
  readonly igp: 'isis' | 'ospf';
  readonly identifier: bigint;
  /** Distinguishes the addresses and names of networks that are shown together. */
  readonly number: number;
  /** Links per router beyond the ring. */
  readonly chords: number;
  /** Share of the chords that repeat a link, that have no addresses, and LANs per hundred routers. */
  readonly parallel: number;
  readonly unnumbered: number;
  readonly lansPerHundred: number;
}

/** The size of a router's SR global block, and how many routers a network can have. */
export const BLOCK_SIZE = 20_000;
const FIRST_LOCAL_LABEL = 400_000;

export class SimulatedNetwork {
  readonly routers: Router[] = [];
  readonly links: PointToPointLink[] = [];
  readonly lans: Lan[] = [];
  readonly options: NetworkOptions;
  readonly #random: Random;
  #nextLabel = FIRST_LOCAL_LABEL;
  #nextIdentifier = 1;

  constructor(options: NetworkOptions, random: Random) {
    this.options = options;
    this.#random = random;
    const { routers, igp, identifier } = options;
    const backbone: Domain =
      igp === 'isis'
        ? { protocol: 'isis-level-2', identifier }
        : { protocol: 'ospfv2', identifier, area: '0.0.0.0' };
    const outer: Domain =
      igp === 'isis'
        ? { protocol: 'isis-level-1', identifier }
        : { protocol: 'ospfv2', identifier, area: '0.0.0.1' };
    for (let number = 1; number <= routers; number += 1) this.routers.push(this.#router(number));
    // Four fifths are the backbone, one fifth (with two border routers) another level or area.
    const border = Math.max(3, Math.floor(routers * 0.8));
    this.#ring(backbone, this.routers.slice(0, border), options);
    if (routers - border >= 3) {
      this.#ring(outer, [...this.routers.slice(0, 2), ...this.routers.slice(border)], options);
    }
    const lans = Math.floor((routers * options.lansPerHundred) / 100);
    for (let lan = 1; lan <= lans; lan += 1) this.#lan(backbone, lan, this.routers.slice(0, border));
  }

  /** One random change of what is there; says in words what it did. */
  change(): string {
    const random = this.#random;
    const kind = random.below(10);
    const link = random.pick(this.links);
    const [near] = random.chance(0.5) ? link.ends : [link.ends[1]];
    if (kind < 3) {
      near.metric = 1 + random.below(100);
      return `metric of r${near.router.number} is ${near.metric}`;
    }
    if (kind < 5) {
      link.up = !link.up;
      return `link r${link.ends[0].router.number} r${link.ends[1].router.number} ${link.up ? 'up' : 'down'}`;
    }
    if (kind === 5 && this.lans.length > 0) {
      const lan = random.pick(this.lans);
      lan.up = !lan.up;
      return `LAN ${lan.number} ${lan.up ? 'up' : 'down'}`;
    }
    const router = random.pick(this.routers);
    if (kind === 6) {
      // At most a few are down at once, or nothing is left to look at.
      const down = this.routers.filter(({ up }) => !up).length;
      router.up = !router.up || down >= 3;
      return `router r${router.number} ${router.up ? 'up' : 'down'}`;
    }
    if (kind === 7) {
      router.overload = !router.overload;
      return `router r${router.number} overload ${router.overload}`;
    }
    if (kind === 8) {
      router.name = `r${router.number}-${random.below(1000)}`;
      return `router r${router.number} is called ${router.name}`;
    }
    near.delay = 10 + random.below(10_000);
    near.groups = random.below(256);
    near.bandwidth = 1_250_000 * (1 + random.below(1000));
    near.teMetric = 1 + random.below(200);
    return `attributes of a link of r${near.router.number}`;
  }

  #router(number: number): Router {
    const net = this.options.number;
    return {
      number,
      name: `net${net}-r${number}`,
      loopback: `10.${100 + net}.${number >> 8}.${number & 255}`,
      loopback6: `fd00:${net}::${number.toString(16)}`,
      blockStart: 16_000 + (number % 3) * BLOCK_SIZE,
      domains: [],
      overload: false,
      up: true,
    };
  }

  #ring(domain: Domain, routers: readonly Router[], options: NetworkOptions): void {
    const random = this.#random;
    for (const router of routers) router.domains.push(domain);
    routers.forEach((router, index) => {
      this.#connect(domain, router, routers[(index + 1) % routers.length] as Router, 'addressed');
    });
    const chords = Math.floor((routers.length * options.chords) / 2);
    for (let chord = 0; chord < chords; chord += 1) {
      const kind = random.chance(options.unnumbered)
        ? 'unnumbered'
        : random.chance(0.2)
          ? 'ipv4-only'
          : 'addressed';
      if (random.chance(options.parallel)) {
        const other = random.pick(this.links.filter((link) => link.domain === domain));
        this.#connect(domain, other.ends[0].router, other.ends[1].router, kind);
        continue;
      }
      const one = random.pick(routers);
      const two = random.pick(routers);
      if (one !== two) this.#connect(domain, one, two, kind);
    }
  }

  #connect(domain: Domain, one: Router, two: Router, kind: PointToPointLink['kind']): void {
    const ends: [End, End] = [this.#end(one, kind !== 'addressed'), this.#end(two, kind !== 'addressed')];
    this.links.push({ domain, ends, kind, up: true });
  }

  #end(router: Router, identified: boolean): End {
    const random = this.#random;
    const number = this.#nextIdentifier++;
    return {
      router,
      metric: 10 + random.below(20),
      address: `172.${16 + ((number >> 16) & 15)}.${(number >> 8) & 255}.${number & 255}`,
      address6: `fd01:${this.options.number}::${number.toString(16)}`,
      identifier: identified ? number : 0,
      adjacencyLabel: this.#nextLabel++,
      endXSid: `fd02:${this.options.number}:${router.number.toString(16)}::${number.toString(16)}`,
      delay: 100 + random.below(5000),
      bandwidth: 1_250_000_000,
      groups: random.below(16),
      teMetric: 10 + random.below(50),
    };
  }

  #lan(domain: Domain, number: number, routers: readonly Router[]): void {
    const members = new Set<Router>();
    while (members.size < Math.min(4, routers.length)) members.add(this.#random.pick(routers));
    const list = [...members];
    this.lans.push({
      domain,
      number,
      up: true,
      members: list.map((router) => {
        const others = list.filter((other) => other !== router);
        return {
          ...this.#end(router, false),
          neighborLabels: new Map(others.map((other) => [other.number, this.#nextLabel++])),
          neighborSids: new Map(
            others.map((other) => [
              other.number,
              `fd03:${this.options.number}:${router.number.toString(16)}:${number.toString(16)}::${other.number.toString(16)}`,
            ]),
          ),
        };
      }),
    });
  }
}

/** Whether a link carries anything: it is up and so are both of its routers. */
export function works(link: PointToPointLink): boolean {
  return link.up && link.ends.every(({ router }) => router.up);
}

/** Those that are on a LAN now; with fewer than two, or without its designated router, there is no LAN. */
export function present(lan: Lan): readonly LanMember[] {
  const members = lan.members.filter(({ router }) => router.up);
  return lan.up && members.length > 1 && lan.members[0]?.router.up ? members : [];
}
