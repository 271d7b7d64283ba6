import type { FeatureDeclaration } from '../store/records.ts';
import { seenOf } from '../store/seen.ts';
import { featureItself, seriesOf, surplusName } from '../store/series.ts';
import type { Reading, Snapshot } from '../store/snapshot.ts';
import type { UsageStore } from '../store/usage.ts';

/** One feature of an environment while its counts are added up. Minutes are since the epoch, 0 for never. */
export interface Row {
  readonly feature: string;
  readonly declaration: FeatureDeclaration | undefined;
  readonly variants: VariantRow[];
  readonly spark: Float64Array;
  firstSeen: number;
  lastSeen: number;
  used: number;
  viewed: number;
}

export interface VariantRow {
  readonly variant: string;
  readonly row: Row;
  checks: number;
}

export interface Rows {
  readonly rows: readonly Row[];
  /** By the ordinal of the series. */
  readonly variants: readonly (VariantRow | undefined)[];
  /** When anything of the environment was first seen; `Infinity` for never. */
  readonly firstSeen: number;
}

/**
 * Every feature that packets and reports of an environment have named, and every declared one.
 * @param points of a sparkline
 */
export function* readRows(
  store: UsageStore,
  environment: number,
  declared: readonly FeatureDeclaration[],
  points: number,
  at: Snapshot,
): Reading<Rows> {
  const declarations = new Map(declared.map((each) => [each.name, each]));
  const rows = new Map<string, Row>();
  const open = (feature: string): Row => {
    const known = rows.get(feature);
    if (known !== undefined) return known;
    const declaration = declarations.get(feature);
    const counts = { firstSeen: 0, lastSeen: 0, used: 0, viewed: 0 };
    const row: Row = { feature, declaration, variants: [], spark: new Float64Array(points), ...counts };
    rows.set(feature, row);
    return row;
  };
  for (const name of declarations.keys()) open(name);
  const variants: (VariantRow | undefined)[] = [];
  const ofOrdinal: (Row | undefined)[] = [];
  for (const { ordinal, name } of seriesOf(store, environment, at)) {
    if (ordinal % stride === 0) yield;
    if (name.length === 1) continue;
    const feature = name.length === 3 ? name[1] : name[0];
    if (name.length === 3 && feature === surplusName) continue;
    const row = open(feature);
    ofOrdinal[ordinal] = row;
    if (name.length === 3 || name[1] === featureItself) continue;
    const variant = { variant: name[1], row, checks: 0 };
    row.variants.push(variant);
    variants[ordinal] = variant;
  }
  let firstSeen = Number.POSITIVE_INFINITY;
  for (const { ordinal, first, last } of seenOf(store, environment, at)) {
    if (ordinal % stride === 0) yield;
    firstSeen = Math.min(firstSeen, first);
    const row = ofOrdinal[ordinal];
    if (row === undefined) continue;
    row.firstSeen = row.firstSeen === 0 ? first : Math.min(row.firstSeen, first);
    row.lastSeen = Math.max(row.lastSeen, last);
  }
  return { rows: [...rows.values()], variants, firstSeen };
}

/** Series between two pauses. */
const stride = 512;
