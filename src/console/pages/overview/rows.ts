import type { OverviewFeature } from '../../../contract/shapes/overview.ts';
import { isIn, type State } from './states.ts';

/** The flags to show. */
export interface Filter {
  readonly search: string;
  readonly state: State | undefined;
}

/** The flags in a state whose names contain all the words of the search. */
export function filterRows(
  features: readonly OverviewFeature[],
  { search, state }: Filter,
): OverviewFeature[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return features.filter((row) => {
    const name = row.feature.toLowerCase();
    return words.every((word) => name.includes(word)) && (state === undefined || isIn(row, state));
  });
}

/**
 * Keeps the order of rows. New rows come last.
 * @param before keys in the order to keep
 */
export function holdOrder<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  before: readonly string[],
): readonly Row[] {
  const places = new Map(before.map((key, index) => [key, index]));
  const place = (row: Row) => places.get(keyOf(row)) ?? places.size;
  return [...rows].sort((one, other) => place(one) - place(other));
}

/** The variants of a flag with their shares: `on 60%, off 40%`. */
export function variantsText(
  { variants }: Pick<OverviewFeature, 'variants'>,
  percent: (share: number) => string,
): string {
  const all = variants.reduce((sum, [, checks]) => sum + checks, 0);
  return variants.map(([name, checks]) => `${name} ${percent(checks / all)}`).join(', ');
}
