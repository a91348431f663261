/**
 * Many wake-up times, one timer: a hashed wheel (Varghese and Lauck). To set, move or cancel a time costs the same
 * however many there are. The clock is the caller's.
 */

/** What is woken; the wheel keeps its place in it. */
export interface Sleeper {
  wakeAt: number;
  previous: Sleeper | undefined;
  next: Sleeper | undefined;
  /** The wheel's slot that it lies in, −1 when in none. */
  slot: number;
}

export class TimerWheel {
  /** Sleepers in the wheel. */
  size = 0;
  private readonly heads: (Sleeper | undefined)[];
  private readonly slotMilliseconds: number;
  /** The slot number, never wrapped, up to which all was looked at. */
  private reached: number;

  constructor(now: number, slotMilliseconds = 10, slots = 1024) {
    this.heads = Array.from({ length: slots }, () => undefined);
    this.slotMilliseconds = slotMilliseconds;
    this.reached = Math.floor(now / slotMilliseconds);
  }

  /** Wakes `sleeper` at `at` or up to a slot later; a time it had before is forgotten. */
  set(sleeper: Sleeper, at: number): void {
    this.cancel(sleeper);
    sleeper.wakeAt = at;
    const due = Math.max(Math.ceil(at / this.slotMilliseconds), this.reached + 1);
    const slot = due % this.heads.length;
    const head = this.heads[slot];
    sleeper.slot = slot;
    sleeper.previous = undefined;
    sleeper.next = head;
    if (head !== undefined) head.previous = sleeper;
    this.heads[slot] = sleeper;
    this.size += 1;
  }

  cancel(sleeper: Sleeper): void {
    if (sleeper.slot < 0) return;
    const { previous, next } = sleeper;
    if (previous === undefined) this.heads[sleeper.slot] = next;
    else previous.next = next;
    if (next !== undefined) next.previous = previous;
    sleeper.previous = undefined;
    sleeper.next = undefined;
    sleeper.slot = -1;
    this.size -= 1;
  }

  /** Wakes all whose time has come. What is set while waking is looked at in a later call. */
  advance(now: number, wake: (sleeper: Sleeper) => void): void {
    const current = Math.floor(now / this.slotMilliseconds);
    // After a long sleep every slot is due once, not once a turn.
    const from = Math.max(this.reached + 1, current - this.heads.length + 1);
    this.reached = Math.max(this.reached, current);
    for (let number = from; number <= current; number += 1) {
      let sleeper = this.heads[number % this.heads.length];
      while (sleeper !== undefined) {
        const { next } = sleeper as Sleeper;
        // One that is further off than a turn of the wheel stays where it is.
        if (sleeper.wakeAt <= now) {
          this.cancel(sleeper);
          wake(sleeper);
        }
        sleeper = next;
      }
    }
  }
}
