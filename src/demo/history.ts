import { setImmediate } from 'node:timers/promises';
import type { RandomBytes } from '../accounts/secrets.ts';
import { Ledger } from '../ingest/ledger/ledger.ts';
import { Senders } from '../ingest/senders.ts';
import type { Config } from '../serve/config/config.ts';
import { getRetention, getSeriesLimits } from '../serve/config/limits.ts';
import { createAggregator } from '../storage/commit/aggregator.ts';
import { Batch, LedgerTotals } from '../storage/commit/batch.ts';
import { RecordArrays } from '../storage/commit/record-buffer.ts';
import { digestWords } from '../storage/commit/records.ts';
import { type EnvironmentSeries, SeriesDictionary } from '../storage/commit/series-dictionary.ts';
import { bucketAt, ceilToBucket, type Horizons, horizonsAt, minutesPerDay } from '../storage/lmdb/blocks.ts';
import { digestIdentity, openDigestSecret } from '../storage/lmdb/instances.ts';
import type { LedgerLine } from '../storage/lmdb/ledger.ts';
import type { Environment, KeyRefusals } from '../storage/lmdb/records.ts';
import type { UsageTables } from '../storage/lmdb/usage.ts';
import type { DemoFeature } from './features.ts';
import { brokenSenders, type KeyName, ledgerSource, metrics, programs } from './programs.ts';
import { Random, type Shares } from './random.ts';
import type { RefusedByKey, Shop } from './shop.ts';
import { type ActiveFeature, historyDays, type Story } from './story.ts';

/** Number of visitors with exposures, and number of recent days on which these visitors have exposures. */
const knownVisitors = 300;
const knownDays = 30;

/** Number of buckets in a commit. A larger number is slower, because each new cell is searched for in the batch. */
const spansPerCommit = 96;

/** Reports the progress of filling the store. */
export interface Progress {
  days(done: number, total: number): void;
  /** Removes the progress line that is being rewritten. */
  end(): void;
}

interface HistoryDeps {
  readonly usage: UsageTables;
  readonly shop: Shop;
  readonly story: Story;
  /** End of the history, in minutes since the epoch. */
  readonly until: number;
  readonly config: Config;
  readonly randomBytes: RandomBytes;
  readonly progress: Progress;
}

/**
 * Writes the days of the story in batches with the aggregator, as the commit worker writes packets.
 * @returns the refused messages of each key
 * @throws {Error} when the disk fails, or when `stopping` is aborted
 */
export async function writeHistory(deps: HistoryDeps, stopping: AbortSignal): Promise<RefusedByKey> {
  const { usage, shop, story, until, config, progress } = deps;
  const now = until * 60_000;
  const horizons = horizonsAt(now, getRetention(config));
  const { write, maintain } = createAggregator(usage);
  const arrays = new RecordArrays();
  const writer = openWriter(deps);
  for (let day = story.today - historyDays; day <= story.today; day += 1) {
    const spans = [...listSpans(day, until, horizons)];
    for (let at = 0; at < spans.length; at += spansPerCommit) {
      stopping.throwIfAborted();
      const batch = new Batch(arrays);
      if (at === 0) beginDay(writer, batch, day);
      addCounts(writer, batch, spans.slice(at, at + spansPerCommit));
      write(batch.seal(undefined, at === 0 ? [...generateLedger(writer, day)] : []));
      batch.release();
    }
    progress.days(historyDays - (story.today - day), historyDays);
    await setImmediate(); // Lets the process handle a waiting signal.
  }
  // The service does this work in the background. It is done now, so that reports of a new demo are quick.
  for (const { number: environment } of shop.application.environments) {
    const step = { task: 'retention', environment, horizons, now, exposureDays: 30, limit: 1000 } as const;
    while (maintain(step) > 0) await setImmediate();
  }
  return writer.refused;
}

/** A time bucket of a day: one minute in the last two days, otherwise one hour. */
interface Span {
  /** Start, in minutes since the epoch. */
  readonly minute: number;
  readonly minutes: number;
  /** See `bucketAt`. */
  readonly bucket: number;
}

function* listSpans(day: number, until: number, horizons: Horizons): Generator<Span> {
  const end = Math.min(until, (day + 1) * minutesPerDay);
  for (let minute = day * minutesPerDay, next = minute; minute < end; minute = next) {
    next = Math.min(end, ceilToBucket(minute + 1, horizons));
    yield { minute, minutes: next - minute, bucket: bucketAt(minute, horizons) };
  }
}

type Writer = ReturnType<typeof openWriter>;

function openWriter(deps: HistoryDeps) {
  const { usage, config, randomBytes, story } = deps;
  const clock = { at: 0, now: () => clock.at, monotonic: () => clock.at };
  const totals = new LedgerTotals();
  return {
    ...deps,
    dictionary: new SeriesDictionary(usage, getSeriesLimits(config)),
    /** HMAC key for the digests of identities. */
    secret: openDigestSecret(usage, randomBytes),
    random: new Random(story.seed),
    senders: new Senders(),
    /** The flags that are checked on the current day. */
    active: new Map<Environment, readonly ActiveFeature[]>(),
    clock,
    totals,
    ledger: new Ledger({ store: usage, clock, findLane: () => ({ ledger: totals }) }),
    ledgerRandom: new Random(story.seed + 1),
    refused: new Map<KeyName, KeyRefusals>(),
  };
}

/** An environment, with its series in a batch. */
interface Place {
  readonly batch: Batch;
  readonly series: EnvironmentSeries;
  readonly environment: Environment;
  readonly active: readonly ActiveFeature[];
}

/** Adds the senders of a day, and the visitors of Production. */
function beginDay(writer: Writer, batch: Batch, day: number): void {
  const { shop, story, dictionary } = writer;
  for (const environment of shop.application.environments) {
    const active = story.activeFeatures(environment.name, day);
    const place = { batch, series: dictionary.of(environment.number), environment, active };
    addSenders(writer, place, day);
    const isVisited = environment.name === 'Production';
    writer.active.set(environment, isVisited ? addVisitors(writer, place, day) : active);
  }
}

/** Adds the counts and metrics of some buckets of the day. */
function addCounts({ story, dictionary, random, active: all }: Writer, batch: Batch, spans: readonly Span[]) {
  for (const [{ name, number }, active] of all) {
    const series = dictionary.of(number);
    for (const { minute, minutes, bucket } of spans) {
      const traffic = story.traffic(name, minute + minutes / 2);
      const computeMean = ({ asks }: DemoFeature) =>
        Object.values(asks).reduce((sum, each) => sum + each, 0) * traffic * minutes;
      for (const { feature, variant, counts } of story.counts(active, computeMean, random))
        batch.counts.add(series.variant(feature, variant, batch)!, bucket, ...counts);
      if (name !== 'Production') continue;
      for (const metric of metrics) {
        const value = metric.value(random, traffic, minutes);
        batch.measurements.add(series.metric(metric.name, batch)!, bucket, value, minute * 60_000);
      }
    }
  }
}

/** Yields the ledger lines of a day: accepted messages by sender, and refusals. */
function* generateLedger(writer: Writer, day: number): Generator<LedgerLine> {
  const end = Math.min(writer.until, (day + 1) * minutesPerDay);
  for (let minute = day * minutesPerDay; minute < end; minute += 60) {
    const minutes = Math.min(end - minute, 60);
    writer.clock.at = (minute + minutes) * 60_000 - 1;
    yield* accepted(writer, minute, minutes);
    yield* refused(writer, minute, minutes);
  }
}

function* accepted(writer: Writer, minute: number, minutes: number): Generator<LedgerLine> {
  const { shop, story, ledger } = writer;
  const { application } = shop;
  for (const environment of application.environments)
    for (const program of programs) {
      const perMinute = story.messagesPerMinute(program, environment.name, minute + minutes / 2);
      for (const [userAgent, share] of Object.entries(program.agents)) {
        const source = { ...ledgerSource(program, userAgent), application, environment };
        yield* repeated(writer, perMinute * minutes * share, () => ledger.accepted(source));
      }
    }
}

function* refused(writer: Writer, minute: number, minutes: number): Generator<LedgerLine> {
  const { shop, story, ledger, clock } = writer;
  const day = Math.floor(minute / minutesPerDay);
  for (const broken of brokenSenders) {
    const { key, environment, origin, refusal, source, daysAgo } = broken;
    const holder = shop.findHolder(key);
    if (holder === undefined || story.today - day > daysAgo) continue;
    const mean = minutes * story.refusedPerMinute(broken, minute + minutes / 2);
    const lines = repeated(writer, mean, () => ledger.refused(refusal, source, { holder, environment, origin }));
    const count = lines.reduce((sum, line) => sum + line.count, 0);
    if (count > 0) writer.refused.set(key, withRefused(writer.refused.get(key), refusal.code, count, clock.at));
    yield* lines;
  }
}

function withRefused(before: KeyRefusals | undefined, code: string, more: number, lastAt: number): KeyRefusals {
  const { count = 0, reasons = {} } = before ?? {};
  return { count: count + more, lastAt, reasons: { ...reasons, [code]: (reasons[code] ?? 0) + more } };
}

/** Returns the ledger lines of a random number of `record` calls. The mean of this number is `mean`. */
function repeated({ ledgerRandom, totals }: Writer, mean: number, record: () => void): LedgerLine[] {
  const count = ledgerRandom.poisson(mean);
  if (count === 0) return [];
  record();
  const lines = totals.take().lines();
  return lines.map((line) => ({ ...line, count }));
}

/** Adds the programs that checked flags on a day. */
function addSenders({ story, until, senders }: Writer, place: Place, day: number): void {
  const { batch, series, environment, active } = place;
  const minute = Math.min(until - 1, day * minutesPerDay + 17 * 60);
  if (story.traffic(environment.name, minute) === 0) return; // Some environments have no traffic at weekends.
  for (const program of programs) {
    const asked = active.filter(({ feature }) => feature.asks[program.name] !== undefined);
    for (const userAgent in program.agents) {
      const source = { ...ledgerSource(program, userAgent), appVersion: program.version };
      const sender =
        source.route === 'telemetry'
          ? senders.ofPacket(batch, environment.number, userAgent, minute * 60_000)
          : senders.ofReport(batch, environment.number, source, minute * 60_000);
      for (const { feature, shares } of asked) {
        const [variant = ''] = Object.keys(shares);
        sender.asked(feature.name, series.variant(feature.name, variant, batch)!, series, batch);
      }
    }
  }
}

/**
 * Adds the visitors of a day by their variants.
 * @returns the flags with the resulting shares of their variants
 */
function addVisitors(writer: Writer, { batch, series, active }: Place, day: number): ActiveFeature[] {
  const { story, shop, until, secret } = writer;
  const minute = day * minutesPerDay;
  const seconds = Math.min(until, minute + minutesPerDay / 2) * 60;
  const met = active.map((each) => ({ each, visits: new Map<string, { ref: number; count: number }>() }));
  for (const visitor of story.visitors(day, until)) {
    batch.users.add(series.whole, minute, visitor.high, visitor.low);
    const isKnown = visitor.number < knownVisitors && day > story.today - knownDays;
    const digest = () => digestIdentity(secret, shop.application.number, visitor.identity);
    if (isKnown) batch.exposures.addPerson(digestWords(digest()));
    for (const { each, visits } of met) {
      const variant = story.variantFor(visitor, each, day);
      if (variant === undefined) continue;
      let ofVariant = visits.get(variant);
      if (ofVariant === undefined) {
        ofVariant = { ref: series.variant(each.feature.name, variant, batch)!, count: 0 };
        visits.set(variant, ofVariant);
      }
      ofVariant.count += 1;
      batch.users.add(ofVariant.ref, minute, visitor.high, visitor.low);
      if (isKnown) batch.exposures.add(ofVariant.ref, seconds, ...createExposure(each.feature, writer.random));
    }
  }
  return met.map(({ each, visits }) => ({ ...each, shares: sharesIn(visits) ?? each.shares }));
}

/** Creates the exposure of a visitor. The visitor's programs check the flag a few times a day. */
function createExposure({ used, viewed }: DemoFeature, random: Random): [checks: number, uses: number, views: number] {
  const checks = 1 + random.poisson(3);
  const uses = used === 0 ? 0 : random.binomial(checks, 0.3);
  const views = viewed === 0 ? 0 : random.binomial(checks, 0.5);
  return [checks, uses, views];
}

function sharesIn(visits: ReadonlyMap<string, { readonly count: number }>): Shares | undefined {
  if (visits.size === 0) return undefined;
  const all = [...visits.values()].reduce((sum, { count }) => sum + count, 0);
  return Object.fromEntries(Array.from(visits, ([variant, { count }]) => [variant, count / all]));
}
