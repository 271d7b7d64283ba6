import type { LedgerRow } from '../commit/ledger-tallies.ts';
import { type LedgerSubject, otherSenders, subjectText } from '../store/ledger.ts';
import { ledgerText } from './text.ts';

/** Senders of one application that an hour shows by name; the others are `otherSenders`. */
export const sendersPerHour = 50;
/** Rows that an application's hour may have before all new senders count as others. */
const rowsPerHour = 1000;
/** User-Agents that an environment's hour finds without making up the row anew. */
const knownAgents = 100;
/** Senders of reports that an hour finds so, and the longest User-Agent that one may have. */
const knownSenders = 200;
const longestAgent = 300;

/** A subject whose sender is as it was sent. */
export type SentSubject = Omit<LedgerSubject, 'userAgent' | 'instance'> & {
  readonly userAgent: string | undefined;
  readonly instance?: string | undefined;
};

/** Something that was accepted, as it was sent, and its row. */
interface Sent {
  readonly sent: SentSubject;
  readonly row: LedgerRow;
}

/** The rows of one application and hour. It is bounded, though strangers choose what is in it. */
export class HourRows {
  readonly application: number;
  readonly hour: number;
  readonly #rows = new Map<string, LedgerRow>();
  readonly #senders = new Set<string>();
  /** Rows of accepted packets, by the environment's number and the User-Agent as it was sent. */
  readonly #packets = new Map<number, Map<string | undefined, LedgerRow>>();

  /** Rows of other things accepted, by the instance that sent them. */
  readonly #reports = new Map<string | undefined, Sent[]>();
  #reportSenders = 0;

  /** @param known what the store has of this hour */
  constructor(application: number, hour: number, known: Iterable<LedgerSubject>) {
    this.application = application;
    this.hour = hour;
    for (const subject of known) {
      this.#open(subjectText(subject));
      if (subject.userAgent !== otherSenders) this.#senders.add(senderText(subject));
    }
  }

  get size(): number {
    return this.#rows.size;
  }

  /** The row of a subject, whose sender may have to be one of the others. */
  row({ userAgent, instance, ...rest }: SentSubject): LedgerRow {
    const subject = { ...rest, userAgent: orNull(userAgent), instance: orNull(instance) };
    const text = subjectText(subject);
    const known = this.#rows.get(text);
    if (known !== undefined) return known;
    if (this.#hasRoomFor(subject)) return this.#open(text);
    const other = subjectText({ ...rest, userAgent: otherSenders, instance: null });
    return this.#rows.get(other) ?? this.#open(other);
  }

  /** The row of accepted packets: found without making up a text, for there are many of them. */
  packetRow(environment: number, userAgent: string | undefined, subject: () => SentSubject): LedgerRow {
    const agents = this.#packets.get(environment) ?? this.#openAgents(environment);
    const known = agents.get(userAgent);
    if (known !== undefined) return known;
    const row = this.row(subject());
    if (agents.size < knownAgents) agents.set(userAgent, row);
    return row;
  }

  /** The row of something else that was accepted, such as a report: found in the same way. */
  acceptedRow(subject: SentSubject): LedgerRow {
    const { instance, userAgent = '' } = subject;
    const ofInstance = this.#reports.get(instance) ?? [];
    const known = ofInstance.find(({ sent }) => isSameSender(sent, subject));
    if (known !== undefined) return known.row;
    const row = this.row(subject);
    if (this.#reportSenders >= knownSenders || userAgent.length > longestAgent) return row;
    this.#reportSenders += 1;
    this.#reports.set(instance, [...ofInstance, { sent: subject, row }]);
    return row;
  }

  #hasRoomFor(subject: LedgerSubject): boolean {
    if (this.#rows.size >= rowsPerHour) return false;
    const sender = senderText(subject);
    if (this.#senders.size >= sendersPerHour && !this.#senders.has(sender)) return false;
    this.#senders.add(sender);
    return true;
  }

  #open(subject: string): LedgerRow {
    const row = { application: this.application, hour: this.hour, subject };
    this.#rows.set(subject, row);
    return row;
  }

  #openAgents(environment: number): Map<string | undefined, LedgerRow> {
    const agents = new Map<string | undefined, LedgerRow>();
    this.#packets.set(environment, agents);
    return agents;
  }
}

/** Of two things accepted, sent by the same instance. */
function isSameSender(a: SentSubject, b: SentSubject): boolean {
  return (
    a.userAgent === b.userAgent &&
    a.environment === b.environment &&
    a.route === b.route &&
    a.transport === b.transport
  );
}

function senderText({ userAgent, instance }: LedgerSubject): string {
  return JSON.stringify([userAgent, instance]);
}

function orNull(text: string | undefined): string | null {
  return text === undefined ? null : ledgerText(text);
}
