/** How many elements come first of which `isBefore` is true: it is of these, and of none behind them. By binary search. */
export function partitionPoint<Element>(
  elements: readonly Element[],
  isBefore: (element: Element) => boolean,
): number {
  let from = 0;
  let to = elements.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (isBefore(elements[middle] as Element)) from = middle + 1;
    else to = middle;
  }
  return from;
}
