import { surplusName } from '../../contract/names.ts';
import { compactNumbers, shares } from '../../contract/numbers.ts';
import { isBrowser, programText } from '../../contract/programs.ts';
import type { ActivityItem } from '../../contract/shapes/activity.ts';
import type { Page } from '../../contract/shapes/fields.ts';
import { writeCursor } from '../../http/lists.ts';
import { type LedgerEntry, ledgerEntries, ledgerLifeHours } from '../../storage/lmdb/ledger.ts';
import type { Environment } from '../../storage/lmdb/records.ts';
import { type SeenSender, slotMs } from '../../storage/lmdb/senders.ts';
import { environmentOrdinal } from '../../storage/lmdb/sketches.ts';
import { fromSnapshot, type Reading, readEach, type Snapshot } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { type FeatureSight, sightsAt } from '../usage/sights.ts';
import { sendersAt } from '../verdicts/senders-report.ts';
import { type ActivityFilter, type Fact, formatPosition, latest, pageOfFacts } from './facts.ts';
import { type Moves, movesIn, type SplitMove, type TrafficMove } from './split-moves.ts';

/*
 * src/reports/activity: the items of an activity feed. change-facts.ts finds changes by people in the audit log.
 * report.ts and split-moves.ts find changes in the data. They run in the report thread.
 */

export interface ActivityTask extends ActivityFilter {
  /** Number of the application. */
  readonly application: number;
  /** All environments of the application. */
  readonly environments: readonly Pick<Environment, 'name' | 'number'>[];
  /** The names of application keys by id. */
  readonly keys: ReadonlyMap<string, string>;
  /** Changes by people, and leaked keys: see `pageOfFacts`. */
  readonly changes: readonly ActivityItem[];
  /** True to include facts from the data. These facts have no author. */
  readonly data: boolean;
  /** Unix ms. */
  readonly now: number;
}

/** First and last times at which the features and senders of an environment were seen. */
interface Sights {
  readonly features: ReadonlyMap<string, FeatureSight>;
  readonly senders: readonly SeenSender[];
}

/** Maximum age of cached refusals, and of cached times at which features and senders were seen, ms. */
const freshMs = 20_000;
/** Maximum age of cached moves (lasting changes of splits and traffic), ms. New moves are found about once a day. */
const movesMs = 600_000;

/** Finds the changes in the data of applications, and caches them. */
export class ActivityFeed {
  readonly #store: UsageTables;
  readonly #sights = new ResultCache<Sights>(freshMs);
  readonly #refusals = new ResultCache<readonly RefusalPeriod[]>(freshMs);
  readonly #moves = new ResultCache<Moves>(movesMs);

  constructor(store: UsageTables) {
    this.#store = store;
  }

  /** Returns a page of the feed, the latest item first. */
  *page(task: ActivityTask): Reading<Page<ActivityItem>> {
    const store = this.#store;
    const facts = task.data ? yield* fromSnapshot(store.lmdb, (at) => this.#facts(task, at)) : [];
    const items = latest([...task.changes, ...pageOfFacts(facts, task)], task);
    const shown = items.slice(0, task.limit);
    const last = items.length > task.limit ? shown.at(-1) : undefined;
    return { items: shown, nextCursor: last === undefined ? null : writeCursor(formatPosition(last)) };
  }

  *#facts(task: ActivityTask, at: Snapshot): Reading<readonly Fact[]> {
    const store = this.#store;
    const { now, application, environments, kinds } = task;
    const wants = (...some: readonly Fact['kind'][]) => kinds.length === 0 || kinds.some((kind) => some.includes(kind));
    const facts: Fact[] = [];
    for (const { name, number } of environments) {
      if (name !== (task.environment ?? name)) continue;
      const sights = yield* this.#sights.get(`${number}`, now, function* () {
        const senders = sendersAt(store, number, environmentOrdinal, now, at);
        return { features: yield* sightsAt(store, number, at), senders };
      });
      for (const fact of featureFacts(name, number, sights, now)) facts.push(fact);
      for (const fact of senderFacts(name, number, sights)) facts.push(fact);
      if (!wants('split_moved', 'traffic_moved')) continue;
      const today = Math.floor(now / dayMs);
      const moves = yield* this.#moves.get(`${number} ${today}`, now, () => movesIn(store, number, now, at));
      for (const move of moves.splits) facts.push(splitFact(name, number, move));
      for (const move of moves.traffic) facts.push(trafficFact(name, number, move));
    }
    if (!wants('refused')) return facts;
    const hour = Math.floor(now / hourMs);
    const hours = { from: hour - ledgerLifeHours, to: hour + 1 };
    const read = () => readRefusals(store, application, hours, at);
    const periods = yield* this.#refusals.get(`${application}`, now, read);
    for (const period of periods) facts.push(refusalFact(task, period, hour));
    return facts;
  }
}

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

/** A variant is reported as new only if it was first seen more than this time after its feature, ms. */
const laterMs = hourMs;
/** Duration after which a feature or environment counts as silent, ms. A week allows for features of weekly jobs. */
const silence = { feature: 7 * dayMs, environment: dayMs };

/** Yields facts about new features, new variants, silent features and a silent environment. */
function* featureFacts(
  environment: string,
  number: number,
  { features, senders }: Sights,
  now: number,
): Generator<Fact> {
  let last = senders.reduce((latest, sender) => Math.max(latest, sender.last * slotMs), 0);
  for (const { lastSeenAt } of features.values()) last = Math.max(last, lastSeenAt ?? 0);
  if (last > 0 && now - last >= silence.environment)
    yield {
      kind: 'environment_silent',
      at: last,
      key: [number, last],
      environment,
      text: 'Nothing received since then',
    };
  for (const [feature, { firstSeenAt, lastSeenAt, variants }] of features) {
    const of = { environment, feature };
    if (firstSeenAt !== null)
      yield { kind: 'first_seen', at: firstSeenAt, key: [number, feature], ...of, text: 'First seen' };
    if (lastSeenAt !== null && last - lastSeenAt >= silence.feature)
      yield {
        kind: 'flag_silent',
        at: lastSeenAt,
        key: [number, feature, lastSeenAt],
        ...of,
        text: 'Not seen since then',
      };
    for (const [variant, sight] of variants) {
      const at = sight.firstSeenAt;
      if (at === null || firstSeenAt === null || at - firstSeenAt <= laterMs) continue;
      const key = [number, feature, variant];
      yield { kind: 'new_variant', at, key, ...of, subject: variant, text: `New variant: ${variant}` };
    }
  }
}

/** Yields facts about new programs and about new versions of programs. */
function* senderFacts(environment: string, number: number, { senders }: Sights): Generator<Fact> {
  const programs = new Map<string, { first: number; readonly versions: Map<string, number> }>();
  for (const { name, version, first } of senders) {
    if (isBrowser(name) || name === surplusName) continue;
    const program = programs.get(name) ?? { first, versions: new Map() };
    programs.set(name, program);
    program.first = Math.min(program.first, first);
    if (version !== null) program.versions.set(version, Math.min(first, program.versions.get(version) ?? first));
  }
  for (const [subject, { first, versions }] of programs) {
    const of = { environment, subject };
    const text = `New sender: ${subject}`;
    yield { kind: 'sender_first_seen', at: first * slotMs, key: [number, subject], ...of, text };
    for (const [version, since] of versions) {
      if (since === first) continue;
      const key = [number, subject, version];
      yield { kind: 'sender_released', at: since * slotMs, key, ...of, text: `${subject} ${version} first seen` };
    }
  }
}

/** Minimum change of a variant's share. Variants with a smaller change are not listed. */
const shownShare = 0.01;
const maxShown = 4;

function splitFact(environment: string, number: number, { feature, day, minute, shares }: SplitMove): Fact {
  const changes = shares
    .filter(({ from, to }) => Math.abs(to - from) >= shownShare)
    .slice(0, maxShown)
    .map(({ variant, from, to }) => ({ field: variant, from: percent(from), to: percent(to) }));
  const moved = changes.map(({ field, from, to }) => `${field} ${from} → ${to}`);
  return {
    kind: 'split_moved',
    at: minute * minuteMs,
    key: [number, feature, day],
    environment,
    feature,
    subject: changes[0]?.field ?? null,
    text: `Split moved: ${moved.join(', ')}`,
    changes,
  };
}

const shareText = shares('en');
/** Rounds, because a mean over days can differ from 0 or 1 by a rounding error. */
const percent = (share: number) => shareText(Math.round(share * 10_000) / 10_000);
const compact = compactNumbers('en');

function trafficFact(environment: string, number: number, { minute, from, to }: TrafficMove): Fact {
  const change = { field: 'checks a day', from: compact(from), to: compact(to) };
  return {
    kind: 'traffic_moved',
    at: minute * minuteMs,
    key: [number, minute],
    environment,
    text: `Traffic ${to > from ? 'rose' : 'fell'}: ${change.from} → ${change.to} checks a day`,
    changes: [change],
  };
}

/** Returns the fact for a period of refusals. A period whose last refusal is less than an hour old can continue. */
function refusalFact({ environments, keys }: ActivityTask, period: RefusalPeriod, hour: number): Fact {
  const { environment, code, keyId, firstHour, lastHour, count } = period;
  const isOver = hour - lastHour > 1;
  const senders = [...period.senders].map(programText);
  if (period.otherSenders) senders.push('others');
  const key = keyId === null ? undefined : keys.get(keyId);
  const details = [
    `${compact(count)} messages`,
    key !== undefined && `key ${key}`,
    senders.length > 0 && `from ${[...new Set(senders)].join(', ')}`,
    !isOver && 'still',
  ];
  return {
    kind: 'refused',
    at: firstHour * hourMs,
    key: [environment, code, keyId, firstHour],
    environment: environments.find(({ number }) => number === environment)?.name ?? null,
    subject: key ?? senders[0] ?? null,
    text: `Refused: ${code} (${details.filter(Boolean).join(', ')})`,
    until: isOver ? (lastHour + 1) * hourMs : null,
  };
}

/** Maximum number of cached results. */
const most = 32;

/** Caches the results of readings for some time. When it is full, the oldest result is dropped. */
class ResultCache<T> {
  readonly #freshMs: number;
  readonly #kept = new Map<string, { readonly readAt: number; readonly result: T }>();

  constructor(freshMs: number) {
    this.#freshMs = freshMs;
  }

  /** Returns a cached or new result. @param now Unix ms */
  *get(key: string, now: number, read: () => Reading<T>): Reading<T> {
    const known = this.#kept.get(key);
    if (known !== undefined && Math.abs(now - known.readAt) < this.#freshMs) return known.result;
    const result = yield* read();
    this.#kept.delete(key);
    this.#kept.set(key, { readAt: now, result });
    if (this.#kept.size > most) this.#kept.delete([...this.#kept.keys()][0]!);
    return result;
  }
}

/**
 * Consecutive hours in which messages were refused for the same reason. All messages have the same key, or none of them
 * has a known key.
 */
interface RefusalPeriod {
  /** Number of the environment; `null` if no environment was named, or the application does not have it. */
  readonly environment: number | null;
  readonly code: string;
  readonly keyId: string | null;
  /** First hour, in hours since the epoch. */
  readonly firstHour: number;
  lastHour: number;
  count: number;
  /** The names of some senders. */
  readonly senders: Set<string>;
  /** True if there were more senders than `senders` lists. */
  otherSenders: boolean;
}

/** Number of hours without a refusal after which the next refusal starts a new period. */
const pauseHours = 24;

const dayHours = 24;
const maxSenders = 3;
/** Maximum number of periods of an application. The latest periods are kept. */
const maxPeriods = 1000;

/** Reads the periods of refusals of an application, latest first, including periods that began before `from` (hours). */
function* readRefusals(
  store: UsageTables,
  application: number,
  hours: { readonly from: number; readonly to: number },
  at: Snapshot,
): Reading<readonly RefusalPeriod[]> {
  const open = new Map<string, RefusalPeriod & { firstHour: number }>();
  const found: RefusalPeriod[] = [];
  const take = ({ hour, dimensions, count, example }: LedgerEntry) => {
    const { environment, code, userAgent } = dimensions;
    if (code === null || found.length >= maxPeriods) return;
    const keyId = example?.keyId ?? null;
    const name = `${environment} ${code} ${keyId}`;
    let period = open.get(name);
    // Entries are sorted by hour, the latest hour first.
    if (period === undefined || period.firstHour - hour > pauseHours) {
      const of = { environment, code, keyId, firstHour: hour, lastHour: hour };
      period = { ...of, count: 0, senders: new Set(), otherSenders: false };
      open.set(name, period);
      found.push(period);
    }
    period.firstHour = hour;
    period.count += count;
    if (userAgent === null || period.senders.has(userAgent)) return;
    if (period.senders.size < maxSenders && userAgent !== surplusName) period.senders.add(userAgent);
    else period.otherSenders = true;
  };
  for (let to = hours.to; to > hours.from; to -= dayHours) {
    const from = Math.max(hours.from, to - dayHours);
    yield* readEach(ledgerEntries(store, application, from, to, at, 'refused'), take);
    yield; // Pause here, because `readEach` does not pause while it skips the many accepted messages.
  }
  return found;
}
