import type { RefusalCode } from '../../contract/refusals.ts';
import type { LedgerRoute, Transport } from '../../storage/lmdb/ledger.ts';
import { ledgerText } from './text.ts';

/** Kinds of refusals that are told apart. */
export const maxStrangers = 50;

/** How much of a key is kept to recognise it by, as lists of keys show it. */
const prefixLength = 12;

/** The marks of this service's keys and secrets. Anything else may be a password: nothing of it is kept. */
const ours = /^fm_[a-z]{2,8}_/;

/** What a refused message says of its sender, when that is no application of the service. */
export interface Claim {
  readonly appKey?: string | undefined;
  readonly environment?: string | undefined;
  readonly origin?: string | undefined;
}

/** Where a message came from. */
interface Source {
  readonly route: LedgerRoute;
  readonly transport: Transport;
  readonly userAgent: string | undefined;
}

/** Refusals of one kind. */
export interface Stranger {
  readonly code: RefusalCode;
  readonly route: LedgerRoute;
  readonly transport: Transport;
  /** The beginning of what was sent as a key; `null` when it does not begin like one. */
  readonly keyPrefix: string | null;
  readonly origin: string | null;
  readonly userAgent: string | null;
  readonly environment: string | null;
  readonly count: number;
  /** The last one, Unix ms. */
  readonly at: number;
}

/**
 * The last kinds of refusals that no application's ledger shows, in memory: a sender whose key is misspelt or deleted can be
 * found by them. Strangers choose what is in them, so there are few, their texts are short, and what came last displaces what
 * came first.
 */
export class Strangers {
  /** By their text, the latest last. */
  readonly #kinds = new Map<string, Stranger>();

  /** The latest first. */
  get latest(): readonly Stranger[] {
    return [...this.#kinds.values()].reverse();
  }

  /** Counts a refusal, at `at` (Unix ms). */
  add(code: RefusalCode, { route, transport, userAgent }: Source, claim: Claim, at: number): void {
    const kind = {
      ...{ code, route, transport },
      keyPrefix: keyPrefixOf(claim.appKey),
      origin: orNull(claim.origin),
      userAgent: orNull(userAgent),
      environment: orNull(claim.environment),
    };
    const text = JSON.stringify(Object.values(kind));
    const count = (this.#kinds.get(text)?.count ?? 0) + 1;
    this.#kinds.delete(text);
    this.#kinds.set(text, { ...kind, count, at });
    if (this.#kinds.size > maxStrangers) this.#kinds.delete(this.#kinds.keys().next().value as string);
  }
}

function keyPrefixOf(text: string | undefined): string | null {
  return text !== undefined && ours.test(text) ? text.slice(0, prefixLength) : null;
}

function orNull(text: string | undefined): string | null {
  return text === undefined ? null : ledgerText(text);
}
