import { createAggregator } from '../src/storage/commit/aggregator.ts';
import { Batch } from '../src/storage/commit/batch.ts';
import { openAccountTables } from '../src/storage/lmdb/accounts.ts';
import { bucketAt, horizonsAt, seriesRef } from '../src/storage/lmdb/blocks.ts';
import { encodeDimensions } from '../src/storage/lmdb/ledger.ts';
import { environmentOrdinal } from '../src/storage/lmdb/sketches.ts';
import { openUsageTables } from '../src/storage/lmdb/usage.ts';

/** An environment, and the history to fill in. */
export interface History {
  /** Number of the environment. */
  readonly environment: number;
  readonly application: number;
  readonly flags: number;
  readonly days: number;
  /** Number of hours of each day in which the flags are used. */
  readonly hoursADay: number;
  /** Number of the latest hours with counts in every minute, as the service keeps them. */
  readonly minuteHours: number;
}

/** The variants of each flag. */
export const variants = ['on', 'off', 'control'] as const;

/** Number of flags with their own users, and number of their users per day. */
export const flagsWithUsers = 40;
export const usersPerDay = 200;

const hourMs = 3_600_000;
const dayMs = 86_400_000;
const senders = ['web/2.3', 'web/2.4', 'api/1.9', 'jobs/7', 'ios/5.1'];

/** Returns the number of an application, and the numbers of its environments. The service must not be running. */
export async function findNumbers(data: string, id: string): Promise<{ application: number; environments: number[] }> {
  const accounts = openAccountTables(data);
  const { number, environments } = accounts.applications.get(id)!;
  await accounts.lmdb.close();
  return { application: number, environments: environments.map((each) => each.number) };
}

/**
 * Fills environments with the service's own code: every series is counted in every hour of use and in every retained
 * minute. Then runs all upkeep that is due.
 */
export async function fillHistory(data: string, histories: readonly History[], now: number): Promise<void> {
  const store = openUsageTables(data);
  const { write, maintain } = createAggregator(store);
  const retention = { minutesMs: 48 * hourMs, hoursMs: 90 * dayMs, daysMs: 5 * 365 * dayMs };
  const horizons = horizonsAt(now, retention);
  for (const history of histories) {
    const { environment, days, hoursADay, minuteHours } = history;
    write(names(history).seal());
    const first = Math.floor((now - days * dayMs) / hourMs);
    const last = Math.floor(now / hourMs);
    for (let hour = first; hour <= last; hour += 1) {
      const isDense = hour > last - minuteHours;
      if (!isDense && hour % 24 >= hoursADay) continue;
      const end = Math.min(60, Math.floor(now / 60_000) - hour * 60 + 1);
      for (let minute = 0; minute < (isDense ? end : 1); minute += 10) {
        const minutes = Array.from({ length: isDense ? Math.min(10, end - minute) : 1 }, (_, at) => minute + at);
        const buckets = minutes.map((each) => bucketAt(hour * 60 + each, horizons));
        write(counted(history, buckets, hour, minute === 0).seal());
      }
    }
    const step = { task: 'retention', environment, horizons, now, exposureDays: 30, limit: 1000 } as const;
    while (maintain(step) > 0);
  }
  await store.lmdb.close();
}

function names({ environment, flags }: History): Batch {
  const batch = new Batch();
  for (let flag = 0; flag < flags; flag += 1) {
    for (const [index, variant] of variants.entries()) {
      const ordinal = flag * variants.length + index;
      batch.series.push({ environment, ordinal, name: [`flag-${flag}`, variant] });
    }
  }
  return batch;
}

function counted(history: History, buckets: readonly number[], hour: number, isNewHour: boolean): Batch {
  const { environment, application, flags } = history;
  const batch = new Batch();
  for (const bucket of buckets) {
    for (let ordinal = 0; ordinal < flags * variants.length; ordinal += 1) {
      batch.counts.add(seriesRef(environment, ordinal), bucket, 1 + (ordinal % 7), ordinal % 3, 1);
    }
  }
  if (!isNewHour) return batch;
  for (const userAgent of senders) {
    const subject = encodeDimensions({
      environment,
      transport: 'http',
      route: 'telemetry',
      outcome: 'accepted',
      status: 202,
      code: null,
      userAgent,
      instance: null,
    });
    batch.ledger.add({ application, hour, subject }, hour * hourMs);
  }
  if (hour % 24 === 0) addUsers(batch, history, hour);
  return batch;
}

/** Adds the users of an hour. Half of the users return every day. */
function addUsers(batch: Batch, { environment, flags }: History, hour: number): void {
  for (let flag = 0; flag < Math.min(flags, flagsWithUsers); flag += 1) {
    for (let user = 0; user < usersPerDay; user += 1) {
      const seed = (user % 2 === 0 ? user : user + hour) * 2_654_435_761 + flag;
      const high = mix(seed);
      const low = mix(seed + 1);
      const ordinal = flag * variants.length + (user % variants.length);
      batch.users.add(seriesRef(environment, ordinal), hour * 60, high, low);
      batch.users.add(seriesRef(environment, environmentOrdinal), hour * 60, high, low);
    }
  }
}

/** Hashes a number to 32 bits (the finalizer of MurmurHash3). */
function mix(seed: number): number {
  let hash = seed | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
