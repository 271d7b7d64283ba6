import type { Owners } from '../accounts/owners.ts';
import type { OverviewFeature } from '../contract/shapes/overview.ts';
import type { VerdictKind } from '../contract/verdicts.ts';
import type { FeatureDeclaration } from '../storage/lmdb/records.ts';
import { surplusName } from '../storage/lmdb/series.ts';
import { timeText } from './answers.ts';
import type { Names, Sights, SpanTotals, Totals } from './overview-totals.ts';
import { showOwned } from './owned.ts';
import { minuteText } from './report-range.ts';
import type { Splits } from './split-report.ts';
import type { AllVerdicts } from './verdicts.ts';

/** Maximum number of variants in a row. */
const maxVariants = 8;

/** The counts of the range, and of the spans of the comparison. */
interface Counted {
  readonly totals: Totals;
  /** Of the previous range, and of the end of the range, which is not compared. */
  readonly before: SpanTotals;
  readonly rest: SpanTotals;
  /** Start of the previous range, minutes; `undefined` if it is not kept. */
  readonly from: number | undefined;
}

/** The declarations and verdicts in the rows. */
interface Said extends Pick<AllVerdicts, 'kinds' | 'recentVariants' | 'checksOnlyBy'> {
  readonly splits: Splits;
  readonly declared: readonly FeatureDeclaration[];
  readonly owned: ReadonlyMap<string, Owners>;
}

/**
 * A row for every feature that was seen or is declared, by checks. `__other__` has a row only if it has counts.
 * @param points in a sparkline
 */
export function rowsOf(
  names: Names,
  { totals, ...spans }: Counted,
  sights: Sights,
  { declared, owned, kinds, recentVariants, checksOnlyBy, splits }: Said,
  points: number,
): OverviewFeature[] {
  const declarations = new Map(declared.map((each) => [each.name, each]));
  const variants = variantsOf(names, totals);
  const seen = names.features.map((feature, number) => {
    const declaration = declarations.get(feature);
    const checksOnly = checksOnlyBy.get(feature);
    const recent = recentVariants.get(feature);
    const split = splits.get(feature);
    const checks = variants[number]!.reduce((sum, [, each]) => sum + each, 0);
    return {
      feature,
      checks,
      ...comparedOf(number, checks, spans, sights),
      used: totals.used[number]!,
      viewed: totals.viewed[number]!,
      spark: [...totals.spark.subarray(number * points, (number + 1) * points)],
      variants: showVariants(variants[number]!),
      firstSeenAt: seenAt(sights.first[number]!),
      lastSeenAt: seenAt(sights.last[number]!),
      ...showDeclaration(declaration, owned.get(feature)),
      verdict: verdictOf(feature, kinds),
      ...(recent !== undefined && { recentVariants: recent }),
      ...(split && { split }),
      ...(checksOnly && { checksOnly: [...checksOnly] }),
    };
  });
  const known = new Set(names.features);
  const unseen = declared
    .filter(({ name }) => !known.has(name))
    .map((declaration) => showUnseen(declaration, points, { owned, kinds, splits }));
  return [...seen, ...unseen].filter(isShown).sort(byChecks);
}

/** The checks that are compared. A feature that was first seen after the previous range began is not: a beginning is not growth. */
function comparedOf(
  number: number,
  checks: number,
  { before, rest, from }: Omit<Counted, 'totals'>,
  { first }: Sights,
): Pick<OverviewFeature, 'compared'> {
  if (from === undefined || first[number] === 0 || first[number]! > from) return {};
  return { compared: [checks - rest.checks[number]!, before.checks[number]!] };
}

type VariantChecks = [variant: string, checks: number];

/** The variants with checks, by feature. */
function variantsOf({ features, featureOf, variantOf }: Names, { checks }: Totals): VariantChecks[][] {
  const variants: VariantChecks[][] = features.map(() => []);
  for (const [ordinal, variant] of variantOf.entries()) {
    if (variant !== undefined && checks[ordinal]! > 0) {
      variants[featureOf[ordinal]!]!.push([variant, checks[ordinal]!]);
    }
  }
  return variants;
}

function showVariants(variants: readonly VariantChecks[]): VariantChecks[] {
  const sorted = variants.toSorted(([, a], [, b]) => b - a);
  const rest = sorted.slice(maxVariants).reduce((sum, [, checks]) => sum + checks, 0);
  return rest > 0 ? [...sorted.slice(0, maxVariants), ['…', rest]] : sorted;
}

function showUnseen(
  declaration: FeatureDeclaration,
  points: number,
  { owned, kinds, splits }: Pick<Said, 'owned' | 'kinds' | 'splits'>,
): OverviewFeature {
  const split = splits.get(declaration.name);
  return {
    feature: declaration.name,
    checks: 0,
    used: 0,
    viewed: 0,
    variants: [],
    spark: new Array<number>(points).fill(0),
    firstSeenAt: null,
    lastSeenAt: null,
    ...showDeclaration(declaration, owned.get(declaration.name)),
    verdict: verdictOf(declaration.name, kinds),
    ...(split && { split }),
  };
}

/** The verdict on a feature. `__other__` is not a single feature, and a feature without a verdict yet is new. */
function verdictOf(feature: string, kinds: Said['kinds']): VerdictKind {
  return feature === surplusName ? 'in_use' : (kinds.get(feature) ?? 'new');
}

function showDeclaration(declaration: FeatureDeclaration | undefined, owners: Owners | undefined) {
  return {
    declared: declaration !== undefined,
    archived: declaration?.archived ?? false,
    permanent: declaration?.permanent ?? false,
    snoozedUntil: timeText(declaration?.snoozedUntil ?? null),
    ...showOwned(declaration, owners),
  };
}

function seenAt(minute: number): string | null {
  return minute === 0 ? null : minuteText(minute);
}

function isShown({ feature, checks, used, viewed }: OverviewFeature): boolean {
  return feature !== surplusName || checks + used + viewed > 0;
}

function byChecks(a: OverviewFeature, b: OverviewFeature): number {
  return b.checks - a.checks || (a.feature < b.feature ? -1 : 1);
}
