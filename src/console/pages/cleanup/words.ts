import type { CleanupItem } from '../../../contract/shapes/cleanup.ts';

interface Wording {
  time(at: string): string;
}

/** What a flag is on the list for: `Unused since 14 Oct`. */
export function whyGoes(
  { variant, since }: Pick<CleanupItem, 'variant' | 'since'>,
  { time }: Wording,
): string {
  const from = since === null ? '' : ` since ${time(since)}`;
  return variant === null ? `Unused${from}` : `Only ${variant}${from}`;
}

/** A title with the number of flags. */
export function titleOf(total: number): string {
  if (total === 0) return 'No flag can go';
  return total === 1 ? 'This flag can go' : `These ${total} flags can go`;
}
