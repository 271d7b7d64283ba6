import { createHash } from 'node:crypto';
import type { ActivityKind } from '../../contract/activity.ts';
import type { ActivityItem } from '../../contract/shapes/activity.ts';
import { timeText } from '../../runtime/rfc3339.ts';

/** A fact that the feed shows. */
export interface Fact extends Partial<Omit<ActivityItem, 'id' | 'at' | 'until'>> {
  readonly kind: ActivityKind;
  /** Time of the fact, Unix ms. */
  readonly at: number;
  /**
   * Identifies the fact among the facts of its kind, in every request. The key of a change is its number in the audit
   * log. Changes of the same millisecond are therefore in the order of the log.
   */
  readonly key: number | readonly (string | number | null)[];
  readonly text: string;
  /** End of the fact, Unix ms. */
  readonly until?: number | null;
}

function showFact({ key, at, until = null, ...fact }: Fact): ActivityItem {
  return {
    id: typeof key === 'number' ? `change-${String(key).padStart(12, '0')}` : `${fact.kind}-${hashKey(key)}`,
    at: timeText(at),
    kind: fact.kind,
    environment: fact.environment ?? null,
    feature: fact.feature ?? null,
    subject: fact.subject ?? null,
    text: fact.text,
    by: fact.by ?? null,
    changes: fact.changes ?? [],
    until: timeText(until),
  };
}

function hashKey(key: object): string {
  return createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 16);
}

export interface ActivityFilter {
  /** Range in Unix ms; `to` is excluded. */
  readonly from: number;
  readonly to: number;
  readonly environment: string | undefined;
  readonly feature: string | undefined;
  /** Kinds to show; all if empty. */
  readonly kinds: readonly ActivityKind[];
  /** Text to search for, in lower case. */
  readonly search: string | undefined;
  /** Position of the last item of the previous page. */
  readonly after: string | undefined;
  readonly limit: number;
}

/**
 * Returns the items of a page, the latest first, and one more item if another page follows.
 * @param facts facts in any order
 */
export function pageOfFacts(facts: Iterable<Fact>, filter: ActivityFilter): readonly ActivityItem[] {
  const items: ActivityItem[] = [];
  for (const fact of facts) if (isWanted(fact, filter)) items.push(showFact(fact));
  return latest(items, filter);
}

/** Merges several pages into one page: see `pageOfFacts`. */
export function latest(items: readonly ActivityItem[], { after, limit }: ActivityFilter): readonly ActivityItem[] {
  return items
    .map((item) => ({ item, position: formatPosition(item) }))
    .filter(({ position }) => after === undefined || position < after)
    .sort((one, other) => (one.position < other.position ? 1 : -1))
    .slice(0, limit + 1)
    .map(({ item }) => item);
}

/** Returns the unique position of an item. Positions sort by time. */
export function formatPosition({ at, id }: ActivityItem): string {
  return `${at} ${id}`;
}

function isWanted(fact: Fact, { from, to, environment, feature, kinds, search }: ActivityFilter): boolean {
  return (
    fact.at >= from &&
    fact.at < to &&
    (environment === undefined || (fact.environment ?? environment) === environment) &&
    (feature === undefined || fact.feature === feature) &&
    (kinds.length === 0 || kinds.includes(fact.kind)) &&
    (search === undefined || formatFact(fact).includes(search))
  );
}

function formatFact({ feature, subject, text, by }: Fact): string {
  return [feature, subject, text, by?.name].join('\n').toLowerCase();
}
