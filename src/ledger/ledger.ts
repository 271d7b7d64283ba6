import type { KeyHolder } from '../accounts/key-holder.ts';
import type { Clock } from '../clock.ts';
import type { LedgerRow, LedgerTallies } from '../commit/ledger-tallies.ts';
import { type ApiError, catalogue, type ErrorCode } from '../errors.ts';
import {
  type LedgerExample,
  type LedgerRoute,
  type LedgerSubject,
  ledgerEntries,
  type Transport,
} from '../store/ledger.ts';
import type { Application, Environment } from '../store/records.ts';
import type { UsageStore } from '../store/usage.ts';
import { HourRows, type SentSubject } from './hour-rows.ts';
import type { LedgerNote } from './notes.ts';
import { ledgerText } from './text.ts';

/** Where a packet or report came from. */
export interface LedgerSource {
  readonly route: LedgerRoute;
  readonly transport: Transport;
  readonly userAgent: string | undefined;
  readonly instance?: string | undefined;
}

/** Where something belongs that was accepted. */
export interface AttributedSource extends LedgerSource {
  readonly application: Application;
  readonly environment: Environment | undefined;
}

/** Whom a refusal concerns, as far as it could be made out. */
export interface Refused {
  readonly holder: KeyHolder | undefined;
  /** The environment that was asked for. */
  readonly environment?: string | undefined;
  readonly origin?: string | undefined;
}

interface LedgerDeps {
  readonly store: UsageStore;
  readonly clock: Clock;
  /** Where an application's tallies wait for the next commit. */
  laneOf(applicationNumber: number): Tallying;
}

/** A batch, or the lane that it goes by: whatever takes what the ledger says to the disk. */
interface Tallying {
  readonly ledger: LedgerTallies;
}

/** Rows that are held to be found again: about 30 MB. */
const maxRows = 50_000;

/** Status of what was accepted. */
const acceptedStatus = (route: LedgerRoute) => (route === 'telemetry' ? 202 : 200);

/**
 * Counts what becomes of packets and reports, so that somebody who misses data finds out why. What was accepted is counted
 * in its own batch, so it is on disk exactly when the packet is; the rest goes with the next batch.
 */
export class Ledger {
  /** Refusals that no application is to see, by code. */
  readonly unattributed = new Map<ErrorCode, number>();
  /** Refusals that an application sees, by code. */
  readonly attributed = new Map<ErrorCode, number>();
  readonly #parts: LedgerDeps;
  readonly #books = new Map<number, HourRows>();
  #rows = 0;

  constructor(parts: LedgerDeps) {
    this.#parts = parts;
  }

  /** Counts an accepted packet in its batch, `at` Unix ms. */
  packet(
    batch: Tallying,
    application: Application,
    environment: Environment,
    userAgent: string | undefined,
    at: number,
  ): void {
    const row = this.#rowIn(application, at, (book) =>
      book.packetRow(environment.number, userAgent, () =>
        acceptedSubject({ route: 'telemetry', transport: 'http', userAgent, environment }),
      ),
    );
    batch.ledger.add(row, at);
  }

  /** Counts something accepted: in the batch that holds it, or without one when it holds nothing new. */
  accepted(place: AttributedSource, batch: Tallying = this.#parts.laneOf(place.application.number)): void {
    const at = this.#parts.clock.now();
    const subject = acceptedSubject(place);
    const row = this.#rowIn(place.application, at, (book) => book.acceptedRow(subject));
    batch.ledger.add(row, at);
  }

  /** Notes what else is to be said of something accepted. */
  noted(
    place: AttributedSource,
    code: LedgerNote,
    batch: Tallying = this.#parts.laneOf(place.application.number),
  ): void {
    const at = this.#parts.clock.now();
    const subject: SentSubject = { ...acceptedSubject(place), outcome: 'noted', code };
    batch.ledger.add(this.#rowOf(place.application, subject, at), at);
  }

  /** Counts a refusal of a body that was not read, whose application is therefore unknown. */
  refusedUnread({ code }: ApiError): void {
    this.unattributed.set(code, (this.unattributed.get(code) ?? 0) + 1);
  }

  /** Counts a refusal: for the application that it concerns, else only for the process. */
  refused(refusal: ApiError, source: LedgerSource, refused: Refused): void {
    const { holder, environment = '' } = refused;
    const { code, status } = refusal;
    if (holder === undefined) {
      this.refusedUnread(refusal);
      return;
    }
    this.attributed.set(code, (this.attributed.get(code) ?? 0) + 1);
    const { application } = holder;
    const known = holder.environments.get(environment)?.number ?? null;
    const at = this.#parts.clock.now();
    const row = this.#rowOf(
      application,
      { ...source, environment: known, outcome: 'refused', status, code },
      at,
    );
    this.#parts.laneOf(application.number).ledger.add(row, at, exampleOf(refusal, holder, refused));
  }

  #rowOf(application: Application, subject: SentSubject, at: number): LedgerRow {
    return this.#rowIn(application, at, (book) => book.row(subject));
  }

  #rowIn(application: Application, at: number, find: (book: HourRows) => LedgerRow): LedgerRow {
    const book = this.#bookOf(application, at);
    const before = book.size;
    const row = find(book);
    if (book.size > before) this.#grown(book.size - before);
    return row;
  }

  #bookOf({ number }: Application, at: number): HourRows {
    const hour = Math.floor(at / 3_600_000);
    const book = this.#books.get(number);
    return book?.hour === hour ? book : this.#open(number, hour, book);
  }

  #open(application: number, hour: number, last: HourRows | undefined): HourRows {
    const book = new HourRows(application, hour, subjectsOf(this.#parts.store, application, hour));
    this.#grown(book.size - (last?.size ?? 0));
    this.#books.set(application, book);
    return book;
  }

  /** Books can be let go of at any time: what they counted is elsewhere, and their rows are in the store. */
  #grown(rows: number): void {
    this.#rows += rows;
    if (this.#rows <= maxRows) return;
    this.#books.clear();
    this.#rows = 0;
  }
}

function* subjectsOf(store: UsageStore, application: number, hour: number): Generator<LedgerSubject> {
  for (const { subject } of ledgerEntries(store, application, hour, hour + 1)) yield subject;
}

function acceptedSubject(place: Omit<AttributedSource, 'application'>): SentSubject {
  const { route, transport, userAgent, instance } = place;
  const environment = place.environment?.number ?? null;
  const status = acceptedStatus(route);
  return { environment, transport, route, outcome: 'accepted', status, code: null, userAgent, instance };
}

/** The detail of a 400 says what the packet holds and where, so the title, which never changes, stands for it. */
function exampleOf({ code, status, message }: ApiError, { key }: KeyHolder, refused: Refused): LedgerExample {
  const leaked = code === 'unknown_key' && key.type === 'Backend';
  const detail = status === 400 ? catalogue[code].title : message;
  return {
    ...(refused.environment === undefined ? {} : { environment: ledgerText(refused.environment) }),
    ...(refused.origin === undefined ? {} : { origin: ledgerText(refused.origin) }),
    keyId: key.id,
    keyPrefix: key.prefix,
    keyType: key.type,
    detail: leaked ? 'A Backend key was sent as k: it is a secret, so it has leaked; replace it' : detail,
  };
}
