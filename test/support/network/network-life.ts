/** A simulated network that lives: one thing happens at each step, and what fails is repaired some steps later. */
import type { Random } from '../random.ts';
import type { SimulatedNetwork } from './simulated-network.ts';

/** How many links and routers may be down at once, and for how many steps. */
const MOST_DOWN = { link: 6, router: 1 };
const STEPS_DOWN = { link: 8, router: 12 };
/** Every so many steps a router fails or asks for no transit, and in between every third step a link fails. */
const ROUTER_EVERY = 20;
const LINK_EVERY = 3;

interface Repair {
  readonly atStep: number;
  readonly kind: 'link' | 'router';
  /** Says in words what it did. */
  do(): string;
}

export class NetworkLife {
  readonly #network: SimulatedNetwork;
  readonly #random: Random;
  #step = 0;
  #repairs: Repair[] = [];

  constructor(network: SimulatedNetwork, random: Random) {
    this.#network = network;
    this.#random = random;
  }

  /** Lets the next thing happen and says in words what it was. */
  step(): string {
    this.#step += 1;
    const due = this.#repairs.find(({ atStep }) => atStep <= this.#step);
    if (due !== undefined) {
      this.#repairs = this.#repairs.filter((repair) => repair !== due);
      return due.do();
    }
    if (this.#step % ROUTER_EVERY === 0 && this.#mayFail('router')) return this.#failRouter();
    if (this.#step % LINK_EVERY === 0 && this.#mayFail('link')) return this.#failLink();
    return this.#changeMetric();
  }

  #mayFail(kind: Repair['kind']): boolean {
    return this.#repairs.filter((repair) => repair.kind === kind).length < MOST_DOWN[kind];
  }

  #failLink(): string {
    const link = this.#random.pick(this.#network.links.filter(({ up }) => up));
    const name = link.ends.map(({ router }) => router.name).join(' – ');
    link.up = false;
    this.#repairLater('link', () => {
      link.up = true;
      return `link ${name} is up again`;
    });
    return `link ${name} fails`;
  }

  #failRouter(): string {
    const router = this.#random.pick(this.#network.routers.filter(({ up }) => up));
    const { name } = router;
    if (this.#random.chance(0.5)) {
      router.overload = true;
      this.#repairLater('router', () => {
        router.overload = false;
        return `router ${name} carries transit again`;
      });
      return `router ${name} is overloaded: no transit`;
    }
    router.up = false;
    this.#repairLater('router', () => {
      router.up = true;
      return `router ${name} is back`;
    });
    return `router ${name} fails`;
  }

  #changeMetric(): string {
    const link = this.#random.pick(this.#network.links.filter(({ up }) => up));
    const [near, far] = this.#random.chance(0.5) ? link.ends : [link.ends[1], link.ends[0]];
    // Never the value that it has: each step changes something.
    near.metric = 1 + ((near.metric + this.#random.below(90)) % 100);
    return `metric ${near.router.name} → ${far.router.name} is ${near.metric}`;
  }

  #repairLater(kind: Repair['kind'], action: () => string): void {
    this.#repairs.push({ atStep: this.#step + STEPS_DOWN[kind], kind, do: action });
  }
}
