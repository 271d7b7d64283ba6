import { shares } from '../../contract/numbers.ts';
import type { FeatureSplit } from '../../contract/shapes/split.ts';

/**
 * Describes the deviation of a split, such as `behind plan: on had 34% of the users on average since 12 Nov, instead of
 * 50%`. Returns `null` without a deviation.
 */
export function splitText(
  { intended, actual, state, of, planned }: Pick<FeatureSplit, 'intended' | 'actual' | 'state' | 'of' | 'planned'>,
  since: number | null,
  now: number,
): string | null {
  if (state !== 'off' || actual === null) return null;
  const distance = (variant: string) => Math.round((getShare(actual, variant) - getShare(intended, variant)) * 1e6);
  // Two variants always deviate equally, so the text names the variant that should grow.
  const [variant] = Object.keys({ ...actual, ...intended }).toSorted(
    (a, b) => Math.abs(distance(b)) - Math.abs(distance(a)) || distance(a) - distance(b),
  );
  if (variant === undefined) return null;
  const has = getShare(actual, variant);
  const wanted = getShare(intended, variant);
  const time = since === null ? '' : ` since ${dayText(since, now)}`;
  const what = !planned ? 'split is off' : has < wanted ? 'behind plan' : 'ahead of plan';
  return `${what}: ${variant} had ${percent(has)} of the ${of} on average${time}, instead of ${percent(wanted)}`;
}

const percent = shares('en');

/** Returns the share of a variant. A variant named `constructor` must not find the inherited property. */
function getShare(shares: Readonly<Record<string, number>>, variant: string): number {
  return Object.hasOwn(shares, variant) ? shares[variant]! : 0;
}

/** Formats a UTC day: `12 Nov`, with the year if it is not the current year. */
export function dayText(at: number, now: number): string {
  const year = new Date(at).getUTCFullYear() === new Date(now).getUTCFullYear() ? {} : { year: 'numeric' as const };
  return new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC', ...year }).format(at);
}
