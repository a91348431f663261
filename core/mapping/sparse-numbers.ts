const PAGE_BITS = 8;
const PAGE_SIZE = 1 << PAGE_BITS;

/**
 * A number by a number, −1 where none was set. Kept in pages: many streams share one space of prefix numbers, and
 * each needs but the pages that its own prefixes fall in.
 */
export class SparseNumbers {
  private pages: Array<Int32Array | undefined> = [];

  get(index: number): number {
    const page = this.pages[index >>> PAGE_BITS];
    return page === undefined ? -1 : (page[index & (PAGE_SIZE - 1)] as number);
  }

  set(index: number, value: number): void {
    let page = this.pages[index >>> PAGE_BITS];
    if (page === undefined) {
      page = new Int32Array(PAGE_SIZE).fill(-1);
      this.pages[index >>> PAGE_BITS] = page;
    }
    page[index & (PAGE_SIZE - 1)] = value;
  }

  clear(): void {
    this.pages = [];
  }
}
