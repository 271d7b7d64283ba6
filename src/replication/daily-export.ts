import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../runtime/clock.ts';
import { HyperLogLog } from '../storage/aggregate/hyperloglog.ts';
import { mergeCounts } from '../storage/aggregate/merge.ts';
import { readCounts } from '../storage/aggregate/read-counts.ts';
import { unite } from '../storage/aggregate/unique-users.ts';
import {
  bucketWidth,
  type Counts,
  computePlace,
  countsCodec,
  horizonsAt,
  minutesPerDay,
  type Retention,
  rawBlocks,
} from '../storage/lmdb/blocks.ts';
import { featureItself, listSeries } from '../storage/lmdb/series.ts';
import { chunkKeyFrom, sketchChunks } from '../storage/lmdb/sketches.ts';
import { openSnapshot, readAt, type Snapshot } from '../storage/lmdb/snapshot.ts';
import type { ReplicaStore } from '../storage/lmdb/usage.ts';
import { listEnvironments } from './apply-entry.ts';
import type { PostgresSession } from './postgres/connection.ts';
import { type LogPosition, logStart } from './postgres/follower.ts';
import { type ChangedDay, changedDays, ReplicaState } from './replica-state.ts';

interface DailyExportDeps {
  readonly session: PostgresSession;
  readonly store: ReplicaStore;
  readonly directory: string;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Returns the progress of the node; `undefined` if it has not applied the log to its end. */
  readonly progress: () => ExportProgress | undefined;
  readonly isEnding: () => boolean;
}

export interface ExportProgress {
  /** Everything that any node acknowledged before this time is in the replica, Unix ms. */
  readonly completeThrough: number;
  /** PostgreSQL's time, Unix ms. */
  readonly now: number;
  readonly retention: Retention;
}

export interface ExportResult {
  readonly days: number;
  readonly rows: number;
}

const dayMs = 86_400_000;
const stepRows = 500;
/** Duration after which reading pauses, because the node needs the same event loop. */
const sliceMs = 2;

/**
 * Writes the usage of complete days to PostgreSQL tables, for programs that read SQL. One node at a time writes, under
 * a lease. Concurrent or killed writers do no harm: each row has the position of the log that it reflects, and never
 * replaces a row of a later position.
 * @returns `undefined` if another node holds the lease, or this node is not at the end of the log
 */
export async function exportDays(deps: DailyExportDeps): Promise<ExportResult | undefined> {
  const progress = deps.progress();
  if (progress === undefined) return undefined;
  const { completeThrough, now, retention } = progress;
  const range = {
    from: Math.floor(horizonsAt(now, retention).days / minutesPerDay),
    to: Math.floor(completeThrough / dayMs) - 1,
  };
  const tables = new DailyTables(deps.session, deps.directory);
  const written = await tables.lease();
  if (written === undefined) return undefined;
  await tables.removeGone(range.from);
  const { applied, due } = await findDue(deps, tables, written, range);
  let rows = 0;
  for (const each of due) {
    if (deps.isEnding()) return undefined;
    rows += await writeDay(deps, tables, each);
  }
  const day = Math.max(written.day, range.to);
  if (applied.position > written.position || day > written.day) await tables.advance(written, { ...applied, day });
  return { days: due.length, rows };
}

/** Finds the days to write, latest first, except days that an earlier attempt has written. */
async function findDue(
  deps: DailyExportDeps,
  tables: DailyTables,
  written: WrittenUntil,
  range: DayRange,
): Promise<{ readonly applied: LogPosition; readonly due: readonly ChangedDay[] }> {
  const found = new Map<string, ChangedDay>();
  const applied = await reading(deps.store, async (at, applied) => {
    for await (const due of slowly(deps, dueDays(deps.store, written, range, at))) {
      const key = `${due.environment} ${due.day}`;
      if ((found.get(key)?.position ?? -1) < due.position) found.set(key, due);
    }
    return applied;
  });
  const latestFirst = [...found].sort(([, a], [, b]) => b.day - a.day);
  const latest = latestFirst[0];
  const earliest = latestFirst.at(-1);
  if (latest === undefined) return { applied, due: [] };
  const there = await tables.positions({ from: earliest![1].day, to: latest[1].day });
  const due = latestFirst.filter(([key, { position }]) => (there.get(key) ?? 0) < position);
  return { applied, due: due.map(([, each]) => each) };
}

/** Writes the usage of an environment on a day. @returns the number of rows */
function writeDay(deps: DailyExportDeps, tables: DailyTables, { environment, day }: ChangedDay): Promise<number> {
  return reading(deps.store, async (at, applied) => {
    const place = { environment, day, applied };
    await tables.begin(place);
    let rows = 0;
    let waiting: DailyRow[] = [];
    const put = async () => {
      await tables.put(place, waiting);
      rows += waiting.length;
      waiting = [];
    };
    for await (const row of slowly(deps, dailyRows(deps.store, environment, day, at))) {
      waiting.push(row);
      if (waiting.length === stepRows) await put();
    }
    if (waiting.length > 0) await put();
    await tables.finish(place);
    return rows;
  });
}

/** @param read called with a snapshot and the last entry that the snapshot includes */
async function reading<T>(store: ReplicaStore, read: (at: Snapshot, applied: LogPosition) => Promise<T>): Promise<T> {
  const at = openSnapshot(store.lmdb);
  try {
    return await read(at, new ReplicaState(store, at).get('own:applied') ?? logStart);
  } finally {
    at.done();
  }
}

async function* slowly<T>({ clock }: DailyExportDeps, steps: Iterable<T | undefined>): AsyncGenerator<T> {
  let until = clock.monotonic() + sliceMs;
  for (const step of steps) {
    if (step !== undefined) yield step;
    if (clock.monotonic() < until) continue;
    await setImmediate();
    until = clock.monotonic() + sliceMs;
  }
}

/** Yields the days to write, with the log position that their rows must include. Yields `undefined` to pause. */
function* dueDays(
  store: ReplicaStore,
  written: WrittenUntil,
  { from, to }: DayRange,
  at: Snapshot,
): Generator<ChangedDay | undefined> {
  const state = new ReplicaState(store, at);
  const applied = state.get('own:applied')?.position ?? 0;
  const isListed = (state.get('daysMarked') ?? 0) === applied;
  const unmarked = isListed ? (state.get('daysUnmarked') ?? 0) : applied;
  const isDue = ({ day, position }: ChangedDay) => position > written.position || day > written.day;
  for (const changed of changedDays(store, at)) {
    const { day } = changed;
    yield day >= from && day <= to && isDue(changed) ? changed : undefined;
  }
  if (unmarked === 0) return;
  const first = unmarked > written.position ? from : Math.max(from, written.day + 1);
  for (const environment of listEnvironments(store)) {
    for (let day = first; day <= to; day += 1) {
      day = nextDay(store, environment, day, at);
      yield day <= to ? { environment, day, position: unmarked } : undefined;
    }
  }
}

const lastMinute = 2 ** 32 - 1;

/** Returns the first day from `day` on with counts or users in an environment. */
function nextDay(store: ReplicaStore, environment: number, day: number, at: Snapshot): number {
  let next = Number.POSITIVE_INFINITY;
  const places = { from: computePlace(day * minutesPerDay), to: computePlace(lastMinute) };
  for (const width of Object.values(bucketWidth)) {
    for (const block of rawBlocks(store.counts, environment, width, places, at)) {
      next = Math.min(next, Math.floor(block.minute / minutesPerDay));
      break;
    }
  }
  const range = { start: chunkKeyFrom(environment, day), end: chunkKeyFrom(environment + 1, 0), limit: 1 };
  const [key] = Array.from(store.sketches.getKeys({ ...range, ...readAt(at) }), (each) => each.readUInt32BE(4));
  return Math.min(next, key ?? next);
}

/**
 * Reads the usage of an environment on a day, as the usage report by days shows it. Yields `undefined` to pause.
 * @param day since the epoch
 */
function* dailyRows(
  store: ReplicaStore,
  environment: number,
  day: number,
  at: Snapshot,
): Generator<DailyRow | undefined> {
  const counts = new Map<number, Counts>();
  const wanted = { from: day * minutesPerDay, to: (day + 1) * minutesPerDay, grain: 'day' } as const;
  yield* readCounts(store, environment, wanted, at, (block) => {
    for (let index = 0; index < block.size; index += 1) {
      const ordinal = block.ordinals[index]!;
      const checks = block.checks[index]!;
      const used = block.used[index]!;
      const viewed = block.viewed[index]!;
      const known = counts.get(ordinal);
      if (known === undefined) counts.set(ordinal, { checks, used, viewed });
      else mergeCounts(known, { checks, used, viewed });
    }
  });
  const features = new Map<string, [variant: string, ordinal: number][]>();
  for (const { ordinal, name } of listSeries(store, environment, at)) {
    yield;
    if (name.length !== 2) continue;
    const [feature, variant] = name;
    const series = features.get(feature);
    if (series === undefined) features.set(feature, [[variant, ordinal]]);
    else series.push([variant, ordinal]);
  }
  for (const [feature, series] of features) {
    const total = countsCodec.empty();
    const sketches: HyperLogLog[] = [];
    let isCounted = false;
    for (const [variant, ordinal] of series) {
      yield;
      const sketch = new HyperLogLog();
      for (const { chunk, content } of sketchChunks(store, environment, day, ordinal, ordinal + 1, at))
        sketch.mergeChunk(chunk, content);
      sketches.push(sketch);
      const own = counts.get(ordinal);
      if (own === undefined || variant === featureItself) continue;
      isCounted = true;
      mergeCounts(total, own);
      yield { feature, variant, ...own, users: sketch.estimate() };
    }
    const users = unite(sketches).estimate();
    if (isCounted || users > 0) yield { feature, variant: featureItself, ...total, users };
  }
}

/** Days since the epoch, both inclusive. */
interface DayRange {
  readonly from: number;
  readonly to: number;
}

/** The progress of the export: days up to `day` are written, with all entries up to `position`. */
interface WrittenUntil {
  readonly position: number;
  readonly day: number;
}

/** The usage of a variant on a day, or of all variants of a feature. */
interface DailyRow extends Counts {
  readonly feature: string;
  /** Name of the variant; `featureItself` for the sum of all variants. */
  readonly variant: string;
  readonly users: number;
}

/** A day of an environment, at the last entry that the replica has applied. */
interface DailyPlace {
  readonly environment: number;
  readonly day: number;
  readonly applied: LogPosition;
}

/** Thrown if PostgreSQL has lost the last entry that the replica has applied, by reverting to an earlier state. */
class ExportConflict extends Error {
  override readonly name = 'ExportConflict';
}

/** Duration of a lease. If a node does not renew its lease in time, another node can take it. */
const leaseMs = 15_000;
const sentRows = 1000;

const dayFromNumber = (parameter: string) => `(date '1970-01-01' + ${parameter}::int)`;
const numberFromDay = (column: string) => `(${column} - date '1970-01-01')`;
const isInLog = (position: string, id: string) =>
  `EXISTS (SELECT 1 FROM fm_entry WHERE position = ${position} AND id = ${id})`;

/** The PostgreSQL tables of usage by days: see postgres/schema.ts. Each statement is a transaction. */
class DailyTables {
  readonly #session: PostgresSession;
  readonly #directory: string;

  constructor(session: PostgresSession, directory: string) {
    this.#session = session;
    this.#directory = directory;
  }

  /** Takes or renews the lease. Returns `undefined` if another node has it. */
  async lease(): Promise<WrittenUntil | undefined> {
    const { rows } = await this.#session.query<{ position: bigint; day: number }>({
      name: 'fm-daily-lease',
      text: `UPDATE fm_export SET holder = $1, until = clock_timestamp() + $2 * interval '1 ms'
             WHERE holder = $1 OR until < clock_timestamp() RETURNING position, ${numberFromDay('day')} AS day`,
      values: [this.#directory, leaseMs],
    });
    const [row] = rows;
    return row && { position: Number(row.position), day: row.day };
  }

  /** Reads the positions of the written rows, by environment and day. */
  async positions({ from, to }: DayRange): Promise<ReadonlyMap<string, number>> {
    const { rows } = await this.#session.query<{ environment: bigint; day: number; position: bigint }>({
      name: 'fm-daily-positions',
      text: `SELECT environment, ${numberFromDay('day')} AS day, position FROM fm_day
             WHERE day BETWEEN ${dayFromNumber('$1')} AND ${dayFromNumber('$2')}`,
      values: [from, to],
    });
    return new Map(rows.map(({ environment, day, position }) => [`${environment} ${day}`, Number(position)]));
  }

  /** Registers a day before its first row is written, so that a later removal of the day finds its rows. */
  async begin({ environment, day }: DailyPlace): Promise<void> {
    await this.#session.query({
      name: 'fm-daily-begin',
      text: `INSERT INTO fm_day (environment, day) VALUES ($1, ${dayFromNumber('$2')}) ON CONFLICT DO NOTHING`,
      values: [environment, day],
    });
  }

  /** Writes rows, but does not replace rows of a later position. */
  async put({ environment, day, applied }: DailyPlace, rows: readonly DailyRow[]): Promise<void> {
    const column = (name: 'checks' | 'used' | 'viewed' | 'users') => rows.map((row) => whole(row[name]));
    await this.#session.query({
      name: 'fm-daily-put',
      text: `WITH lease AS (UPDATE fm_export SET until = clock_timestamp() + $1 * interval '1 ms' WHERE holder = $6)
             INSERT INTO fm_daily AS daily (environment, day, feature, variant, checks, used, viewed, users, position)
             SELECT $2, ${dayFromNumber('$3')}, given.*, $4 FROM
               unnest($7::text[], $8::text[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[]) AS given
             WHERE ${isInLog('$4', '$5')}
             ON CONFLICT (environment, day, feature, variant) DO UPDATE SET checks = excluded.checks, used = excluded.used,
               viewed = excluded.viewed, users = excluded.users, position = excluded.position
             WHERE daily.position < excluded.position`,
      values: [
        ...[leaseMs, environment, day, applied.position, applied.id, this.#directory],
        ...[rows.map(({ feature }) => feature), rows.map(({ variant }) => variant)],
        ...[column('checks'), column('used'), column('viewed'), column('users')],
      ],
    });
  }

  /** Marks a day as written, and removes its obsolete rows. @throws {ExportConflict} */
  async finish({ environment, day, applied }: DailyPlace): Promise<void> {
    const { rowCount } = await this.#session.query({
      name: 'fm-daily-finish',
      text: `WITH gone AS (DELETE FROM fm_daily WHERE environment = $1 AND day = ${dayFromNumber('$2')} AND position < $3
               AND ${isInLog('$3', '$4')})
             UPDATE fm_day SET position = greatest(position, $3)
             WHERE environment = $1 AND day = ${dayFromNumber('$2')} AND ${isInLog('$3', '$4')}`,
      values: [environment, day, applied.position, applied.id],
    });
    if (rowCount === 0) throw outdated();
  }

  /** Stores the progress of the export, unless another node has advanced it. @throws {ExportConflict} */
  async advance(from: WrittenUntil, to: LogPosition & WrittenUntil): Promise<void> {
    const { rowCount } = await this.#session.query({
      name: 'fm-daily-advance',
      text: `UPDATE fm_export SET position = greatest(position, $4), day = greatest(day, ${dayFromNumber('$3')})
             WHERE position = $1 AND day = ${dayFromNumber('$2')} AND (${isInLog('$4', '$5')} OR $4 = 0)`,
      values: [from.position, from.day, to.day, to.position, to.id],
    });
    if (rowCount === 0) throw outdated();
  }

  /** Removes days before `before`, and all days of deleted environments, in small steps. */
  async removeGone(before: number): Promise<void> {
    const isGone = `(gone.day < ${dayFromNumber('$1')} OR gone.environment NOT IN (
      SELECT (kept.value->>'number')::bigint
      FROM fm_record, jsonb_array_elements(fm_record.value::jsonb->'environments') AS kept(value)
      WHERE "table" = 'applications'))`;
    const rows = {
      name: 'fm-daily-remove',
      text: `DELETE FROM fm_daily WHERE ctid IN (SELECT daily.ctid FROM fm_day AS gone
               JOIN fm_daily AS daily USING (environment, day) WHERE ${isGone} LIMIT $2)`,
      values: [before, sentRows],
    };
    while ((await this.#session.query(rows)).rowCount > 0);
    const text = `DELETE FROM fm_day AS gone WHERE ${isGone}`;
    await this.#session.query({ name: 'fm-daily-drop', text, values: [before] });
  }
}

function outdated(): ExportConflict {
  return new ExportConflict('The log differs from the log of the replica, or another node was faster');
}

/** Rounds a count. A count beyond the exact range of a double is clamped. */
function whole(count: number): string {
  return String(BigInt(Math.min(Math.round(count), Number.MAX_SAFE_INTEGER)));
}
