/*
 * The verdict on a feature. It follows from when the feature was seen, which senders check it, and its declaration.
 * Every list, page, command, export and event uses this verdict; `src/contract/verdicts.ts` documents the rules.
 * Silence alone proves nothing: it matters only while the senders of the feature still report. The numbers of uses and
 * views do not affect a verdict, because some sources do not report them.
 */

import { surplusName } from '../../contract/names.ts';
import type { VerdictAction } from '../../contract/shapes/verdict.ts';
import type { VerdictKind } from '../../contract/verdicts.ts';
import type { FeatureDeclaration } from '../../storage/lmdb/records.ts';
import { type SeenSender, senderLife, slotMs } from '../../storage/lmdb/senders.ts';
import type { FeatureSight, Sight } from '../usage/sights.ts';

/** The facts about a feature in one environment. */
export interface EnvironmentFacts {
  readonly name: string;
  /** Times at which the feature was seen there; `undefined` for never. */
  readonly sight: FeatureSight | undefined;
  /** All senders of the environment. */
  readonly reporters: readonly SeenSender[];
  /** The senders that checked the feature there. */
  readonly askers: readonly SeenSender[];
}

export interface VerdictFacts {
  /** Declaration of the feature; `undefined` if it was only seen. */
  readonly declaration: FeatureDeclaration | undefined;
  readonly environments: readonly EnvironmentFacts[];
  /** Unix ms. */
  readonly now: number;
  /** Time without a message after which a feature or a sender counts as silent. */
  readonly quietMs: number;
}

export interface Judgement {
  readonly kind: VerdictKind;
  /** Time when the verdict became true, Unix ms; `null` if unknown. */
  readonly since: number | null;
  /** The environments to which the verdict applies. */
  readonly environments: readonly string[];
  /** The only variant, if the kind is `one_variant`. */
  readonly variant?: string;
  /** The variants seen recently, if the kind is `in_use`. */
  readonly variants?: readonly string[];
  /** The judgement that ignores the declaration. Present if the kind is `permanent` or `snoozed`. */
  readonly otherwise?: Judgement;
}

export const dayMs = 86_400_000;

/** Time for which a feature is new. Within a week, weekly jobs have reported and failed rollouts were stopped. */
const newMs = 7 * dayMs;

/** Returns the judgement at the time at which a feature was archived; `undefined` if the feature is not archived. */
export function judgeWhenArchived(facts: VerdictFacts): Judgement | undefined {
  const { declaration } = facts;
  if (!declaration?.archived || declaration.archivedAt === null) return undefined;
  return judgeUse({ ...facts, declaration: { ...declaration, archived: false }, now: declaration.archivedAt });
}

export function judge(facts: VerdictFacts): Judgement {
  const { declaration, now } = facts;
  const judged = judgeUse(facts);
  const { environments } = judged;
  if ((declaration?.snoozedUntil ?? 0) > now) {
    return { kind: 'snoozed', since: null, environments, otherwise: judged };
  }
  if (judged.kind === 'archived_but_asked' || !declaration?.permanent) return judged;
  return { kind: 'permanent', since: null, environments, otherwise: judged };
}

/** True if the feature was seen recently enough to count as in use. */
function isRecent({ now, quietMs }: VerdictFacts, { lastSeenAt }: Sight): boolean {
  return lastSeenAt !== null && now - lastSeenAt <= quietMs;
}

/** Returns the senders that still report. */
export function reporting({ now, quietMs }: VerdictFacts, senders: readonly SeenSender[]) {
  return senders.filter(({ last }) => now - last * slotMs <= quietMs + slotMs);
}

/**
 * Returns the senders that checked a feature and no longer report, in any version. All browsers count as one sender,
 * because a team does not choose the browsers of its users. Senders beyond the stored maximum count as one sender, too.
 */
export function goneAskers(facts: VerdictFacts, { askers, reporters }: EnvironmentFacts): readonly SeenSender[] {
  const still = new Set(reporting(facts, reporters).map(getProgram));
  return askers.filter((asker) => !still.has(getProgram(asker)));
}

/** Returns senders that named a feature recently, even in late reports, which do not change its last-seen time. */
export function lateAskers({ now, quietMs }: VerdictFacts, { askers }: EnvironmentFacts) {
  return askers.filter(({ last }) => now - last * slotMs <= quietMs);
}

/**
 * True if all senders that checked a feature are known. Not known are senders beyond the stored maximum, and senders of
 * imported counts. Senders are forgotten 90 days after their last message, and then count as switched off.
 */
export function areAskersKnown({ now }: VerdictFacts, { sight, askers }: EnvironmentFacts): boolean {
  const last = sight?.lastSeenAt ?? null;
  if (last !== null && now - last > senderLife * slotMs) return true;
  const isKnown = ({ name, route }: SeenSender) => name !== surplusName || route === 'telemetry';
  return last !== null && askers.length > 0 && askers.every(isKnown);
}

function getProgram({ route, name }: SeenSender): string {
  return route === 'telemetry' ? '' : name;
}

interface SeenEnvironment extends EnvironmentFacts {
  readonly sight: FeatureSight;
}

function judgeUse(facts: VerdictFacts): Judgement {
  const seen = facts.environments.filter((each): each is SeenEnvironment => each.sight !== undefined);
  if (seen.length === 0) return judgeNeverSeen(facts);
  const asked = seen.filter(({ sight }) => isAskedAfterArchiving(facts, sight));
  if (asked.length > 0) {
    return { kind: 'archived_but_asked', since: facts.declaration?.archivedAt ?? null, ...named(asked) };
  }
  const since = earliest(seen.map(({ sight }) => sight.firstSeenAt));
  if (since !== null && facts.now - since < newMs) return { kind: 'new', since, ...named(seen) };
  const recent = seen.filter(({ sight }) => isRecent(facts, sight));
  if (recent.length === 0) return judgeSilence(facts, seen);
  const given = variantsIn(facts, recent);
  return (
    judgeVariants(facts, seen, recent, given) ?? {
      kind: 'in_use',
      since,
      variants: [...given].sort(),
      ...named(recent),
    }
  );
}

/** Judges a feature that was only declared. */
function judgeNeverSeen(facts: VerdictFacts): Judgement {
  const since = facts.declaration?.createdAt ?? null;
  const { environments } = facts;
  if (since !== null && facts.now - since < newMs) return { kind: 'new', since, environments: [] };
  const live = environments.filter(({ reporters }) => reporting(facts, reporters).length > 0);
  if (live.length === 0) return { kind: 'cannot_tell', since, ...named(environments) };
  return { kind: 'not_seen', since, ...named(live) };
}

function isAskedAfterArchiving(facts: VerdictFacts, { lastSeenAt, ...sight }: Sight): boolean {
  const { declaration } = facts;
  if (!declaration?.archived || lastSeenAt === null) return false;
  return isRecent(facts, { ...sight, lastSeenAt }) && lastSeenAt > (declaration.archivedAt ?? 0);
}

/**
 * Judges a silent feature. Silence counts only if every sender that checked the feature is known, still reports, and
 * does not name it.
 */
function judgeSilence(facts: VerdictFacts, seen: readonly SeenEnvironment[]): Judgement {
  const since = latest(seen.map(({ sight }) => sight.lastSeenAt));
  const silent = seen.filter(
    (each) =>
      reporting(facts, each.reporters).length === 0 ||
      goneAskers(facts, each).length > 0 ||
      lateAskers(facts, each).length > 0,
  );
  if (silent.length > 0) return { kind: 'cannot_tell', since, ...named(silent) };
  const isSafe = seen.every((each) => areAskersKnown(facts, each));
  return { kind: isSafe ? 'safe_to_remove' : 'not_seen', since, ...named(seen) };
}

function variantsIn(facts: VerdictFacts, recent: readonly SeenEnvironment[]): ReadonlySet<string> {
  const variants = recent.flatMap(({ sight }) => [...sight.variants]);
  return new Set(variants.filter(([, sight]) => isRecent(facts, sight)).map(([variant]) => variant));
}

/** Judges whether a feature has had a single variant for a long time. Archived features are exempt. */
function judgeVariants(
  facts: VerdictFacts,
  seen: readonly SeenEnvironment[],
  recent: readonly SeenEnvironment[],
  given: ReadonlySet<string>,
): Judgement | undefined {
  const [variant] = given;
  if (variant === undefined || given.size > 1 || variant === surplusName) return undefined;
  const others = seen.flatMap(({ sight }) => [...sight.variants].filter(([name]) => name !== variant));
  const since =
    latest(others.map(([, { lastSeenAt }]) => lastSeenAt)) ?? earliest(seen.map(({ sight }) => sight.firstSeenAt));
  if (facts.declaration?.archived || (since !== null && facts.now - since <= facts.quietMs)) return undefined;
  return { kind: 'one_variant', since, variant, ...named(recent) };
}

function named(environments: readonly EnvironmentFacts[]): Pick<Judgement, 'environments'> {
  return { environments: environments.map(({ name }) => name) };
}

/** Returns the earliest time; `null` if a time is unknown. */
function earliest(times: readonly (number | null)[]): number | null {
  return times.reduce((one, other) => (one === null || other === null ? null : Math.min(one, other)), times[0] ?? null);
}

/** Returns the latest known time. */
function latest(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.max(...known);
}

const actions: Readonly<Record<VerdictKind, readonly VerdictAction[]>> = {
  safe_to_remove: ['copy', 'archive', 'snooze', 'permanent'],
  not_seen: ['copy', 'snooze', 'permanent', 'archive'],
  one_variant: ['copy', 'snooze', 'permanent', 'archive'],
  in_use: ['permanent', 'archive'],
  archived_but_asked: ['copy', 'unarchive', 'snooze'],
  cannot_tell: ['snooze', 'permanent', 'copy'],
  permanent: ['copy'],
  snoozed: ['copy', 'permanent', 'archive'],
  new: ['permanent', 'archive'],
};

/** Lists the suggested actions, the best first. An undeclared name should be declared, or searched for in the code. */
export function listActions(kind: VerdictKind, { declaration }: VerdictFacts): readonly VerdictAction[] {
  const possible = actions[kind].filter((action) => action !== 'archive' || !declaration?.archived);
  if (declaration !== undefined) return possible;
  return ['declare', 'copy', ...possible.filter((action) => action !== 'copy')];
}
