import { setImmediate } from 'node:timers/promises';
import type { RandomBytes } from '../accounts/secrets.ts';
import { Senders } from '../ingest/senders.ts';
import type { Config } from '../serve/config.ts';
import { limitsOf, retentionOf } from '../serve/limits.ts';
import { createAggregator } from '../storage/commit/aggregator.ts';
import { Batch } from '../storage/commit/batch.ts';
import { digestWords } from '../storage/commit/digest.ts';
import { RecordArrays } from '../storage/commit/records/record-arrays.ts';
import { type EnvironmentSeries, SeriesDictionary } from '../storage/commit/series-dictionary.ts';
import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import { digestIdentity, openDigestSecret } from '../storage/lmdb/instances.ts';
import type { LedgerLine } from '../storage/lmdb/ledger.ts';
import type { Environment } from '../storage/lmdb/records.ts';
import { bucketAt, ceilToBucket, type Horizons, horizonsAt } from '../storage/lmdb/retention.ts';
import type { DemoFlag } from './flags.ts';
import { type HistoryDeps, ledgerHistory } from './history-ledger.ts';
import { metrics } from './metrics.ts';
import { Random, type Shares } from './random.ts';
import { historyDays } from './rhythm.ts';
import { ledgerSource, programs } from './senders.ts';
import type { ActiveFlag } from './story.ts';

/** Visitors whose variants the history keeps: the first customers of the shop, for some days. */
const knownVisitors = 300;
const knownDays = 30;

/** Buckets that are committed together: what is not on disk yet is searched for each new one. */
const spansPerCommit = 96;

/** What is needed besides to write it. */
interface Writing {
  readonly config: Config;
  readonly randomBytes: RandomBytes;
  readonly stopping: AbortSignal;
}

/**
 * Writes the days of the story as the commit worker writes packets: in batches, by the aggregator.
 * @throws {Error} when the disk fails, or when it is told to stop
 */
export async function writeHistory(
  deps: HistoryDeps,
  { config, randomBytes, stopping }: Writing,
): Promise<void> {
  const { usage, shop, story, until } = deps;
  const now = until * 60_000;
  const horizons = horizonsAt(now, retentionOf(config));
  const { write, maintain } = createAggregator(usage);
  const arrays = new RecordArrays();
  const commit = (fill: (batch: Batch) => void, ledger: Iterable<LedgerLine>) => {
    stopping.throwIfAborted();
    const batch = new Batch(arrays);
    fill(batch);
    write(batch.seal(undefined, [...ledger]));
    batch.release();
  };
  const ledgerOf = ledgerHistory(deps);
  const dictionary = new SeriesDictionary(usage, limitsOf(config));
  const history = new DayHistory(deps, dictionary, openDigestSecret(usage, randomBytes));
  const { today } = story.rhythm;
  for (let day = today - historyDays; day <= today; day += 1) {
    const spans = [...spansOf(day, until, horizons)];
    for (let at = 0; at < spans.length; at += spansPerCommit)
      commit(
        (batch) => {
          if (at === 0) history.begin(batch, day);
          history.addCounts(batch, spans.slice(at, at + spansPerCommit));
        },
        at === 0 ? ledgerOf(day) : [],
      );
    await setImmediate(); // A signal may have come.
  }
  // What the service does in the background, so that reports of a new demo are quick, too.
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

/** Adds what happened on one day after the other to batches. */
class DayHistory {
  readonly #deps: HistoryDeps;
  readonly #dictionary: SeriesDictionary;
  readonly #secret: Buffer;
  readonly #random: Random;
  readonly #senders = new Senders();
  /** The flags of the current day, by environment. */
  readonly #active = new Map<Environment, readonly ActiveFlag[]>();

  /** @param secret the HMAC key of people's digests */
  constructor(deps: HistoryDeps, dictionary: SeriesDictionary, secret: Buffer) {
    this.#deps = deps;
    this.#dictionary = dictionary;
    this.#secret = secret;
    this.#random = new Random(deps.story.seed);
  }

  /** Begins a day: with who asked, and with Production's visitors. */
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

  /** Adds the checks, uses and views of some buckets of the day, and the metrics. */
  addCounts(batch: Batch, spans: readonly Span[]): void {
    const { story } = this.#deps;
    for (const [{ name, number }, active] of this.#active) {
      const series = this.#dictionary.of(number);
      for (const { minute, minutes, bucket } of spans) {
        const traffic = story.rhythm.at(name, minute + minutes / 2);
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

  /** Adds the programs that asked for flags on a day. */
  #addSenders({ batch, series, environment, active }: Place, day: number): void {
    const minute = Math.min(this.#deps.until - 1, day * minutesPerDay + 17 * 60);
    if (this.#deps.story.rhythm.at(environment.name, minute) === 0) return; // No one works on a weekend.
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

  /** Adds the visitors of a day by the variants that they got. @returns the flags with the shares that came of it */
  #addVisitors({ batch, series, active }: Place, day: number): ActiveFlag[] {
    const { story, shop, until } = this.#deps;
    const minute = day * minutesPerDay;
    const seconds = Math.min(until, minute + minutesPerDay / 2) * 60;
    const visits = new Map<DemoFlag, Map<string, number>>();
    for (const visitor of story.visitors(day, until)) {
      batch.users.add(series.whole, minute, visitor.high, visitor.low);
      const isKnown = visitor.number < knownVisitors && day > story.rhythm.today - knownDays;
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
