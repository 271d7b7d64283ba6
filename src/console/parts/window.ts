/** Which rows of a long table are in view, and where a key moves to. */

export interface View {
  /** Index of the first row to draw. */
  readonly first: number;
  /** Index after the last row to draw. */
  readonly end: number;
}

/** Rows that are drawn above and below the view, so that scrolling shows no gap. */
const spare = 8;

/**
 * @param top where the first row begins, below the upper edge of the view (px; negative once it has been scrolled past)
 * @param height of the view
 */
export function viewOf(top: number, height: number, rowHeight: number, count: number): View {
  // In steps, so that not every scrolled row draws the table again.
  const step = spare / 2;
  const from = Math.floor(-top / rowHeight / step) * step - spare;
  const to = Math.ceil((height - top) / rowHeight / step) * step + spare;
  return { first: clamp(from, 0, count), end: clamp(to, 0, count) };
}

/** The row that a key moves to; `undefined` for other keys. */
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

/** Indices to draw: those in view, and the active one wherever it is, so that it keeps the focus. */
export function drawn({ first, end }: View, active: number, count: number): number[] {
  // Rows may have become fewer since the view was measured.
  const last = Math.min(end, count);
  const indices = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
  if (active < 0 || active >= count) return indices;
  if (active < first) return [active, ...indices];
  return active >= end ? [...indices, active] : indices;
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
