import type { Sender, Verdict } from '../../contract/shapes/verdict.ts';
import { verdictRules } from '../../contract/verdicts.ts';
import { timeText } from '../../runtime/rfc3339.ts';
import { readCounts } from '../../storage/aggregate/read-counts.ts';
import { minutesPerDay } from '../../storage/lmdb/blocks.ts';
import { listSeries } from '../../storage/lmdb/series.ts';
import { fromSnapshot, type Reading, type Snapshot } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { showSender } from './senders-report.ts';
import { dayMs, type EnvironmentFacts, judge, listActions } from './verdict.ts';
import { checksOnlyIn, explainJudgement, type Figures, latestFirst } from './verdict-reasons.ts';
import { factsWithAskers, placesAt, type VerdictsTask } from './verdicts.ts';

export interface VerdictTask extends VerdictsTask {
  readonly feature: string;
}

/** A verdict without the similar declared name, which is not known here. */
type ReportedVerdict = Omit<Verdict, 'nearest'>;

/** Returns the verdict on one feature, with its reasons; `undefined` if it is neither declared nor seen. */
export function verdictReport(store: UsageTables, task: VerdictTask): Reading<ReportedVerdict | undefined> {
  const { environments, declared, feature, now, staleAfterMs } = task;
  return fromSnapshot(store.lmdb, function* (at) {
    const places = yield* placesAt(store, environments, now, at, new Set([feature]));
    const declaration = declared.find(({ name }) => name === feature);
    if (declaration === undefined && places.every(({ sights }) => !sights.has(feature))) return undefined;
    const known = factsWithAskers(store, places, feature, now, at);
    const facts = { declaration, environments: known, now, quietMs: staleAfterMs };
    const judgement = judge(facts);
    const checks = yield* readChecks(store, task, new Set([feature]), at);
    const figures = checks(feature, judgement.environments);
    return {
      feature,
      kind: judgement.kind,
      basis: verdictRules[judgement.kind].basis,
      since: timeText(judgement.since),
      staleAfterDays: staleAfterMs / dayMs,
      environments: [...judgement.environments],
      reasons: [...explainJudgement(facts, judgement, figures)],
      actions: [...listActions(judgement.kind, facts)],
      checksOnly: checksOnlyIn(facts, judgement),
      senders: latestAskers(known),
      declared: declaration !== undefined,
    };
  });
}

const mostSenders = 5;

function latestAskers(environments: readonly EnvironmentFacts[]): Sender[] {
  const askers = environments.flatMap(({ name, askers }) =>
    askers.map((sender) => ({ last: sender.last, shown: showSender(name, sender) })),
  );
  return latestFirst(askers)
    .slice(0, mostSenders)
    .map(({ shown }) => shown);
}

const days = 30;

/** Returns the recent checks of a feature in environments. */
type ChecksOf = (feature: string, environments: readonly string[]) => Figures;

/** Reads the recent checks of some features in one pass. */
export function* readChecks(
  store: UsageTables,
  { environments, now }: Pick<VerdictsTask, 'environments' | 'now'>,
  features: ReadonlySet<string>,
  at: Snapshot,
): Reading<ChecksOf> {
  const to = Math.ceil(now / 60_000) + 1;
  const span = { from: to - days * minutesPerDay, to };
  const counted = new Map<string, Map<string, Map<string, number>>>();
  for (const { name: environment, number } of environments) {
    const checks = new Map<string, Map<string, number>>();
    counted.set(environment, checks);
    const series = new Map<number, readonly [feature: string, variant: string]>();
    for (const { ordinal, name } of listSeries(store, number, at))
      if (name.length === 2 && features.has(name[0])) series.set(ordinal, name);
    if (series.size === 0) continue;
    const wanted = { ...span, grain: 'day', only: [...series.keys()] } as const;
    yield* readCounts(store, number, wanted, at, (block) => {
      for (let index = 0; index < block.size; index += 1) {
        const [feature, variant] = series.get(block.ordinals[index]!) ?? [];
        if (feature === undefined || variant === undefined) continue;
        const of = checks.get(feature) ?? new Map<string, number>();
        checks.set(feature, of.set(variant, (of.get(variant) ?? 0) + block.checks[index]!));
      }
    });
  }
  return (feature, names) => {
    const sum = new Map<string, number>();
    for (const name of names)
      for (const [variant, checks] of counted.get(name)?.get(feature) ?? [])
        sum.set(variant, (sum.get(variant) ?? 0) + checks);
    return { days, checks: sum };
  };
}
