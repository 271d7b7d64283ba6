import { canGo } from '../../contract/health.ts';
import { surplusName } from '../../contract/names.ts';
import { nearest } from '../../contract/nearest.ts';
import { historyDays, maxCleanup } from '../../contract/shapes/cleanup.ts';
import type { Verdict } from '../../contract/shapes/verdict.ts';
import { findDecisive, type VerdictKind } from '../../contract/verdicts.ts';
import { timeText } from '../../runtime/rfc3339.ts';
import type { FeatureDeclaration } from '../../storage/lmdb/records.ts';
import { fromSnapshot, type Reading } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import type { FeatureFindings } from '../../webhooks/findings.ts';
import { featureFinder } from './findings.ts';
import { dayMs, type Judgement, judge } from './verdict.ts';
import { explainJudgement, undeclared } from './verdict-reasons.ts';
import { readChecks } from './verdict-report.ts';
import { factsWithAskers, placesAt, type Verdicts, type VerdictsTask } from './verdicts.ts';

export interface CleanupTask extends VerdictsTask {
  /** Features to include; `undefined` for all. */
  readonly only?: ReadonlySet<string>;
}

type Reasons = Verdict['reasons'];

/** Reasons to keep a feature that do not depend on its use. */
const keeping: ReadonlySet<string> = new Set(['snoozed', 'permanent', 'undeclared']);

/** A feature that can be removed. */
export interface Removable {
  readonly feature: string;
  readonly kind: 'safe_to_remove' | 'one_variant';
  readonly since: string | null;
  readonly variant: string | null;
  readonly environments: readonly string[];
  readonly declared: boolean;
  readonly reasons: Reasons;
}

/** A feature that cannot be removed yet, although nothing shows that it is needed. */
interface KeptFeature {
  readonly feature: string;
  readonly kind: VerdictKind;
  readonly why: Reasons[number];
}

/** The findings about all features, with the features that can be removed and the features that must still be kept. */
export interface CleanupResult extends FeatureFindings {
  readonly removable: readonly Removable[];
  readonly total: number;
  readonly kept: readonly KeptFeature[];
  readonly keptTotal: number;
  /** Number of removable features at the end of each day, oldest first. */
  readonly history: readonly number[];
}

/** Verdicts without evidence that the feature is needed. Undeclared features are not included: they can be misspelt. */
const waiting: ReadonlySet<VerdictKind> = new Set([
  ...(['one_variant', 'archived_but_asked', 'not_seen', 'cannot_tell', 'snoozed'] as const),
]);

/** A feature with its verdict. */
interface JudgedFeature {
  readonly feature: string;
  readonly judgement: Judgement;
  readonly declared: boolean;
}

/** Returns the features that can be removed, with the evidence, and the features that cannot be removed yet. */
export function* cleanupReport(store: UsageTables, verdicts: Verdicts, task: CleanupTask): Reading<CleanupResult> {
  const { declared, only } = task;
  const { judgements, whenArchived } = yield* verdicts.of(task);
  const declarations = new Map(declared.map((each) => [each.name, each]));
  const removable: JudgedFeature[] = [];
  const kept: JudgedFeature[] = [];
  const history = new Array<number>(historyDays).fill(0);
  for (const [feature, judgement] of judgements) {
    const declaration = declarations.get(feature);
    const { kind } = judgement;
    if (feature === surplusName || (only !== undefined && !only.has(feature))) continue;
    addDays(history, task, whenArchived.get(feature) ?? judgement, declaration);
    const isDone = declaration?.archived === true && kind !== 'archived_but_asked';
    const judged = { feature, judgement, declared: declaration !== undefined };
    if (canGo(kind, declaration)) removable.push(judged);
    else if (waiting.has(kind) && !isDone) kept.push(judged);
  }
  removable.sort(byUrgency);
  kept.sort(byUrgency);
  return {
    ...(yield* explained(store, task, removable.slice(0, maxCleanup), kept.slice(0, maxCleanup))),
    ...featureFinder(declared, judgements)(),
    total: removable.length,
    keptTotal: kept.length,
    history,
  };
}

/**
 * Adds a feature to the days on which it was removable. The period begins when its silence, or its single variant, has
 * lasted long enough. It ends on the day on which the feature was archived.
 */
function addDays(
  history: number[],
  { now, staleAfterMs }: CleanupTask,
  { kind, since }: Judgement,
  declaration: FeatureDeclaration | undefined,
): void {
  if (!canGo(kind, declaration && { archived: false })) return;
  const today = Math.floor(now / dayMs);
  const from = Math.floor(((since ?? 0) + staleAfterMs) / dayMs);
  const end = declaration?.archived ? Math.floor((declaration.archivedAt ?? 0) / dayMs) : today + 1;
  for (const index of history.keys()) {
    const day = today - historyDays + 1 + index;
    if (from <= day && day < end) history[index]! += 1;
  }
}

const order: readonly VerdictKind[] = ['safe_to_remove', 'one_variant', 'archived_but_asked'];

/**
 * Orders features by their verdicts, safe verdicts first. Features with the same verdict are sorted by the age of the
 * verdict, oldest first.
 */
function byUrgency(one: JudgedFeature, other: JudgedFeature): number {
  const place = ({ judgement }: JudgedFeature) =>
    (order.indexOf(judgement.kind) + order.length + 1) % (order.length + 1);
  const since = ({ judgement }: JudgedFeature) => judgement.since ?? Number.POSITIVE_INFINITY;
  const a = since(one);
  const b = since(other);
  if (place(one) !== place(other)) return place(one) - place(other);
  if (a !== b) return a < b ? -1 : 1;
  return one.feature < other.feature ? -1 : 1;
}

/** Adds the reasons of the verdicts to features. */
function explained(
  store: UsageTables,
  task: CleanupTask,
  removable: readonly JudgedFeature[],
  kept: readonly JudgedFeature[],
): Reading<Pick<CleanupResult, 'removable' | 'kept'>> {
  const { environments, declared, now, staleAfterMs: quietMs } = task;
  const declarations = new Map(declared.map((each) => [each.name, each]));
  return fromSnapshot(store.lmdb, function* (at): Reading<Pick<CleanupResult, 'removable' | 'kept'>> {
    const only = new Set([...removable, ...kept].map(({ feature }) => feature));
    if (only.size === 0) return { removable: [], kept: [] };
    const places = yield* placesAt(store, environments, now, at, only);
    const checks = yield* readChecks(
      store,
      { environments, now },
      new Set(removable.map(({ feature }) => feature)),
      at,
    );
    const names = [...declarations.keys()];
    const reasonsFor = ({ feature, declared: isDeclared }: JudgedFeature) => {
      const declaration = declarations.get(feature);
      const facts = { declaration, environments: factsWithAskers(store, places, feature, now, at), now, quietMs };
      // The feature can have been seen since the verdicts were cached.
      const judgement = judge(facts);
      const reasons = explainJudgement(facts, judgement, checks(feature, judgement.environments));
      return { judgement, reasons: isDeclared ? reasons : [...reasons, undeclared(nearest(feature, names))] };
    };
    const shown: Removable[] = [];
    for (const each of removable) {
      const { judgement, reasons } = reasonsFor(each);
      const { kind, since, variant = null, environments: where } = judgement;
      yield;
      if (kind !== 'safe_to_remove' && kind !== 'one_variant') continue;
      shown.push({
        feature: each.feature,
        kind,
        since: timeText(since),
        variant,
        environments: where,
        declared: each.declared,
        reasons: [...reasons],
      });
    }
    const left: KeptFeature[] = [];
    for (const each of kept) {
      const { judgement, reasons } = reasonsFor(each);
      const why = reasons.find(({ code }) => keeping.has(code)) ?? findDecisive(reasons);
      if (why !== undefined) left.push({ feature: each.feature, kind: judgement.kind, why });
      yield;
    }
    return { removable: shown, kept: left };
  });
}
