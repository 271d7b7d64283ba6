import { openPart } from '../../accounts/secrets.ts';
import { messageRoutes } from '../../contract/message-routes.ts';
import { LedgerBound, ofOtherSenders } from '../../storage/aggregate/hot-ledger.ts';
import type { LedgerRow } from '../../storage/commit/batch.ts';
import { encodeDimensions, type LedgerDimensions } from '../../storage/lmdb/ledger.ts';

/** Limits of the index of accepted senders: entries, and length of a User-Agent. Further senders are not indexed. */
const maxRecent = 300;
const maxRecentAgent = 300;

export type SentDimensions = Omit<LedgerDimensions, 'userAgent' | 'instance'> & {
  readonly userAgent: string | undefined;
  readonly instance?: string | undefined;
};

export type AcceptedSender = Pick<SentDimensions, 'route' | 'transport' | 'environment' | 'userAgent' | 'instance'>;

interface RecentSender extends AcceptedSender {
  readonly row: LedgerRow;
}

/** Ledger rows of one application in one hour. Their number is limited, because anyone can choose their content. */
export class HourRows {
  readonly application: number;
  readonly hour: number;
  readonly #rows = new Map<string, LedgerRow>();
  readonly #bound = new LedgerBound();
  /** Accepted senders, by instance or else by User-Agent. */
  readonly #recent = new Map<string | undefined, RecentSender[]>();
  #recentSize = 0;

  /** @param known dimensions of the rows that the store already has for this hour */
  constructor(application: number, hour: number, known: Iterable<LedgerDimensions>) {
    this.application = application;
    this.hour = hour;
    for (const dimensions of known) this.#open(dimensions, encodeDimensions(dimensions));
  }

  get size(): number {
    return this.#rows.size;
  }

  row({ userAgent, instance, ...rest }: SentDimensions): LedgerRow {
    const dimensions = { ...rest, userAgent: orNull(userAgent), instance: orNull(instance) };
    const text = encodeDimensions(dimensions);
    const known = this.#rows.get(text);
    if (known !== undefined) return known;
    if (this.#bound.admits(dimensions)) return this.#open(dimensions, text);
    const other = ofOtherSenders(dimensions);
    const otherText = encodeDimensions(other);
    return this.#rows.get(otherText) ?? this.#open(other, otherText);
  }

  /** Returns the row of an accepted message. Runs for every packet, so rows of recent senders come from an index. */
  acceptedRow(sender: AcceptedSender): LedgerRow {
    const name = sender.instance ?? sender.userAgent;
    const recent = this.#recent.get(name);
    if (recent !== undefined) for (const each of recent) if (isSameSender(each, sender)) return each.row;
    const row = this.row(acceptedDimensions(sender));
    this.#remember(name, { ...sender, row });
    return row;
  }

  #remember(name: string | undefined, sender: RecentSender): void {
    const { userAgent = '' } = sender;
    if (this.#recentSize >= maxRecent || userAgent.length > maxRecentAgent) return;
    this.#recentSize += 1;
    const recent = this.#recent.get(name);
    if (recent === undefined) this.#recent.set(name, [sender]);
    else recent.push(sender);
  }

  #open(dimensions: LedgerDimensions, text: string): LedgerRow {
    const row = { application: this.application, hour: this.hour, subject: text };
    this.#rows.set(text, row);
    this.#bound.add(dimensions);
    return row;
  }
}

export function acceptedDimensions(sender: AcceptedSender): SentDimensions {
  const { route, transport, environment, userAgent, instance } = sender;
  const { status } = messageRoutes[route];
  return { environment, transport, route, outcome: 'accepted', status, code: null, userAgent, instance };
}

function isSameSender(a: AcceptedSender, b: AcceptedSender): boolean {
  return (
    a.environment === b.environment &&
    a.route === b.route &&
    a.userAgent === b.userAgent &&
    a.instance === b.instance &&
    a.transport === b.transport
  );
}

/** Returns a text from a request in the form that the ledger stores. */
export function orNull(text: string | undefined): string | null {
  return text === undefined ? null : ledgerText(text);
}

/** Maximum length of a text that the ledger stores from a request, in characters. */
const longest = 200;

/** Patterns of keys, secrets and tokens. A short prefix of this service's keys is kept. */
const secrets = /(fm_[a-z]+_[0-9a-z]{0,6})[\w-]*/gi;
const tokens = /eyJ[\w-]{8,}[\w.-]*/g;

/** Makes a text from a request safe to store: short, without control characters and secrets of this service. */
export function ledgerText(text: string): string {
  const head = text.slice(0, 4 * longest).replace(/[\p{Cc}\p{Cs}\u2028\u2029]/gu, '');
  const open = head.replace(secrets, '$1…').replace(tokens, 'eyJ…');
  return cut(open);
}

/** Returns the part of an Unleash token that is not secret: `default:production.…`; `undefined` for other texts. */
export function findOpenPart(token: string): string | undefined {
  const open = openPart.exec(token)?.[0];
  return open === undefined || open === token ? undefined : `${open}…`;
}

/** Truncates a text without splitting a surrogate pair. */
function cut(text: string): string {
  if (text.length <= longest) return text;
  return `${text.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
