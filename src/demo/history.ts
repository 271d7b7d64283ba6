import { setImmediate } from 'node:timers/promises';
import type { RandomBytes } from '../accounts/secrets.ts';
import { Ledger } from '../ingest/ledger/ledger.ts';
import { Senders } from '../ingest/senders.ts';
import type { Config } from '../serve/config.ts';
import { limitsOf, retentionOf } from '../serve/limits.ts';
import { createAggregator } from '../storage/commit/aggregator.ts';
import { Batch } from '../storage/commit/batch.ts';
import { LedgerTallies } from '../storage/commit/ledger-tallies.ts';
import { RecordArrays } from '../storage/commit/record-buffer.ts';
import { digestWords } from '../storage/commit/records.ts';
import { type EnvironmentSeries, SeriesDictionary } from '../storage/commit/series-dictionary.ts';
import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import { digestIdentity, openDigestSecret } from '../storage/lmdb/instances.ts';
import type { LedgerLine } from '../storage/lmdb/ledger.ts';
import type { Environment } from '../storage/lmdb/records.ts';
import { bucketAt, ceilToBucket, type Horizons, horizonsAt } from '../storage/lmdb/retention.ts';
import type { UsageTables } from '../storage/lmdb/usage.ts';
import type { DemoFlag } from './flags.ts';
import { brokenSenders, ledgerSource, metrics, programs } from './programs.ts';
import { Random, type Shares } from './random.ts';
import type { Shop } from './shop.ts';
import { type ActiveFlag, historyDays, type Story } from './story.ts';

/** Visitors with exposures: the first customers of the shop, for the last days. */
const knownVisitors = 300;
const knownDays = 30;

/** Buckets in a commit. More are slower: each new cell is searched for in the batch. */
const spansPerCommit = 96;

interface HistoryDeps {
  readonly usage: UsageTables;
  readonly shop: Shop;
  readonly story: Story;
  /** The minute (since the epoch) before which the history ends. */
  readonly until: number;
  readonly config: Config;
  readonly randomBytes: RandomBytes;
}

/**
 * Writes the days of the story as the commit worker writes packets: in batches, by the aggregator.
 * @throws {Error} when the disk fails, or when `stopping` is aborted
 */
export async function writeHistory(deps: HistoryDeps, stopping: AbortSignal): Promise<void> {
  const { usage, shop, story, until, config } = deps;
  const now = until * 60_000;
  const horizons = horizonsAt(now, retentionOf(config));
  const { write, maintain } = createAggregator(usage);
  const arrays = new RecordArrays();
  const history = new History(deps);
  for (let day = story.today - historyDays; day <= story.today; day += 1) {
    const spans = [...spansOf(day, until, horizons)];
    for (let at = 0; at < spans.length; at += spansPerCommit) {
      stopping.throwIfAborted();
      const batch = new Batch(arrays);
      if (at === 0) history.begin(batch, day);
      history.addCounts(batch, spans.slice(at, at + spansPerCommit));
      write(batch.seal(undefined, at === 0 ? [...history.ledgerOf(day)] : []));
      batch.release();
    }
    await setImmediate(); // A signal may have come.
  }
  // What the service does in the background, so that reports of a new demo are quick.
  for (const { number: environment } of shop.application.environments) {
    const step = { task: 'retention', environment, horizons, now, exposureDays: 30, limit: 1000 } as const;
    while (maintain(step) > 0) await setImmediate();
  }
}

/** A bucket of a day: an hour, or a minute of the last two days. */
interface Span {
  /** Its start, in minutes since the epoch. */
  readonly minute: number;
  readonly minutes: number;
  /** See `bucketOf`. */
  readonly bucket: number;
}

function* spansOf(day: number, until: number, horizons: Horizons): Generator<Span> {
  const end = Math.min(until, (day + 1) * minutesPerDay);
  for (let minute = day * minutesPerDay, next = minute; minute < end; minute = next) {
    next = Math.min(end, ceilToBucket(minute + 1, horizons));
    yield { minute, minutes: next - minute, bucket: bucketAt(minute, horizons) };
  }
}

/** An environment in a batch. */
interface Place {
  readonly batch: Batch;
  readonly series: EnvironmentSeries;
  readonly environment: Environment;
  readonly active: readonly ActiveFlag[];
}

/** Adds the story to batches, one day after another. */
class History {
  readonly #deps: HistoryDeps;
  readonly #dictionary: SeriesDictionary;
  /** The HMAC key of people's digests. */
  readonly #secret: Buffer;
  readonly #random: Random;
  readonly #ledgerRandom: Random;
  readonly #senders = new Senders();
  readonly #ledger: Ledger;
  readonly #tallies = new LedgerTallies();
  #ledgerNow = 0;
  /** The flags of the current day, by environment. */
  readonly #active = new Map<Environment, readonly ActiveFlag[]>();

  constructor(deps: HistoryDeps) {
    const { usage, config, randomBytes, story } = deps;
    this.#deps = deps;
    this.#dictionary = new SeriesDictionary(usage, limitsOf(config));
    this.#secret = openDigestSecret(usage, randomBytes);
    this.#random = new Random(story.seed);
    this.#ledgerRandom = new Random(story.seed + 1);
    const now = () => this.#ledgerNow;
    const laneOf = () => ({ ledger: this.#tallies });
    this.#ledger = new Ledger({ store: usage, clock: { now, monotonic: now }, laneOf });
  }

  /** Adds the senders and Production's visitors of a day. */
  begin(batch: Batch, day: number): void {
    const { shop, story } = this.#deps;
    for (const environment of shop.application.environments) {
      const active = story.activeFlags(environment.name, day);
      const place = { batch, series: this.#dictionary.of(environment.number), environment, active };
      this.#addSenders(place, day);
      const isVisited = environment.name === 'Production';
      this.#active.set(environment, isVisited ? this.#addVisitors(place, day) : active);
    }
  }

  /** Adds the counts of some buckets of the day, and the metrics. */
  addCounts(batch: Batch, spans: readonly Span[]): void {
    const { story } = this.#deps;
    for (const [{ name, number }, active] of this.#active) {
      const series = this.#dictionary.of(number);
      for (const { minute, minutes, bucket } of spans) {
        const traffic = story.traffic(name, minute + minutes / 2);
        const meanOf = ({ asks }: DemoFlag) =>
          Object.values(asks).reduce((sum, each) => sum + each, 0) * traffic * minutes;
        for (const { feature, variant, counts } of story.counts(active, meanOf, this.#random))
          batch.counts.add(series.variant(feature, variant, batch)!, bucket, ...counts);
        if (name !== 'Production') continue;
        for (const metric of metrics) {
          const value = metric.value(this.#random, traffic, minutes);
          batch.measurements.add(series.metric(metric.name, batch)!, bucket, value, minute * 60_000);
        }
      }
    }
  }

  /** The ledger of a day: accepted messages by sender, and refusals. */
  *ledgerOf(day: number): Generator<LedgerLine> {
    const end = Math.min(this.#deps.until, (day + 1) * minutesPerDay);
    for (let minute = day * minutesPerDay; minute < end; minute += 60) {
      const minutes = Math.min(end - minute, 60);
      this.#ledgerNow = (minute + minutes) * 60_000 - 1;
      yield* this.#accepted(minute, minutes);
      yield* this.#refused(day, minutes);
    }
  }

  *#accepted(minute: number, minutes: number): Generator<LedgerLine> {
    const { shop, story } = this.#deps;
    const { application } = shop;
    for (const environment of application.environments)
      for (const program of programs) {
        const perMinute = story.messagesPerMinute(program, environment.name, minute + minutes / 2);
        for (const [userAgent, share] of Object.entries(program.agents)) {
          const source = { ...ledgerSource(program, userAgent), application, environment };
          yield* this.#repeated(perMinute * minutes * share, () => this.#ledger.accepted(source));
        }
      }
  }

  *#refused(day: number, minutes: number): Generator<LedgerLine> {
    const { shop, story } = this.#deps;
    for (const { key, environment, origin, refusal, source, ...broken } of brokenSenders) {
      if (story.today - day > broken.daysAgo) continue;
      const refused = { holder: shop.holderOf(key), environment, origin };
      const mean = (broken.perHour * minutes) / 60;
      yield* this.#repeated(mean, () => this.#ledger.refused(refusal, source, refused));
    }
  }

  /** The lines that `record` adds to the ledger, as if it ran `mean` times on average. */
  #repeated(mean: number, record: () => void): LedgerLine[] {
    const count = this.#ledgerRandom.poisson(mean);
    if (count === 0) return [];
    record();
    const lines = this.#tallies.take().lines();
    return lines.map((line) => ({ ...line, count }));
  }

  /** Adds the programs that asked for flags on a day. */
  #addSenders({ batch, series, environment, active }: Place, day: number): void {
    const minute = Math.min(this.#deps.until - 1, day * minutesPerDay + 17 * 60);
    if (this.#deps.story.traffic(environment.name, minute) === 0) return; // Nobody works at weekends.
    for (const program of programs) {
      const asked = active.filter(({ flag }) => flag.asks[program.name] !== undefined);
      for (const userAgent in program.agents) {
        const source = { ...ledgerSource(program, userAgent), appVersion: program.version };
        const sender =
          source.route === 'telemetry'
            ? this.#senders.ofPacket(batch, environment.number, userAgent, minute * 60_000)
            : this.#senders.ofReport(batch, environment.number, source, minute * 60_000);
        for (const { flag, shares } of asked) {
          const [variant = ''] = Object.keys(shares);
          sender.asked(flag.name, series.variant(flag.name, variant, batch)!, series, batch);
        }
      }
    }
  }

  /** Adds the visitors of a day by their variants. @returns the flags with the resulting shares */
  #addVisitors({ batch, series, active }: Place, day: number): ActiveFlag[] {
    const { story, shop, until } = this.#deps;
    const minute = day * minutesPerDay;
    const seconds = Math.min(until, minute + minutesPerDay / 2) * 60;
    const visits = new Map<DemoFlag, Map<string, number>>();
    for (const visitor of story.visitors(day, until)) {
      batch.users.add(series.whole, minute, visitor.high, visitor.low);
      const isKnown = visitor.number < knownVisitors && day > story.today - knownDays;
      const digest = () => digestIdentity(this.#secret, shop.application.number, visitor.identity);
      if (isKnown) batch.exposures.addPerson(digestWords(digest()));
      for (const { flag, variant } of story.met(visitor, active, day)) {
        const ref = series.variant(flag.name, variant, batch)!;
        const ofFlag = visits.get(flag) ?? new Map<string, number>();
        visits.set(flag, ofFlag.set(variant, (ofFlag.get(variant) ?? 0) + 1));
        batch.users.add(ref, minute, visitor.high, visitor.low);
        if (isKnown) this.#addExposure(batch, flag, ref, seconds);
      }
    }
    return active.map((each) => ({ ...each, shares: sharesIn(visits.get(each.flag)) ?? each.shares }));
  }

  /** A visitor checks a flag a few times a day. */
  #addExposure(batch: Batch, { used, viewed }: DemoFlag, ref: number, seconds: number): void {
    const checks = 1 + this.#random.poisson(3);
    const uses = used === 0 ? 0 : this.#random.binomial(checks, 0.3);
    const views = viewed === 0 ? 0 : this.#random.binomial(checks, 0.5);
    batch.exposures.add(ref, seconds, checks, uses, views);
  }
}

function sharesIn(visits: ReadonlyMap<string, number> | undefined): Shares | undefined {
  if (visits === undefined) return undefined;
  const all = [...visits.values()].reduce((sum, each) => sum + each);
  return Object.fromEntries(Array.from(visits, ([variant, count]) => [variant, count / all]));
}
