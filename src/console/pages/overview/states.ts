import { surplusName } from '../../../contract/names.ts';
import { nearest } from '../../../contract/nearest.ts';
import type { Overview, OverviewFeature } from '../../../contract/shapes/overview.ts';
import { explainSilence, type VerdictKind, verdictKinds, verdictRules } from '../../../contract/verdicts.ts';

export type State = VerdictKind | 'undeclared' | 'archived';

/** The states of flags, with their labels. Flags that need an action come first. */
export const states = Object.fromEntries([
  ...listLabels('remove'),
  ...listLabels('fix'),
  ['undeclared', 'fix: unknown flag'],
  ...listLabels('keep'),
  ['archived', 'archived'],
]) as Readonly<Record<State, string>>;

function listLabels(advice: (typeof verdictRules)[VerdictKind]['advice']): readonly (readonly [VerdictKind, string])[] {
  return verdictKinds
    .filter((kind) => verdictRules[kind].advice === advice)
    .map((kind) => [kind, verdictRules[kind].label]);
}

export function isState(text: string | undefined): text is State {
  return text !== undefined && Object.hasOwn(states, text);
}

function isDone({ archived, verdict }: OverviewFeature): boolean {
  return archived && verdict !== 'archived_but_asked';
}

function isUndeclared({ feature, declared }: OverviewFeature): boolean {
  return !declared && feature !== surplusName; // A feature named `__other__` cannot be declared.
}

export function countStates(features: readonly OverviewFeature[]): ReadonlyMap<State, number> {
  const counts = new Map((Object.keys(states) as State[]).map((state) => [state, 0]));
  for (const state of features.map(getShownState)) counts.set(state, counts.get(state)! + 1);
  return counts;
}

/** Returns the state that the table shows. An undeclared flag is never shown as good: it might be misspelt. */
export function getShownState(row: OverviewFeature): State {
  if (isDone(row)) return 'archived';
  return isUndeclared(row) ? 'undeclared' : row.verdict;
}

export function explainState(row: OverviewFeature, { staleAfterDays }: Pick<Overview, 'staleAfterDays'>): string {
  const hints = [
    isDone(row) ? `Archived. Verdict: ${states[row.verdict]}` : undefined,
    isUndeclared(row) ? `Not declared, so the name might be misspelt. Verdict: ${states[row.verdict]}` : undefined,
    row.verdict === 'in_use' ? whyInUse(row, staleAfterDays) : undefined,
    explainSilence(row.verdict),
  ];
  return hints.filter((hint) => hint !== undefined).join('. ');
}

/** Explains why a flag is in use. The range of the table can contain fewer variants than the verdict considers. */
function whyInUse({ recentVariants = 0 }: OverviewFeature, days: number): string {
  if (recentVariants > 1) return `In use: ${recentVariants} variants within ${days} days`;
  return `In use: seen within ${days} days, with one variant for less than that`;
}

/**
 * Formats the state of a flag in the table: what to do with the flag, and why.
 * @param meant the declared name that is similar to the undeclared name
 */
export function stateText(row: OverviewFeature, meant?: string): string {
  const shown = getShownState(row);
  if (shown === 'undeclared')
    return meant === undefined ? states.undeclared : `${states.undeclared} – did you mean ${meant}?`;
  const { recentVariants = 0 } = row;
  return shown === 'in_use' && recentVariants > 1 ? `${states.in_use}, ${recentVariants} variants` : states[shown];
}

/**
 * Finds the declared name that is similar to an undeclared flag's name. The search is slow, so use it only for visible
 * rows.
 */
export function meantBy(features: readonly OverviewFeature[]): (row: OverviewFeature) => string | undefined {
  const declared = features.filter((row) => row.declared).map(({ feature }) => feature);
  const found = new Map<string, string | undefined>();
  return (row) => {
    if (!isUndeclared(row)) return undefined;
    if (!found.has(row.feature)) found.set(row.feature, nearest(row.feature, declared));
    return found.get(row.feature);
  };
}
