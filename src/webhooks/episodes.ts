/*
 * Refusals come by the thousand, but each episode sends only one notification. An episode ends after an hour without refusals.
 * To detect that, the mark is updated while the episode lasts.
 */

/** Below this, no notification is sent: someone has mistyped a key. */
const fewest = 10;

const quietMs = 60 * 60_000;
const moveOnMs = 15 * 60_000;

/** `move on`: send nothing, but update the mark. */
export type Step = 'tell' | 'move on' | undefined;

/**
 * What to do about refusals, the last of them at `lastAt`.
 * @param marked when the episode was last announced or updated
 */
export function stepOf(
  marked: number | undefined,
  { count, lastAt }: { readonly count: number; readonly lastAt: number },
): Step {
  if (count < fewest || lastAt <= (marked ?? 0)) return undefined;
  if (marked === undefined || lastAt - marked >= quietMs) return 'tell';
  return lastAt - marked >= moveOnMs ? 'move on' : undefined;
}
