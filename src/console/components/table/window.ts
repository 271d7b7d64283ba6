export interface View {
  readonly first: number;
  readonly end: number;
}

/** Number of rows rendered above and below the visible rows, so that scrolling shows no gap. */
const spare = 8;

/**
 * @param top distance of the first row from the upper edge of the view, px; negative if the row is above it
 * @param height of the view, px
 */
export function computeView(top: number, height: number, rowHeight: number, count: number): View {
  // The rendered rows change in steps, so that the table is not rendered again for each scrolled row.
  const step = spare / 2;
  const from = Math.floor(-top / rowHeight / step) * step - spare;
  const to = Math.ceil((height - top) / rowHeight / step) * step + spare;
  return { first: clamp(from, 0, count), end: clamp(to, 0, count) };
}

/** Returns the row that a key moves the focus to; `undefined` if the key does not move the focus. */
export function moveTo(key: string, at: number, count: number, page: number): number | undefined {
  const target = new Map([
    ['ArrowDown', at + 1],
    ['ArrowUp', at - 1],
    ['PageDown', at + page],
    ['PageUp', at - page],
    ['Home', 0],
    ['End', count - 1],
  ]).get(key);
  return target === undefined ? undefined : clamp(target, 0, Math.max(0, count - 1));
}

/** Returns the indexes of the rows to render: the visible rows, and the active row, which has the focus. */
export function drawn({ first, end }: View, active: number, count: number): number[] {
  // The table can have become shorter since the view was measured.
  const last = Math.min(end, count);
  const indexes = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
  if (active < 0 || active >= count) return indexes;
  if (active < first) return [active, ...indexes];
  return active >= end ? [...indexes, active] : indexes;
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
