import { exposuresKey, removeExposures } from '../store/exposures.ts';
import { putHashedMint, removeIdentity } from '../store/instances.ts';
import { applyDelta, type DeltaParts } from './apply-delta.ts';
import { type Delta, decodeDelta, laterFormat } from './delta.ts';
import { DeltaUnreadable } from './delta-values.ts';
import type { Entry, EntryKind } from './entry.ts';
import { decodeBody, type EntryBodies, type Horizon, type LoggedMint } from './log-bodies.ts';
import type { ReplicaState, StreamFacts } from './replica-state.ts';
import { retire } from './retire.ts';
import { defaultSettings, settingsAfter } from './settings.ts';

/** An entry that a newer version wrote. */
export class NewerEntry extends Error {
  override readonly name = 'NewerEntry';
}

/** A row of an entry that could not be applied. The rest of its entry was. */
export interface Refusal {
  readonly position: number;
  readonly stream: string;
  readonly seq: number;
  /** What the row is part of. */
  readonly place: string;
  /** For people. */
  readonly reason: string;
  /** JSON. */
  readonly row: string;
}

interface EntryParts extends DeltaParts {
  readonly state: ReplicaState;
}

type RefuseRow = (refusal: Refusal) => void;

/** Forgotten messages and removed series between two pauses. */
const stepLimit = 500;

const hourMs = 3_600_000;

/** Applies one entry after the other. It runs inside the transaction of a `Replica`. */
export class ApplyEntry {
  readonly #parts: EntryParts;
  /** The rest of a horizon that is being applied: it may take more than one transaction. */
  #rest: Generator<undefined, void> | undefined;

  constructor(parts: EntryParts) {
    this.#parts = parts;
  }

  /** Whether this program knows what an entry says. */
  knows(entry: Entry): boolean {
    return whyUnknown(entry) === undefined;
  }

  /**
   * @param isLate whether the transaction should end
   * @returns whether the entry is applied; else call it again with the same, in the next transaction
   * @throws {NewerEntry}
   */
  run(entry: Entry, refuse: RefuseRow, isLate: () => boolean): boolean {
    const unknown = whyUnknown(entry);
    if (unknown !== undefined) throw new NewerEntry(unknown);
    this.#parts.days.turnTo(entry.position);
    if (entry.kind === 'horizon') return this.#runHorizon(entry, refuse, isLate);
    if (entry.kind === 'delta') this.#runDelta(entry, refuse);
    else if (entry.kind === 'mint') this.#runMints(entry, refuse);
    else if (entry.kind === 'forget') this.#runForget(entry, refuse);
    else if (entry.kind === 'erase') this.#runErase(entry, refuse);
    else this.#runSettings(entry, refuse);
    return true;
  }

  /** Puts what is in memory only; to be called at the end of the transaction. */
  put(): void {
    const { counts, measurements, sketches, seen } = this.#parts.hot;
    measurements.put();
    sketches.put();
    counts.put();
    seen.put();
  }

  /** Drops what is in memory: after a commit that failed, the store is the truth. */
  forget(): void {
    this.#rest = undefined;
  }

  #runDelta(entry: Entry, refuse: RefuseRow): void {
    const { state, series } = this.#parts;
    const say = refusalsOf(entry, refuse);
    const facts = this.#streamOf(entry.stream);
    if (entry.seq <= facts.seq) {
      say('delta', `delta ${facts.seq} of its stream came before it`, null);
      return;
    }
    const delta = readDelta(entry, say);
    const { through, since, version } = delta ?? facts;
    state.set(`stream:${entry.stream}`, { ...facts, seq: entry.seq, through, since, version });
    if (delta === undefined) return;
    series.turnTo(facts.number);
    const { identities } = state.get('settings') ?? defaultSettings;
    applyDelta(this.#parts, delta, identities, say);
  }

  #streamOf(stream: string): StreamFacts {
    const { state } = this.#parts;
    const known = state.get(`stream:${stream}`);
    if (known !== undefined) return known;
    const number = (state.get('streams') ?? 0) + 1;
    state.set('streams', number);
    return { number, seq: 0, through: 0, since: 0, version: 0 };
  }

  #runMints(entry: Entry, refuse: RefuseRow): void {
    const { store, erased } = this.#parts;
    const mints = readBody(entry, 'mint', refuse) ?? [];
    for (const mint of mints) {
      if (!isMint(mint)) refusalsOf(entry, refuse)('mint', 'it is no mint', null);
      else if (!erased.hasApplication(mint.application)) putHashedMint(store, mint);
    }
  }

  #runForget(entry: Entry, refuse: RefuseRow): void {
    const { store, forgotten } = this.#parts;
    const body = readBody(entry, 'forget', refuse);
    if (body === undefined) return;
    const digest = Buffer.from(body.digest, 'hex');
    removeIdentity(store, body.application, digest);
    for (const environment of body.environments) removeExposures(store, exposuresKey(environment, digest));
    forgotten.add(digest, entry.position);
  }

  #runErase(entry: Entry, refuse: RefuseRow): void {
    const body = readBody(entry, 'erase', refuse);
    if (body === undefined) return;
    this.#parts.erased.add(body);
    this.put();
    for (const environment of body.environments) this.#parts.days.remove(environment);
    this.#parts.series.forget();
  }

  #runSettings(entry: Entry, refuse: RefuseRow): void {
    const { state } = this.#parts;
    const before = state.get('settings') ?? defaultSettings;
    const settings = readBody(entry, 'settings', refuse, (said) => settingsAfter(before, said));
    if (settings === undefined) return;
    state.set('settings', settings);
    this.#parts.series.forget();
  }

  #runHorizon(entry: Entry, refuse: RefuseRow, isLate: () => boolean): boolean {
    if (this.#rest === undefined) {
      const horizon = readBody(entry, 'horizon', refuse);
      if (horizon === undefined) return true;
      this.put(); // What follows reads the tables.
      this.#rest = this.#reach(horizon);
    }
    while (this.#rest.next().done !== true) if (isLate()) return false;
    this.#rest = undefined;
    return true;
  }

  /** Drops what is remembered for what may still come, and what is over its retention. It may be begun again. */
  *#reach({ through, since, now, open, nodes }: Horizon): Generator<undefined, void> {
    const { state, messages, forgotten } = this.#parts;
    state.set('reached', { through, now, nodes });
    forgotten.end(since);
    while (messages.forget(through, stepLimit) > 0) yield;
    if (open !== undefined) yield* this.#endStreams(new Set(open));
    const hour = Math.floor(now / hourMs);
    if (hour <= (state.get('retired') ?? 0)) return;
    yield* retire(this.#parts, state.get('settings') ?? defaultSettings, hour * hourMs);
    state.set('retired', hour);
  }

  *#endStreams(open: ReadonlySet<string>): Generator<undefined, void> {
    const { state, series } = this.#parts;
    for (const stream of state.streams()) {
      const facts = state.get(`stream:${stream}`)!;
      if (open.has(stream) || facts.isClosed) continue;
      while (series.remove(facts.number, stepLimit) > 0) yield;
      state.set(`stream:${stream}`, { ...facts, isClosed: true });
    }
  }
}

function refusalsOf({ position, stream, seq }: Entry, refuse: RefuseRow) {
  return (place: string, reason: string, row: unknown) =>
    refuse({ position, stream, seq, place, reason, row: JSON.stringify(row) });
}

function readDelta(entry: Entry, refuse: ReturnType<typeof refusalsOf>): Delta | undefined {
  try {
    return decodeDelta(entry.body, refuse);
  } catch (error) {
    if (!(error instanceof DeltaUnreadable)) throw error;
    refuse('delta', error.message, null);
    return undefined;
  }
}

const kinds: readonly string[] = [
  'delta',
  'mint',
  'forget',
  'erase',
  'settings',
  'horizon',
] satisfies EntryKind[];

/** Why a newer version must have written an entry. */
function whyUnknown({ kind, position, body }: Entry): string | undefined {
  const format = kind === 'delta' ? laterFormat(body) : undefined;
  if (kinds.includes(kind) && format === undefined) return undefined;
  const why = format !== undefined ? `its format is ${format}` : `it says "${kind}"`;
  return `Cannot apply entry ${position} of the log: a newer version of flagmeter wrote it (${why}); update this node`;
}

/** Reads a body; one that cannot be read is a refused row, so that it does not stop the log. */
function readBody<Kind extends keyof EntryBodies>(
  entry: Entry,
  kind: Kind,
  refuse: RefuseRow,
  check = (body: EntryBodies[Kind]) => body,
): EntryBodies[Kind] | undefined {
  try {
    return check(decodeBody(kind, entry.body));
  } catch (error) {
    refusalsOf(entry, refuse)(kind, `it cannot be read: ${(error as Error).message}`, null);
    return undefined;
  }
}

function isMint({ application, digest, hash, expiresAt, profile }: LoggedMint): boolean {
  const isHashed = digest.length === 16 && hash.length === 32;
  return (
    isHashed && Number.isSafeInteger(application) && Number.isFinite(expiresAt) && typeof profile === 'string'
  );
}
