/*
 * Refusals come by the thousand, and are told of once for each time that they begin. They have begun anew when none came for an
 * hour; to know that, the mark is moved on while they go on.
 */

/** So few are not worth a word: someone has mistyped a key. */
const fewest = 10;

const quietMs = 60 * 60_000;
const moveOnMs = 15 * 60_000;

/** `move on`: tell nothing, and mark it. */
export type Step = 'tell' | 'move on' | undefined;

/**
 * What to do about refusals, the last of them at `lastAt`.
 * @param marked when they were last told of, or seen to go on
 */
export function stepOf(
  marked: number | undefined,
  { count, lastAt }: { readonly count: number; readonly lastAt: number },
): Step {
  if (count < fewest || lastAt <= (marked ?? 0)) return undefined;
  if (marked === undefined || lastAt - marked >= quietMs) return 'tell';
  return lastAt - marked >= moveOnMs ? 'move on' : undefined;
}
