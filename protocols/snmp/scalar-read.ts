/** The reading of one scalar group: exact instances by GetRequest, as many at once as an answer holds. */
import { Tag } from './ber.ts';
import { ErrorStatus } from './pdu.ts';
import { RowBuffer } from './row-join.ts';
import type { Progress, RowConsumer } from './table-walk.ts';
import type { VarbindTable } from './varbind-table.ts';
import type { CompiledGroup, WalkLimits } from './walk-plan.ts';
import { type Ask, emptyAsk } from './walk-request.ts';

const ESTIMATED_VARBIND_BYTES = 40;

export class ScalarRead {
  readonly valueCounts: number[];
  private readonly group: CompiledGroup;
  private readonly emit: RowConsumer;
  private readonly buffer: RowBuffer;
  private readonly ask: Ask = emptyAsk();
  /** Instances that were not read yet, in order. */
  private left: number[];
  private batch: number;

  constructor(group: CompiledGroup, limits: WalkLimits, emit: RowConsumer) {
    this.group = group;
    this.emit = emit;
    this.left = group.names.map((_, instance) => instance);
    this.valueCounts = this.left.map(() => 0);
    this.batch = Math.max(1, Math.floor(limits.maxResponseBytes / ESTIMATED_VARBIND_BYTES));
    this.buffer = new RowBuffer(group.names.length);
    this.buffer.clear();
  }

  next(): Ask {
    const { ask, group } = this;
    ask.operation = 'get';
    ask.count = Math.min(this.batch, this.left.length);
    for (let place = 0; place < ask.count; place += 1) {
      ask.names[place] = group.names[this.left[place] as number] as Uint8Array;
      ask.indexLengths[place] = 0;
    }
    return ask;
  }

  accept(table: VarbindTable, first: number): Progress {
    const came = Math.min(table.count - first, this.ask.count);
    if (came <= 0) return this.shrink();
    for (let place = 0; place < came; place += 1) {
      const instance = this.left[place] as number;
      const at = first + place;
      const kind = table.kinds[at] as number;
      const missing = kind === Tag.noSuchObject || kind === Tag.noSuchInstance || kind === Tag.endOfMibView;
      if (missing || kind === Tag.null || !this.isNamed(table, at, instance)) continue;
      this.valueCounts[instance] = 1;
      this.buffer.set(instance, kind, table.hi[at] as number, table.lo[at] as number, table.bytes);
    }
    return this.advance(came);
  }

  refuse(status: number, place: number): Progress {
    if (status === ErrorStatus.tooBig) return this.shrink();
    if (place >= 0 && place < this.ask.count) {
      this.left.splice(place, 1);
      return this.advance(0);
    }
    return this.shrink();
  }

  /** Asks for half as many; a single instance that cannot be answered is left out. */
  private shrink(): Progress {
    if (this.ask.count <= 1) return this.advance(1);
    this.batch = Math.floor(this.ask.count / 2);
    return 'more';
  }

  private advance(count: number): Progress {
    this.left = this.left.slice(count);
    if (this.left.length > 0) return 'more';
    if (this.valueCounts.some((values) => values > 0)) this.emit(this.buffer.row);
    return 'done';
  }

  private isNamed(table: VarbindTable, at: number, instance: number): boolean {
    const name = this.group.names[instance] as Uint8Array;
    const start = table.nameStart[at] as number;
    return (
      (table.nameEnd[at] as number) - start === name.length &&
      name.every((byte, offset) => table.bytes[start + offset] === byte)
    );
  }
}
