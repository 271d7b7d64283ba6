import type { KeyHolder } from '../../../accounts/key-index.ts';
import type { LedgerNote } from '../../../contract/notes.ts';
import type { Batch } from '../../../storage/commit/batch.ts';
import { digestBytes } from '../../../storage/commit/records.ts';
import { type Retention, seriesPerEnvironment, seriesRef } from '../../../storage/lmdb/blocks.ts';
import type { Environment } from '../../../storage/lmdb/records.ts';
import type { Sender } from '../../../storage/lmdb/senders.ts';
import { environmentOrdinal } from '../../../storage/lmdb/sketches.ts';
import { freshMs, lastTotal, type Total } from '../../../storage/lmdb/totals.ts';
import type { UsageTables } from '../../../storage/lmdb/usage.ts';
import { type CountingDeps, FoundNames } from '../../count-once.ts';
import { countedAt } from '../../counted-at.ts';
import { type Instances, isIdentity, type Person } from '../identities/instances.ts';
import { checkWidth, noText, noTime, type OtlpRequest, type Texts, totalWidth } from './request.ts';

/** Entries counted per step: about a millisecond of work. */
const entriesPerStep = 1000;

export interface OtlpCountingDeps extends Pick<CountingDeps, 'clock' | 'dictionary' | 'senders'> {
  readonly instances: Pick<Instances, 'identifyPerson'>;
  readonly retention: Retention;
}

/** The environment and the service to which a resource (the reporting process) of a request belongs. */
export interface Place {
  readonly environment: Environment;
  readonly service: string;
  readonly version: string;
}

/** Sender of a request. `places` has one item per resource: `undefined` if the resource is not counted. */
interface CountedSender {
  readonly holder: KeyHolder;
  readonly places: readonly (Place | undefined)[];
  readonly transport: Sender['transport'];
}

/** Number of array items per resolved row: series, bucket, minute, checks, and index of the person. */
const rowWidth = 5;
const nobody = -1;

/** Counts a request. `steps` resolves its names, users and times to numbers, and `addTo` adds them to a batch. */
export class OtlpCounter {
  /** New names and senders of the last step. */
  readonly found = new FoundNames();
  readonly #deps: OtlpCountingDeps;
  readonly #request: OtlpRequest;
  readonly #texts: Texts;
  readonly #holder: KeyHolder;
  readonly #places: readonly (Place | undefined)[];
  readonly #transport: Sender['transport'];
  readonly #now: number;
  readonly #rows: number[] = [];
  readonly #people: Person[] = [];
  /** Index of the person, by the index of the user's text; `nobody` if the text is not an identity. */
  readonly #personAt = new Map<number, number>();
  readonly #totals: Total[] = [];
  /** True for each total whose sender states when it began to count. */
  readonly #hasStart: boolean[] = [];
  #moved = false;

  constructor(
    deps: OtlpCountingDeps,
    request: OtlpRequest,
    texts: Texts,
    { holder, places, transport }: CountedSender,
  ) {
    this.#deps = deps;
    this.#request = request;
    this.#texts = texts;
    this.#holder = holder;
    this.#places = places;
    this.#transport = transport;
    this.#now = deps.clock.now();
  }

  *steps(): Generator<undefined, void> {
    const { checks, totals } = this.#request;
    for (let at = 0; at < checks.length; at += checkWidth) {
      if (at > 0 && at % (checkWidth * entriesPerStep) === 0) yield;
      this.#resolveCheck(at);
    }
    for (let at = 0; at < totals.length; at += totalWidth) {
      if (at % (totalWidth * entriesPerStep) === 0) yield;
      this.#resolveTotal(at);
    }
  }

  get hasTotals(): boolean {
    return this.#totals.length > 0;
  }

  get notes(): ReadonlySet<LedgerNote> {
    const notes = new Set<LedgerNote>(this.#request.notes);
    if (this.#moved) notes.add('time_moved');
    if (this.found.folded > 0) notes.add('series_folded');
    if (this.found.dropped > 0) notes.add('name_dropped');
    return notes;
  }

  /** Adds the whole request to a batch. The names that `steps` found must be in the same batch or an earlier one. */
  addTo(batch: Batch): void {
    const rows = this.#rows;
    for (let at = 0; at < rows.length; at += rowWidth) {
      const ref = rows[at]!;
      const bucket = rows[at + 1]!;
      const minute = rows[at + 2]!;
      const checks = rows[at + 3]!;
      batch.counts.add(ref, bucket, checks, 0, 0);
      const person = this.#people[rows[at + 4]!];
      if (person === undefined) continue;
      batch.users.add(ref, minute, person.high, person.low);
      batch.users.add(toSeriesRef(ref), minute, person.high, person.low);
      batch.exposures.addPerson(person.digest);
      batch.exposures.add(ref, minute * 60, checks, 0, 0);
    }
    for (const total of this.#totals) batch.totals.push(total);
  }

  rememberTotals(latest: LatestTotals): ReadonlySet<LedgerNote> {
    const notes = this.#totals.map((total, at) => latest.add(total, this.#hasStart[at]!));
    return new Set(notes.filter((note) => note !== undefined));
  }

  #resolveCheck(at: number): void {
    const { checks } = this.#request;
    const place = this.#places[checks[at]!];
    const ref = place && this.#findSeries(place, checks[at + 1]!, checks[at + 2]!);
    if (ref === undefined) return;
    const sent = checks[at + 4]!;
    const { bucket, minute, moved } = this.#countedAt(sent === noTime ? this.#now : sent * 60_000);
    this.#moved ||= moved;
    this.#rows.push(ref, bucket, minute, checks[at + 5]!, this.#addPerson(checks[at + 3]!));
  }

  #resolveTotal(at: number): void {
    const { totals } = this.#request;
    const place = this.#places[totals[at]!];
    const ref = place && this.#findSeries(place, totals[at + 1]!, totals[at + 2]!);
    if (ref === undefined) return;
    const value = totals[at + 3]!;
    const sent = totals[at + 4]!;
    const start = totals[at + 5]!;
    const { bucket, moved } = this.#countedAt(sent === 0 ? this.#now : sent);
    this.#moved ||= moved;
    this.#totals.push({
      application: this.#holder.application.number,
      digest: digestBytes(totals[at + 6]!, totals[at + 7]!, totals[at + 8]!, totals[at + 9]!),
      ref,
      bucket,
      value,
      at: sent,
      received: this.#now,
      fresh: Math.max(this.#now, sent) - start < freshMs ? 1 : 0,
    });
    this.#hasStart.push(start > 0);
  }

  #findSeries({ environment, service, version }: Place, feature: number, variant: number): number | undefined {
    const { dictionary, senders } = this.#deps;
    const series = dictionary.of(environment.number);
    const name = this.#texts.at(feature)!;
    const ref = series.variant(name, this.#texts.at(variant)!, this.found);
    if (ref === undefined) return undefined;
    const transport = this.#transport;
    const sender = { name: service, version: version || null, transport, route: 'otlp' } as const;
    const asker = senders.ofNamed(this.found, environment.number, sender, this.#now);
    asker.asked(name, ref, series, this.found);
    return ref;
  }

  #countedAt(time: number) {
    return countedAt(time, this.#now, this.#deps.retention);
  }

  /** Returns the index of a user's person, or `nobody` if the application does not accept identities from clients. */
  #addPerson(user: number): number {
    const { application } = this.#holder;
    if (user === noText || !application.acceptClientIdentities) return nobody;
    const known = this.#personAt.get(user);
    if (known !== undefined) return known;
    const identity = this.#texts.at(user)!;
    const person = isIdentity(identity)
      ? this.#people.push(this.#deps.instances.identifyPerson(application.number, identity)) - 1
      : nobody;
    this.#personAt.set(user, person);
    return person;
  }
}

function toSeriesRef(ref: number): number {
  return seriesRef(Math.floor(ref / seriesPerEnvironment), environmentOrdinal);
}

/** Maximum number of totals in each of two maps, which hold totals that are possibly not in the store yet. */
const maxRecent = 10_000;

type Last = Pick<Total, 'value' | 'at'>;

export class LatestTotals {
  readonly #store: Pick<UsageTables, 'totals'>;
  /** Latest totals by application and digest of the series. A total reaches the store only later, from the journal. */
  #recent = new Map<string, Last>();
  /** Earlier totals. Forgetting all earlier totals together is cheaper than forgetting the oldest total each time. */
  #earlier = new Map<string, Last>();

  constructor(store: Pick<UsageTables, 'totals'>) {
    this.#store = store;
  }

  /**
   * Remembers a total.
   * @param hasStart true if the sender states when it began to count
   * @returns the note, if any
   */
  add(total: Total, hasStart: boolean): LedgerNote | undefined {
    const { value, at, fresh } = total;
    const key = `${total.application} ${Buffer.from(total.digest).toString('latin1')}`;
    const last = this.#recent.get(key) ?? this.#earlier.get(key) ?? lastTotal(this.#store, total);
    const isLate = last !== undefined && value < last.value && at <= last.at;
    this.#recent.set(key, isLate ? last : { value, at });
    if (this.#recent.size >= maxRecent) {
      this.#earlier = this.#recent;
      this.#recent = new Map();
    }
    if (last === undefined) return fresh === 1 ? undefined : 'first_point';
    // A restarted process has another start and digest. A smaller value therefore means that processes share a series.
    return hasStart && value < last.value && !isLate ? 'shared_series' : undefined;
  }
}
