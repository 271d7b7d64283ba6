import { setImmediate } from 'node:timers/promises';
import type { Maintenance } from '../storage/aggregate/maintain.ts';
import { createAggregator } from '../storage/commit/aggregator.ts';
import { Batch } from '../storage/commit/batch.ts';
import { RecordArrays } from '../storage/commit/records/record-arrays.ts';
import { SeriesDictionary, type SeriesLimits } from '../storage/commit/series-dictionary.ts';
import { horizonsAt, type Retention } from '../storage/lmdb/retention.ts';
import type { UsageStore } from '../storage/lmdb/usage.ts';
import type { Shares } from './flags.ts';
import { addCounts, addMetrics, variantsOf } from './history-counts.ts';
import { ledgerWriter } from './history-ledger.ts';
import { senderWriter } from './history-senders.ts';
import { addVisitors } from './history-visitors.ts';
import { createRandom } from './random.ts';
import type { Shop } from './shop.ts';
import { type Span, spansOf } from './spans.ts';
import type { Story } from './story.ts';

/** What the history is made of. */
export interface HistoryDeps {
  readonly usage: UsageStore;
  readonly shop: Shop;
  readonly story: Story;
  readonly retention: Retention;
  readonly limits: SeriesLimits;
  /** The HMAC key of people's digests: see `openDigestSecret`. */
  readonly secret: Buffer;
  /** The minute (since the epoch) before which the history ends. */
  readonly until: number;
  readonly stopping: AbortSignal;
}

/** Parts of a day that are committed together: what is not on disk yet is searched for each new one. */
const spansPerCommit = 96;

/**
 * Writes the days of the story as the commit worker writes packets: in batches, by the aggregator.
 * @throws {Error} when it is told to stop
 */
export async function writeHistory(deps: HistoryDeps): Promise<void> {
  const { usage, shop, story, stopping } = deps;
  const { write, maintain } = createAggregator(usage);
  const arrays = new RecordArrays();
  const linesOf = ledgerWriter(deps);
  const partsOf = dayWriter(deps);
  for (let day = story.rhythm.firstDay; day <= story.rhythm.today; day += 1) {
    let lines = linesOf(day);
    for (const fill of partsOf(day)) {
      stopping.throwIfAborted();
      const batch = new Batch(arrays);
      fill(batch);
      write(batch.seal(undefined, lines));
      batch.release();
      lines = [];
    }
    await setImmediate(); // A signal may have come.
  }
  for (const { number } of shop.application.environments) {
    const step = upkeepOf(deps, number);
    while (maintain(step) > 0) await setImmediate();
  }
}

/** What the service does in the background when an hour and a day are over: reports of a new demo are to be quick, too. */
function upkeepOf({ retention, until }: HistoryDeps, environment: number): Maintenance {
  const now = until * 60_000;
  return {
    task: 'retention',
    environment,
    horizons: horizonsAt(now, retention),
    now,
    exposureDays: 30,
    limit: 1000,
  };
}

/** What adds a part of a day to a batch. */
type Fill = (batch: Batch) => void;

function dayWriter({ usage, shop, story, retention, limits, secret, until }: HistoryDeps) {
  const dictionary = new SeriesDictionary(usage, limits);
  const horizons = horizonsAt(until * 60_000, retention);
  const random = createRandom(story.seed);
  const addSenders = senderWriter(until);
  return (day: number): Fill[] => {
    const given = new Map<string, ReadonlyMap<number, Shares>>();
    return inParts(spansOf(day, until, horizons)).map((spans, part) => (batch) => {
      for (const environment of shop.application.environments) {
        const place = { story, random, environment, batch, series: dictionary.of(environment.number) };
        const isProduction = environment.name === 'Production';
        if (isProduction && part === 0)
          given.set(environment.name, addVisitors(place, day, until, { shop, secret }));
        if (part === 0) addSenders(place, day);
        const variants = variantsOf(place, day, given.get(environment.name));
        for (const span of spans) {
          addCounts(place, span, variants);
          if (isProduction) addMetrics(place, span);
        }
      }
    });
  };
}

function inParts(spans: readonly Span[]): (readonly Span[])[] {
  const parts = Math.ceil(spans.length / spansPerCommit);
  return Array.from({ length: parts }, (_, part) =>
    spans.slice(part * spansPerCommit, (part + 1) * spansPerCommit),
  );
}
