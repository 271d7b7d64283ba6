import type { Comparison } from '../../contract/shapes/comparison.ts';
import { type Lack, needed, type VariantComparison } from '../statistics/compare.ts';

type ComparisonResult = Pick<Comparison, 'outcome' | 'why'>;
type WithDifference = VariantComparison & { readonly difference: NonNullable<VariantComparison['difference']> };

/** Significance level for adjusted p-values. */
const clear = 0.05;

/** Describes the result of a comparison as text. A clear difference is always reported with its size. */
export function judgeComparison(
  compared: readonly VariantComparison[],
  base: string | null,
  days: number,
  event: 'used' | 'viewed',
): ComparisonResult {
  if (days === 0) return notEnough('No whole UTC day of this range is over yet.');
  if (base === null) return notEnough('No variant was served on these days.');
  if (!compared.some(({ variant, checks }) => variant === base && checks > 0))
    return notEnough(`${base} was not served on these days: select another base.`);
  if (compared.length < 2) return notEnough(`Only ${base} was served on these days.`);
  const differences = compared.filter((each): each is WithDifference => each.difference !== null);
  if (differences.length === 0) return notEnough(missing(compared.flatMap(({ lack }) => lack ?? [])[0]!, base));
  const found = differences.filter(({ difference }) => difference.pAdjusted < clear);
  const most = (list: readonly WithDifference[]) =>
    list.toSorted((a, b) => Math.abs(b.difference.estimate) - Math.abs(a.difference.estimate))[0]!;
  return found.length > 0
    ? { outcome: 'difference', why: sentence(most(found), base, event) }
    : { outcome: 'no_clear_difference', why: inconclusive(differences.map(({ difference }) => difference.interval)) };
}

function notEnough(why: string): ComparisonResult {
  return { outcome: 'not_enough', why };
}

/** Describes the data that a variant lacks for a comparison. */
export function missing({ of, variant, has }: Lack, base: string): string {
  const least = needed[of];
  if (of === 'days')
    return `${base} and ${variant} were both served on ${has} whole UTC days; a comparison requires at least ${least}.`;
  return `${variant} has ${has} ${of === 'users' ? 'users' : 'events'} on these days; a comparison requires at least ${least}.`;
}

function sentence({ variant, rate, difference }: WithDifference, base: string, event: 'used' | 'viewed') {
  const { estimate, interval, pAdjusted } = difference;
  const isMore = estimate > 0;
  const [low, high] = isMore ? interval : [-interval[1], -interval[0]];
  const led = event === 'used' ? 'a use' : 'a view';
  const digits = digitsFor(estimate);
  const shown = (share: number) => percent(share, digits);
  return (
    `With ${variant}, ${shown(rate ?? 0)} % of checks led to ${led}, which is ${shown(Math.abs(estimate))} percentage points ` +
    `${isMore ? 'more' : 'less'} than with ${base} (${shown(low)} to ${shown(high)}, ${chance(pAdjusted)}).`
  );
}

function inconclusive(intervals: readonly (readonly [number, number])[]): string {
  const most = Math.max(...intervals.flat().map(Math.abs));
  return `Inconclusive: anything from no difference to ${points(most)}.`;
}

/** Formats a difference of shares: `4.0 percentage points`. */
export function points(share: number): string {
  return `${percent(share, digitsFor(share))} percentage points`;
}

/** Returns the number of digits for a sentence about a difference of this size. */
function digitsFor(share: number): number {
  if (Math.abs(share) < 0.001) return 3;
  return Math.abs(share) < 0.01 ? 2 : 1;
}

function percent(share: number, digits: number): string {
  return (share * 100).toFixed(digits);
}

function chance(p: number): string {
  return p < 0.001 ? 'p < 0.001' : `p = ${p.toFixed(3)}`;
}
