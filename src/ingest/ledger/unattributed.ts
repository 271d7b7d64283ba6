import type { MessageRoute, Transport } from '../../contract/message-routes.ts';
import type { RefusalCode } from '../../contract/refusals.ts';
import { type AcceptedSender, orNull } from './hour-rows.ts';

/** Maximum number of distinct refusals. */
export const maxKinds = 50;

/** Length of the kept prefix of a key, as in lists of keys. */
const prefixLength = 12;

/** Prefixes of this service's keys and secrets. Anything else may be a password and is not stored. */
const ours = /^fm_[a-z]{2,8}_/;

/** What a refused message reveals about a sender that is not a known application. */
export interface Claim {
  readonly appKey?: string | undefined;
  readonly environment?: string | undefined;
  readonly origin?: string | undefined;
}

type Source = Pick<AcceptedSender, 'route' | 'transport' | 'userAgent'>;

export interface UnattributedRefusal {
  readonly code: RefusalCode;
  readonly route: MessageRoute;
  readonly transport: Transport;
  /** The prefix of the key sent; `null` if it does not look like a key. */
  readonly keyPrefix: string | null;
  readonly origin: string | null;
  readonly userAgent: string | null;
  readonly environment: string | null;
  readonly count: number;
  /** The last one, Unix ms. */
  readonly at: number;
}

/**
 * Recent refusals outside any application's ledger. They help to find a sender whose key is misspelt or deleted. Unauthenticated senders
 * choose the content, so entries are few, texts are short, and new entries evict the oldest.
 */
export class LatestUnattributed {
  /** By their text, latest last. */
  readonly #kinds = new Map<string, UnattributedRefusal>();

  get latest(): readonly UnattributedRefusal[] {
    return [...this.#kinds.values()].reverse();
  }

  add(code: RefusalCode, { route, transport, userAgent }: Source, claim: Claim, at: number): void {
    const kind = {
      code,
      route,
      transport,
      keyPrefix: keyPrefixOf(claim.appKey),
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

  /** Removes and returns all, latest last. */
  take(): readonly UnattributedRefusal[] {
    const taken = [...this.#kinds.values()];
    this.#kinds.clear();
    return taken;
  }
}

function keyPrefixOf(text: string | undefined): string | null {
  return text !== undefined && ours.test(text) ? text.slice(0, prefixLength) : null;
}
