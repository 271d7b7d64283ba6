import { rollUpMeasurements } from '../storage/aggregate/maintain.ts';
import { horizonsAt, minutesPerDay, numbersOfEnvironments } from '../storage/lmdb/blocks.ts';
import { cumulativeLifeMs } from '../storage/lmdb/cumulative.ts';
import { exposuresKey, removeExposures, sweepExposures } from '../storage/lmdb/exposures.ts';
import { putHashedMint, removeIdentity, sweepInstances } from '../storage/lmdb/instances.ts';
import { slotMs, sweepSenders } from '../storage/lmdb/senders.ts';
import { deleteSketches } from '../storage/lmdb/sketches.ts';
import { sweepTotals } from '../storage/lmdb/totals.ts';
import type { ReplicaStore } from '../storage/lmdb/usage.ts';
import { applyDelta, type DeltaTarget } from './apply-delta.ts';
import { decodeDelta, laterFormat } from './delta.ts';
import type { Refuse } from './delta-columns.ts';
import {
  decodeBody,
  defaultSettings,
  type Entry,
  type EntryBodies,
  type EntryKind,
  type Horizon,
  type LoggedMint,
  type ReplicaSettings,
  settingsAfter,
} from './entry.ts';
import { maxSkewMs } from './postgres/shared-clock.ts';
import type { ReplicaState, StreamFacts } from './replica-state.ts';

/** Error for an entry of the log that a newer version of flagmeter wrote. */
export class NewerEntry extends Error {
  override readonly name = 'NewerEntry';
}

/** A row that could not be applied. The other rows of its entry were applied. */
export interface Refusal {
  readonly position: number;
  readonly stream: string;
  readonly seq: number;
  /** The part of the entry that contains the row. */
  readonly place: string;
  readonly reason: string;
  /** The row as JSON. */
  readonly row: string;
}

interface EntryTarget extends DeltaTarget {
  readonly state: ReplicaState;
}

type ApplyKind = (entry: Entry, refuse: Refuse) => void;

/** Maximum number of messages or series removed between two pauses. */
const stepLimit = 500;

const hourMs = 3_600_000;

/** Applies entries one after another, in the transaction of a `Replica`. */
export class ApplyEntry {
  readonly #target: EntryTarget;
  readonly #kinds: Readonly<Record<EntryKind, ApplyKind>> = {
    delta: (entry, refuse) => this.#addDelta(entry, refuse),
    mint: reading(bodyDecoder('mint'), (mints, _, refuse) => {
      for (const mint of mints) this.#addMint(mint, refuse);
    }),
    forget: reading(bodyDecoder('forget'), ({ application, environments, digest: hex }, { position }) => {
      const { store, forgotten } = this.#target;
      const digest = Buffer.from(hex, 'hex');
      removeIdentity(store, application, digest);
      for (const environment of environments) removeExposures(store, exposuresKey(environment, digest));
      forgotten.add(digest, position);
    }),
    erase: reading(bodyDecoder('erase'), (things) => {
      const { erased, days, series } = this.#target;
      erased.add(things);
      this.put();
      for (const environment of things.environments) days.remove(environment);
      series.forget();
    }),
    settings: reading(
      (body) => settingsAfter(this.#settings, decodeBody('settings', body)),
      (settings) => {
        this.#target.state.set('settings', settings);
        this.#target.series.forget();
      },
    ),
    horizon: reading(bodyDecoder('horizon'), (horizon) => {
      this.put(); // A horizon reads the tables, so rows in memory are written first.
      this.#rest = this.#reach(horizon);
    }),
  };
  /** Remaining work of a `horizon` entry, which can take several transactions. */
  #rest: Generator<undefined, void> | undefined;

  constructor(target: EntryTarget) {
    this.#target = target;
  }

  get #settings(): ReplicaSettings {
    return this.#target.state.get('settings') ?? defaultSettings;
  }

  knows(entry: Entry): boolean {
    return this.#whyUnknown(entry) === undefined;
  }

  /**
   * @param isLate returns true if the transaction should end
   * @returns false if the entry is unfinished: call again with the same entry in the next transaction
   * @throws {NewerEntry}
   */
  run(entry: Entry, refuse: (refusal: Refusal) => void, isLate: () => boolean): boolean {
    const unknown = this.#whyUnknown(entry);
    if (unknown !== undefined) throw new NewerEntry(unknown);
    const { position, stream, seq, kind } = entry;
    this.#target.days.moveTo(position);
    if (this.#rest === undefined)
      this.#kinds[kind](entry, (place, reason, row) => {
        refuse({ position, stream, seq, place, reason, row: JSON.stringify(row) });
      });
    while (this.#rest?.next().done === false) if (isLate()) return false;
    this.#rest = undefined;
    return true;
  }

  /** Writes the rows in memory. Call it at the end of the transaction. */
  put(): void {
    const { hot, ledger } = this.#target;
    for (const table of [hot.measurements, hot.sketches, hot.counts, hot.seen, ledger]) table.put();
  }

  forget(): void {
    this.#rest = undefined;
  }

  /** Explains why this version cannot apply an entry; `undefined` if it can. */
  #whyUnknown({ kind, position, body }: Entry): string | undefined {
    const format = kind === 'delta' ? laterFormat(body) : undefined;
    if (Object.hasOwn(this.#kinds, kind) && format === undefined) return undefined;
    const why = format === undefined ? `kind "${kind}"` : `format ${format}`;
    return `Cannot apply entry ${position} of the log: a newer version of flagmeter wrote it (${why}); update this node`;
  }

  #addDelta(entry: Entry, refuse: Refuse): void {
    const { state, series } = this.#target;
    const facts = this.#ensureStream(entry.stream);
    if (entry.seq <= facts.seq) {
      refuse('delta', `delta ${facts.seq} of its stream came before it`, null);
      return;
    }
    const delta = read(entry, (body) => decodeDelta(body, refuse), refuse);
    const { through, since, version } = delta ?? facts;
    state.set(`stream:${entry.stream}`, { ...facts, seq: entry.seq, through, since, version });
    if (delta === undefined) return;
    series.switchTo(facts.number);
    applyDelta(this.#target, delta, this.#settings.identities, refuse);
  }

  #ensureStream(stream: string): StreamFacts {
    const { state } = this.#target;
    const known = state.get(`stream:${stream}`);
    if (known !== undefined) return known;
    const number = (state.get('streams') ?? 0) + 1;
    state.set('streams', number);
    return { number, seq: 0, through: 0, since: 0, version: 0 };
  }

  #addMint(mint: LoggedMint, refuse: Refuse): void {
    const { store, erased } = this.#target;
    if (!isMint(mint)) refuse('mint', 'not a valid mint', null);
    else if (!erased.hasApplication(mint.application)) putHashedMint(store, mint);
  }

  /** Applies a horizon: removes unneeded messages, series and expired data. Running it again does no harm. */
  *#reach({ through, since, now, open, nodes }: Horizon): Generator<undefined, void> {
    const { state, messages, totals, forgotten } = this.#target;
    state.set('reached', { through, now, nodes });
    forgotten.end(since);
    while (messages.forget(through, stepLimit) > 0) yield;
    while (totals.forget(through - cumulativeLifeMs - maxSkewMs, stepLimit) > 0) yield;
    if (open !== undefined) yield* this.#endStreams(new Set(open));
    const hour = Math.floor(now / hourMs);
    if (hour <= (state.get('retired') ?? 0)) return;
    yield* retire(this.#target, this.#settings, hour * hourMs);
    state.set('retired', hour);
  }

  *#endStreams(open: ReadonlySet<string>): Generator<undefined, void> {
    const { state, series } = this.#target;
    for (const stream of state.streams()) {
      const facts = state.get(`stream:${stream}`)!;
      if (open.has(stream) || facts.isClosed) continue;
      while (series.remove(facts.number, stepLimit) > 0) yield;
      state.set(`stream:${stream}`, { ...facts, isClosed: true });
    }
  }
}

const bodyDecoder =
  <Kind extends keyof EntryBodies>(kind: Kind) =>
  (body: Buffer) =>
    decodeBody(kind, body);

function reading<T>(decode: (body: Buffer) => T, apply: (content: T, entry: Entry, refuse: Refuse) => void): ApplyKind {
  return (entry, refuse) => {
    const content = read(entry, decode, refuse);
    if (content !== undefined) apply(content, entry, refuse);
  };
}

/** Decodes the body of an entry. Reports an unreadable body as a refused row, so that later entries can be applied. */
function read<T>(entry: Entry, decode: (body: Buffer) => T, refuse: Refuse): T | undefined {
  try {
    return decode(entry.body);
  } catch (error) {
    refuse(entry.kind, `it cannot be read: ${(error as Error).message}`, null);
    return undefined;
  }
}

function isMint({ application, digest, hash, expiresAt, profile }: LoggedMint): boolean {
  const isHashed = digest.length === 16 && hash.length === 32;
  return isHashed && Number.isSafeInteger(application) && Number.isFinite(expiresAt) && typeof profile === 'string';
}

/** Maximum number of records touched between two pauses. */
const retiredPerStep = 8;
/** Maximum number of totals visited between two pauses. Above `retiredPerStep`, because most totals are only read. */
const totalsPerStep = 500;

/**
 * Rolls up and deletes data past its retention at `now` (Unix ms). Handles only data that affects how later entries are
 * applied: sums of metrics, lists of people, and tables of limited size. The generator pauses after each step. Running
 * a step again does no harm. Run each step in a transaction, after the rows in memory (`hot`) were written.
 */
function* retire(target: DeltaTarget, settings: ReplicaSettings, now: number): Generator<undefined, void> {
  const { store, hot, erased, days } = target;
  const horizons = horizonsAt(now, settings);
  for (const environment of listEnvironments(store)) {
    if (erased.hasEnvironment(environment)) continue;
    yield* untilDone((room) => rollUpMeasurements(store, hot, environment, horizons, room));
    yield* untilDone((room) => {
      const deleted = deleteSketches(store, environment, Math.floor(horizons.days / minutesPerDay), room);
      if (deleted > 0) hot.sketches.forget(); // Otherwise, one late user would restore the whole sketch.
      return deleted;
    });
    days.remove(environment, Math.floor(horizons.days / minutesPerDay));
    yield* sweepAllSenders(store, environment, now);
  }
  yield* untilDone((room) => sweepInstances(store, now, room));
  yield* untilDone((room) => sweepExposures(store, now, room, settings.exposureDays));
  yield* sweepAllTotals(store, now);
}

function* untilDone(step: (limit: number) => number): Generator<undefined, void> {
  while (step(retiredPerStep) > 0) yield;
}

function* sweepAllSenders(store: ReplicaStore, environment: number, now: number): Generator<undefined, void> {
  const slot = Math.floor(now / slotMs);
  let from: number | undefined = 0;
  while (from !== undefined) {
    from = sweepSenders(store, environment, from, slot, retiredPerStep);
    yield;
  }
}

function* sweepAllTotals(store: ReplicaStore, now: number): Generator<undefined, void> {
  let from: Buffer | undefined = Buffer.alloc(0);
  while (from !== undefined) {
    from = sweepTotals(store, now, from, totalsPerStep);
    yield;
  }
}

/** Lists the numbers of the environments with data, ascending. */
export function listEnvironments({ series, sketches, senders }: ReplicaStore): number[] {
  const found = [series, sketches, senders].flatMap((table) => [...numbersOfEnvironments(table)]);
  return [...new Set(found)].sort((a, b) => a - b);
}
