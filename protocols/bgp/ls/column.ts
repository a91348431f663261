/**
 * Words of 32 bits by id, so many an id, in blocks: growing adds a block and copies nothing, so that no single step of
 * a large table takes long, where doubling one array copied for 39 ms at a million entries. What belongs to one id
 * stands together; who reads or writes several words of it asks for its block and place once.
 */
const BLOCK_BITS = 12;
const BLOCK = 1 << BLOCK_BITS;

export class WordColumns {
  private readonly blocks: Uint32Array[] = [];
  private readonly width: number;

  constructor(wordsAnId: number) {
    this.width = wordsAnId;
  }

  /** Where the words of an id are: in this block, from `placeOf` on. Ids are new without gaps, from 0. */
  blockOf(id: number): Uint32Array {
    return this.blocks[id >>> BLOCK_BITS] ?? this.newBlock();
  }

  private newBlock(): Uint32Array {
    const block = new Uint32Array(BLOCK * this.width);
    this.blocks.push(block);
    return block;
  }

  placeOf(id: number): number {
    return (id & (BLOCK - 1)) * this.width;
  }

  /** Whether there are words of an id. */
  has(id: number): boolean {
    return id >>> BLOCK_BITS < this.blocks.length;
  }

  /** The first word of an id that has been set. */
  get(id: number): number {
    return (this.blocks[id >>> BLOCK_BITS] as Uint32Array)[this.placeOf(id)] as number;
  }

  set(id: number, value: number): void {
    this.blockOf(id)[this.placeOf(id)] = value;
  }

  get retainedBytes(): number {
    return this.blocks.length * BLOCK * this.width * 4;
  }
}
