import { hoursWritten, ledgerEntries } from '../storage/lmdb/ledger.ts';
import { fromSnapshot, type Reading, readEach, type Snapshot } from '../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../storage/lmdb/usage.ts';

export interface HomeTask {
  /** Numbers of the applications. */
  readonly applications: readonly number[];
  /** Unix ms. */
  readonly now: number;
}

/** The messages of an application in an hour. */
interface HourlyMessages {
  accepted: number;
  refused: number;
  /** Time of the last accepted message, Unix ms; 0 for never. */
  lastAt: number;
}

export interface ApplicationMessages {
  /** The last 24 hours, ending with the current hour. */
  readonly hours: readonly Readonly<HourlyMessages>[];
  readonly rate: Rate;
}

/** Accepted messages per second, averaged over the last minute or hour. */
interface Rate {
  readonly perSecond: number;
  readonly overSeconds: number;
}

export const hoursShown = 24;

const hourMs = 3_600_000;
/** Interval at which complete hours are read again, because late messages of another node can change them. */
const againMs = 600_000;
/** Maximum number of applications whose complete hours one report reads again. */
const mostAgain = 20;
/** Maximum time over which samples are averaged. */
const rateMs = 60_000;

interface Sample {
  readonly at: number;
  readonly hour: number;
  readonly accepted: number;
}

interface CachedMessages {
  readAt: number;
  /** Messages of the complete hours. */
  readonly over: Map<number, HourlyMessages>;
  samples: Sample[];
}

/** The messages of applications in the last 24 hours. The counts of complete hours are cached. */
export class HomeFigures {
  readonly #store: UsageTables;
  readonly #known = new Map<number, CachedMessages>();

  constructor(store: UsageTables) {
    this.#store = store;
  }

  /** Reads the messages of each application, in the order of the task. */
  read({ applications, now }: HomeTask): Reading<ApplicationMessages[]> {
    const readOne = (number: number, known: CachedMessages | undefined, at: Snapshot) =>
      this.#readOne(number, now, known, at);
    const remembered = this.#known;
    return fromSnapshot(this.#store.lmdb, function* (at) {
      let again = mostAgain;
      const read: ApplicationMessages[] = [];
      for (const number of applications) {
        const known = remembered.get(number);
        const isAgain = known !== undefined && now - known.readAt >= againMs && again > 0;
        if (isAgain) again -= 1;
        read.push(yield* readOne(number, isAgain ? undefined : known, at));
      }
      return read;
    });
  }

  *#readOne(
    application: number,
    now: number,
    known: CachedMessages | undefined,
    at: Snapshot,
  ): Reading<ApplicationMessages> {
    const last = Math.floor(now / hourMs);
    const first = last - hoursShown + 1;
    const over = known?.over ?? new Map<number, HourlyMessages>();
    const firstUnknown = known === undefined ? first : Math.max(first, ...[...over.keys()].map((hour) => hour + 1));
    const fresh = new Map<number, HourlyMessages>();
    const entries = ledgerEntries(this.#store, application, firstUnknown, last + 1, at);
    yield* readEach(entries, ({ hour, dimensions, count, lastAt }) => {
      const { outcome } = dimensions;
      if (outcome === 'noted') return;
      const sum = fresh.get(hour) ?? none();
      fresh.set(hour, sum);
      sum[outcome] += count;
      if (outcome === 'accepted') sum.lastAt = Math.max(sum.lastAt, lastAt);
    });
    const complete = hoursWritten(now);
    for (let hour = firstUnknown; hour < complete; hour += 1) over.set(hour, fresh.get(hour) ?? none());
    for (const hour of over.keys()) if (hour < first) over.delete(hour);
    const hours = Array.from({ length: hoursShown }, (_, index) => {
      const hour = first + index;
      return over.get(hour) ?? fresh.get(hour) ?? none();
    });
    const samples = this.#known.get(application)?.samples ?? [];
    const remembered = { readAt: known?.readAt ?? now, over, samples };
    this.#known.set(application, remembered);
    return { hours, rate: computeRate(remembered, hours, now) };
  }
}

/** Takes a sample, and computes the rate since the oldest sample of the last minute. */
function computeRate(remembered: CachedMessages, hours: readonly HourlyMessages[], now: number): Rate {
  const last = Math.floor(now / hourMs);
  const acceptedIn = (hour: number) => hours[hours.length - 1 - (last - hour)]?.accepted ?? 0;
  const samples = remembered.samples.filter(({ at }) => now - at <= rateMs && at <= now);
  remembered.samples = [...samples, { at: now, hour: last, accepted: acceptedIn(last) }];
  const [oldest] = samples;
  if (oldest === undefined || oldest.at === now) return rateOfHour(hours, now);
  let accepted = -oldest.accepted;
  for (let hour = oldest.hour; hour <= last; hour += 1) accepted += acceptedIn(hour);
  return perSecond(accepted, (now - oldest.at) / 1000);
}

/** Computes the rate without samples, from the current hour and, in its first minutes, the previous hour. */
function rateOfHour(hours: readonly HourlyMessages[], now: number): Rate {
  const seconds = (now % hourMs) / 1000;
  const [previous, current] = hours.slice(-2);
  if (seconds >= 300) return perSecond(current!.accepted, seconds);
  return perSecond(previous!.accepted + current!.accepted, 3600 + seconds);
}

function perSecond(count: number, seconds: number): Rate {
  return { perSecond: Math.max(0, count) / seconds, overSeconds: Math.round(seconds) };
}

function none(): HourlyMessages {
  return { accepted: 0, refused: 0, lastAt: 0 };
}
