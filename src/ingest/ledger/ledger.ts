/*
 * src/ingest/ledger: records the outcome of each packet and report, so that a team can find out why data is missing.
 * `Ledger` counts messages in rows. hour-rows.ts limits the number of rows and makes texts of requests safe to store.
 */

import type { KeyHolder } from '../../accounts/key-index.ts';
import type { Refusal } from '../../contract/errors.ts';
import type { MessageRoute, Transport } from '../../contract/message-routes.ts';
import type { LedgerNote } from '../../contract/notes.ts';
import { type RefusalCode, refusals } from '../../contract/refusals.ts';
import type { Clock } from '../../runtime/clock.ts';
import { increase } from '../../runtime/counts.ts';
import type { Outbox } from '../../runtime/outbox.ts';
import type { LedgerRow, LedgerTotals } from '../../storage/commit/batch.ts';
import {
  encodeDimensions,
  type LedgerDimensions,
  type LedgerExample,
  ledgerEntries,
  noApplication,
} from '../../storage/lmdb/ledger.ts';
import type { Application, Environment } from '../../storage/lmdb/records.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import {
  type AcceptedSender,
  acceptedDimensions,
  findOpenPart,
  HourRows,
  ledgerText,
  orNull,
  type SentDimensions,
} from './hour-rows.ts';

export interface LedgerSource {
  readonly route: MessageRoute;
  readonly transport: Transport;
  readonly userAgent: string | undefined;
  readonly instance?: string | undefined;
}

export interface AttributedSource extends LedgerSource {
  readonly application: Application;
  readonly environment: Environment | undefined;
}

/** Sender and place of a refusal. */
interface RefusalOwner {
  readonly holder: KeyHolder;
  readonly environment?: string | undefined;
  readonly origin?: string | undefined;
}

/** Counts and refusals that are only in memory. */
export interface LedgerFigures {
  readonly unattributed: ReadonlyMap<RefusalCode, number>;
  readonly attributed: ReadonlyMap<RefusalCode, number>;
  /** Refusals that belong to no application, the latest last. */
  readonly latestUnattributed: readonly UnattributedRefusal[];
}

interface LedgerDeps {
  /** Store with rows of earlier runs. Other threads lack it, because `HotLedger` limits the rows of all threads. */
  readonly store?: UsageTables;
  readonly clock: Clock;
  /** Sends the result of `takeFigures` to the main thread. Absent in the main thread. */
  readonly outbox?: Pick<Outbox, 'send' | 'sendLater'>;
  /** Returns the lane in which an application's counts wait for the next commit. */
  findLane(applicationNumber: number): LedgerBatch;
}

/** A batch, or a lane whose next batch includes the counts. */
interface LedgerBatch {
  readonly ledger: LedgerTotals;
}

/** Maximum number of cached rows, which take about 30 MB. */
const maxRows = 50_000;

/**
 * Counts messages. An accepted packet is counted in the batch with its data. All other messages are counted in the next
 * batch.
 */
export class Ledger {
  /** Refusals without a known application, by code. */
  readonly unattributed = new Map<RefusalCode, number>();
  readonly latestUnattributed = new UnattributedRefusals();
  /** Refusals in the ledger of an application, by code. */
  readonly attributed = new Map<RefusalCode, number>();
  /** Number of accepted usage and metrics reports. */
  reports = 0;
  readonly #deps: LedgerDeps;
  readonly #hours = new Map<number, HourRows>();
  #rows = 0;

  constructor(deps: LedgerDeps) {
    this.#deps = deps;
  }

  packet(
    batch: LedgerBatch,
    application: Application,
    { number }: Environment,
    userAgent: string | undefined,
    at: number,
  ): void {
    const sender = { route: 'telemetry', transport: 'http', environment: number, userAgent } as const;
    this.#countAccepted(batch, application, sender, at);
  }

  /** Counts an accepted message in the batch with its data, or in the next batch if the message has no data. */
  accepted(source: AttributedSource, batch: LedgerBatch = this.#findLane(source)): void {
    if (source.route !== 'identities') this.reports += 1;
    this.#countAccepted(batch, source.application, createSender(source), this.#deps.clock.now());
  }

  /** Counts a note. @param path path of the entry that the note is about; the ledger shows it as an example */
  noted(source: AttributedSource, code: LedgerNote, batch: LedgerBatch = this.#findLane(source), path?: string): void {
    const at = this.#deps.clock.now();
    const dimensions = { ...acceptedDimensions(createSender(source)), outcome: 'noted', code } as const;
    const example = path === undefined ? null : { detail: ledgerText(path) };
    batch.ledger.add(this.#findRow(source.application, dimensions, at), at, example);
  }

  /** Returns the row (as text) for notes about a message, without their code, which a later comparison finds. */
  noteDimensions(source: AttributedSource): string {
    const { userAgent, instance, ...subject } = acceptedDimensions(createSender(source));
    const shown = { userAgent: orNull(userAgent), instance: orNull(instance) };
    return encodeDimensions({ ...subject, ...shown, outcome: 'noted' });
  }

  takeFigures(): LedgerFigures {
    const unattributed = new Map(this.unattributed);
    const attributed = new Map(this.attributed);
    this.unattributed.clear();
    this.attributed.clear();
    return { unattributed, attributed, latestUnattributed: this.latestUnattributed.take() };
  }

  addFigures({ unattributed, attributed, latestUnattributed }: LedgerFigures): void {
    for (const [code, count] of unattributed) increase(this.unattributed, code, count);
    for (const [code, count] of attributed) increase(this.attributed, code, count);
    for (const each of latestUnattributed) this.latestUnattributed.merge(each);
  }

  /** Counts a refusal with no information about its sender. */
  refusedUnread({ code }: Refusal): void {
    increase(this.unattributed, code);
    this.#deps.outbox?.send();
  }

  /** Counts a refusal of a sender without a known application. It is shown only in process-wide counters. */
  refusedUnattributed(refusal: Refusal, source: LedgerSource, claim: Claim): void {
    this.latestUnattributed.add(refusal.code, source, claim, this.#deps.clock.now());
    this.refusedUnread(refusal);
    if (source.route === 'unleash' && refusal.code === 'unknown_key') this.#refusedToken(refusal, source, claim);
  }

  /** Counts a refused Unleash token, so that its owner finds the refusal, which most SDKs do not report. */
  #refusedToken({ code, status }: Refusal, source: LedgerSource, { appKey = '' }: Claim): void {
    const instance = findOpenPart(appKey);
    if (instance === undefined) return;
    const at = this.#deps.clock.now();
    const dimensions = { ...source, instance, environment: null, outcome: 'refused', status, code } as const;
    const row = this.#findRow({ number: noApplication }, dimensions, at);
    this.#deps.findLane(noApplication).ledger.add(row, at);
  }

  refused(refusal: Refusal, source: LedgerSource, refused: RefusalOwner): void {
    const { holder, environment = '' } = refused;
    const { code, status } = refusal;
    increase(this.attributed, code);
    this.#deps.outbox?.sendLater();
    const { application } = holder;
    const number = holder.environments.get(environment)?.number ?? null;
    const at = this.#deps.clock.now();
    const dimensions = { ...source, environment: number, outcome: 'refused', status, code } as const;
    const row = this.#findRow(application, dimensions, at);
    this.#deps.findLane(application.number).ledger.add(row, at, createExample(refusal, source, refused));
  }

  #findLane({ application }: AttributedSource): LedgerBatch {
    return this.#deps.findLane(application.number);
  }

  #countAccepted(batch: LedgerBatch, application: Application, sender: AcceptedSender, at: number): void {
    const rows = this.#findRows(application, at);
    const before = rows.size;
    const row = rows.acceptedRow(sender);
    this.#grow(rows.size - before);
    batch.ledger.add(row, at);
  }

  #findRow(application: Pick<Application, 'number'>, dimensions: SentDimensions, at: number): LedgerRow {
    const rows = this.#findRows(application, at);
    const before = rows.size;
    const row = rows.row(dimensions);
    this.#grow(rows.size - before);
    return row;
  }

  #findRows({ number }: Pick<Application, 'number'>, at: number): HourRows {
    const hour = Math.floor(at / 3_600_000);
    const rows = this.#hours.get(number);
    return rows?.hour === hour ? rows : this.#open(number, hour, rows);
  }

  #open(application: number, hour: number, last: HourRows | undefined): HourRows {
    const rows = new HourRows(application, hour, listDimensions(this.#deps.store, application, hour));
    this.#grow(rows.size - (last?.size ?? 0));
    this.#hours.set(application, rows);
    return rows;
  }

  /** Evicts all cached rows if there are too many. No count is lost, because the store has the rows. */
  #grow(rows: number): void {
    this.#rows += rows;
    if (this.#rows <= maxRows) return;
    this.#hours.clear();
    this.#rows = 0;
  }
}

function* listDimensions(
  store: UsageTables | undefined,
  application: number,
  hour: number,
): Generator<LedgerDimensions> {
  if (store === undefined) return;
  for (const { dimensions } of ledgerEntries(store, application, hour, hour + 1)) yield dimensions;
}

function createSender({ route, transport, userAgent, instance, environment }: AttributedSource): AcceptedSender {
  return { route, transport, userAgent, instance, environment: environment?.number ?? null };
}

/** Returns the example of a refusal: for status 400 the refusal's title, because the detail quotes the packet. */
function createExample(
  { code, status, message }: Refusal,
  { route }: LedgerSource,
  { holder: { key }, environment, origin }: RefusalOwner,
): LedgerExample {
  const leaked = code === 'unknown_key' && key.type === 'Backend';
  const sentIn = route === 'unleash' ? 'in Authorization by a page or an app' : 'as k';
  const detail = status === 400 ? refusals[code].title : message;
  return {
    ...(environment === undefined ? {} : { environment: ledgerText(environment) }),
    ...(origin === undefined ? {} : { origin: ledgerText(origin) }),
    keyId: key.id,
    keyPrefix: key.prefix,
    keyType: key.type,
    detail: leaked ? `A Backend key was sent ${sentIn}. This key has leaked; replace it` : detail,
  };
}

/** Maximum number of refusals that are distinguished. */
export const maxKinds = 50;

/** Length of the stored prefix of a key, as in lists of keys. */
const prefixLength = 12;

/** Pattern of this service's keys and secrets. Any other text could be a password and is not stored. */
const ours = /^fm_[a-z]{2,8}_/;

/** Data that a refused message contains about its sender, whose application is not known. */
export interface Claim {
  readonly appKey?: string | undefined;
  readonly environment?: string | undefined;
  readonly origin?: string | undefined;
}

type Source = Pick<AcceptedSender, 'route' | 'transport' | 'userAgent'>;

interface UnattributedRefusal {
  readonly code: RefusalCode;
  readonly route: MessageRoute;
  readonly transport: Transport;
  /** Prefix of the sent key; `null` if it does not look like a key. */
  readonly keyPrefix: string | null;
  readonly origin: string | null;
  readonly userAgent: string | null;
  readonly environment: string | null;
  readonly count: number;
  /** Time of the last refusal, Unix ms. */
  readonly at: number;
}

/**
 * Recent refusals without a known application. The list helps to find a sender whose key is misspelt or deleted.
 * Unauthenticated senders choose the content, so entries are few, texts are short, and new entries evict the oldest.
 */
export class UnattributedRefusals {
  /** Refusals by a text that combines all their fields, latest last. */
  readonly #kinds = new Map<string, UnattributedRefusal>();

  get latest(): readonly UnattributedRefusal[] {
    return [...this.#kinds.values()].reverse();
  }

  add(code: RefusalCode, { route, transport, userAgent }: Source, claim: Claim, at: number): void {
    const kind = {
      code,
      route,
      transport,
      keyPrefix: readKeyPrefix(claim.appKey),
      origin: orNull(claim.origin),
      userAgent: orNull(userAgent),
      environment: orNull(claim.environment),
    };
    this.merge({ ...kind, count: 1, at });
  }

  merge({ count, at, ...kind }: UnattributedRefusal): void {
    const text = JSON.stringify(Object.values(kind));
    const before = this.#kinds.get(text);
    this.#kinds.delete(text);
    const sum = { ...kind, count: count + (before?.count ?? 0), at: Math.max(at, before?.at ?? 0) };
    this.#kinds.set(text, sum);
    if (this.#kinds.size > maxKinds) this.#kinds.delete(this.#kinds.keys().next().value as string);
  }

  /** Removes and returns all refusals, latest last. */
  take(): readonly UnattributedRefusal[] {
    const taken = [...this.#kinds.values()];
    this.#kinds.clear();
    return taken;
  }
}

function readKeyPrefix(text: string | undefined): string | null {
  return text !== undefined && ours.test(text) ? text.slice(0, prefixLength) : null;
}
