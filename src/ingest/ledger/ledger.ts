/*
 * src/ingest/ledger: what happened to each packet and report, so that a team can find out why its data is missing. Ledger counts
 * rows, hour-rows.ts bounds them, notes.ts lists what is noted, strangers.ts keeps the last refusals of no application,
 * text.ts makes texts from requests safe to keep.
 */
import type { KeyHolder } from '../../accounts/key-holder.ts';
import type { ApiError } from '../../contract/errors.ts';
import type { LedgerNote } from '../../contract/notes.ts';
import { type RefusalCode, refusals } from '../../contract/refusals.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { LedgerRow, LedgerTallies } from '../../storage/commit/ledger-tallies.ts';
import {
  type LedgerExample,
  type LedgerRoute,
  type LedgerSubject,
  ledgerEntries,
  type Transport,
} from '../../storage/lmdb/ledger.ts';
import type { Application, Environment } from '../../storage/lmdb/records.ts';
import type { UsageStore } from '../../storage/lmdb/usage.ts';
import { type AcceptedSender, acceptedSubject, HourRows, type SentSubject } from './hour-rows.ts';
import { type Claim, Strangers } from './strangers.ts';
import { ledgerText } from './text.ts';

/** Where a packet or report came from. */
export interface LedgerSource {
  readonly route: LedgerRoute;
  readonly transport: Transport;
  readonly userAgent: string | undefined;
  readonly instance?: string | undefined;
}

/** The source of something accepted, with what its key belongs to. */
export interface AttributedSource extends LedgerSource {
  readonly application: Application;
  readonly environment: Environment | undefined;
}

/** Where a refusal belongs. */
export interface Refused {
  readonly holder: KeyHolder;
  /** The environment that the request named. */
  readonly environment?: string | undefined;
  readonly origin?: string | undefined;
}

interface LedgerDeps {
  readonly store: UsageStore;
  readonly clock: Clock;
  /** Where an application's tallies wait for the next commit. */
  laneOf(applicationNumber: number): Tallying;
}

/** A batch, or the lane whose next batch takes the tallies along. */
interface Tallying {
  readonly ledger: LedgerTallies;
}

/** Rows that are kept in memory so that they are found again: about 30 MB. */
const maxRows = 50_000;

/**
 * Counts what was accepted, refused and noted, so that an application's team can find out why data is missing. An accepted
 * packet is counted in its own batch, so both are on disk or neither is; everything else is committed with the next batch.
 */
export class Ledger {
  /** Refusals that no application's ledger shows, by code. */
  readonly unattributed = new Map<RefusalCode, number>();
  /** What is known of the last of them. */
  readonly strangers = new Strangers();
  /** Refusals that an application's ledger shows, by code. */
  readonly attributed = new Map<RefusalCode, number>();
  /** Usage and metrics reports that were accepted. */
  reports = 0;
  readonly #deps: LedgerDeps;
  /** The current hour of each application. */
  readonly #hours = new Map<number, HourRows>();
  #rows = 0;

  constructor(deps: LedgerDeps) {
    this.#deps = deps;
  }

  /** Counts an accepted packet in its batch, `at` Unix ms. */
  packet(
    batch: Tallying,
    application: Application,
    { number }: Environment,
    userAgent: string | undefined,
    at: number,
  ): void {
    const sender = { route: 'telemetry', transport: 'http', environment: number, userAgent } as const;
    this.#countAccepted(batch, application, sender, at);
  }

  /** Counts something accepted: in the batch that holds it, or in the next one when it holds nothing new. */
  accepted(source: AttributedSource, batch: Tallying = this.#laneOf(source)): void {
    if (source.route !== 'identities') this.reports += 1;
    this.#countAccepted(batch, source.application, senderOf(source), this.#deps.clock.now());
  }

  /** Adds a note about something accepted. */
  noted(source: AttributedSource, code: LedgerNote, batch: Tallying = this.#laneOf(source)): void {
    const at = this.#deps.clock.now();
    const subject = { ...acceptedSubject(senderOf(source)), outcome: 'noted', code } as const;
    batch.ledger.add(this.#rowOf(source.application, subject, at), at);
  }

  /** Counts a refusal that says nothing of its sender. */
  refusedUnread({ code }: ApiError): void {
    this.unattributed.set(code, (this.unattributed.get(code) ?? 0) + 1);
  }

  /** Counts a refusal of a sender whose application is not known: for the whole process only. */
  refusedStranger(refusal: ApiError, source: LedgerSource, claim: Claim): void {
    this.refusedUnread(refusal);
    this.strangers.add(refusal.code, source, claim, this.#deps.clock.now());
  }

  /** Counts a refusal in the ledger of its application. */
  refused(refusal: ApiError, source: LedgerSource, refused: Refused): void {
    const { holder, environment = '' } = refused;
    const { code, status } = refusal;
    this.attributed.set(code, (this.attributed.get(code) ?? 0) + 1);
    const { application } = holder;
    const number = holder.environments.get(environment)?.number ?? null;
    const at = this.#deps.clock.now();
    const subject = { ...source, environment: number, outcome: 'refused', status, code } as const;
    const row = this.#rowOf(application, subject, at);
    this.#deps.laneOf(application.number).ledger.add(row, at, exampleOf(refusal, holder, refused));
  }

  #laneOf({ application }: AttributedSource): Tallying {
    return this.#deps.laneOf(application.number);
  }

  #countAccepted(batch: Tallying, application: Application, sender: AcceptedSender, at: number): void {
    const rows = this.#rowsOf(application, at);
    const before = rows.size;
    const row = rows.acceptedRow(sender);
    this.#grow(rows.size - before);
    batch.ledger.add(row, at);
  }

  #rowOf(application: Application, subject: SentSubject, at: number): LedgerRow {
    const rows = this.#rowsOf(application, at);
    const before = rows.size;
    const row = rows.row(subject);
    this.#grow(rows.size - before);
    return row;
  }

  #rowsOf({ number }: Application, at: number): HourRows {
    const hour = Math.floor(at / 3_600_000);
    const rows = this.#hours.get(number);
    return rows?.hour === hour ? rows : this.#open(number, hour, rows);
  }

  #open(application: number, hour: number, last: HourRows | undefined): HourRows {
    const rows = new HourRows(application, hour, subjectsOf(this.#deps.store, application, hour));
    this.#grow(rows.size - (last?.size ?? 0));
    this.#hours.set(application, rows);
    return rows;
  }

  /** Forgets all rows when there are too many: they hold no counts, and those committed are read back from the store. */
  #grow(rows: number): void {
    this.#rows += rows;
    if (this.#rows <= maxRows) return;
    this.#hours.clear();
    this.#rows = 0;
  }
}

function* subjectsOf(store: UsageStore, application: number, hour: number): Generator<LedgerSubject> {
  for (const { subject } of ledgerEntries(store, application, hour, hour + 1)) yield subject;
}

function senderOf({ route, transport, userAgent, instance, environment }: AttributedSource): AcceptedSender {
  return { route, transport, userAgent, instance, environment: environment?.number ?? null };
}

/** The example has the title of a 400, not its detail, because the detail quotes the packet. */
function exampleOf({ code, status, message }: ApiError, { key }: KeyHolder, refused: Refused): LedgerExample {
  const leaked = code === 'unknown_key' && key.type === 'Backend';
  const detail = status === 400 ? refusals[code].title : message;
  return {
    ...(refused.environment === undefined ? {} : { environment: ledgerText(refused.environment) }),
    ...(refused.origin === undefined ? {} : { origin: ledgerText(refused.origin) }),
    keyId: key.id,
    keyPrefix: key.prefix,
    keyType: key.type,
    detail: leaked ? 'A Backend key was sent as k: it is a secret, so it has leaked; replace it' : detail,
  };
}
