import type { UserHash } from '../../../storage/aggregate/user-hash.ts';
import type { Digest } from '../../../storage/commit/records.ts';
import type { InstanceUse } from '../../../storage/lmdb/instances.ts';

/** A user of an application. The hash counts unique users; the digest finds the person's exposures. */
export interface Person extends UserHash {
  readonly digest: Digest;
}

export interface FoundPerson {
  readonly person: Person;
  /** Set if this use extends the id. */
  readonly use: InstanceUse | undefined;
}

export interface Known {
  readonly application: number;
  readonly person: Person;
  readonly replaced: boolean;
  /** Unix ms. */
  readonly expiresAt: number;
  /** Unix ms. */
  readonly readAt: number;
}

/** A change of the cached instance ids that the main thread publishes. */
export type InstanceChange =
  | { readonly instanceId: string; readonly known: Known }
  /** The ids of a person have changed. */
  | { readonly dropped: string }
  | { readonly cleared: true };

/** The threads that attribute packets to people that the main thread has found. */
export interface InstanceThreads {
  publish(change: InstanceChange): void;
  /** Resolves when all earlier packets of an application in these threads are on disk or refused. */
  barrier(application: number): Promise<void>;
}

/** Cached ids: about 20 MB. */
const maxKnown = 50_000;
/** Time until a cached id is read again. */
const knownMs = 60_000;
const dayMs = 86_400_000;

/** A cache of valid instance ids. Made-up ids take no memory. */
export class KnownInstances {
  readonly #known = new Map<string, Known>();
  /** The cached ids by person, so that minting and forgetting take effect at once. */
  readonly #idsOf = new Map<string, string[]>();
  readonly #ttlMs: number;
  /** Minimum extension of an id's expiry, so that most uses need no write. */
  readonly #strideMs: number;

  /** @param ttlMs lifetime of an id after its last use */
  constructor(ttlMs: number) {
    this.#ttlMs = ttlMs;
    this.#strideMs = Math.min(dayMs, ttlMs / 10);
  }

  /** A cached id, even if it has expired or was read long ago. */
  get(instanceId: string): Known | undefined {
    return this.#known.get(instanceId);
  }

  /** An id that was read recently. An expired one is read again: another thread may have extended it. @param now Unix ms */
  recall(instanceId: string, now: number): Known | undefined {
    const known = this.get(instanceId);
    if (known === undefined || known.expiresAt <= now) return undefined;
    return Math.abs(now - known.readAt) < knownMs ? known : undefined;
  }

  remember(instanceId: string, known: Known): void {
    if (this.#known.size >= maxKnown) this.clear();
    this.#known.set(instanceId, known);
    const name = nameOf(known.application, known.person);
    const ids = this.#idsOf.get(name);
    if (ids === undefined) this.#idsOf.set(name, [instanceId]);
    else if (!ids.includes(instanceId)) ids.push(instanceId);
  }

  use(instanceId: string, known: Known, now: number): FoundPerson {
    const { application, person } = known;
    const expiresAt = now + this.#ttlMs;
    if (known.replaced || expiresAt - known.expiresAt < this.#strideMs) return { person, use: undefined };
    this.#known.set(instanceId, { ...known, expiresAt });
    return { person, use: { application, instanceId, expiresAt } };
  }

  /** @param name see `nameOf` */
  drop(name: string): void {
    for (const instanceId of this.#idsOf.get(name) ?? []) this.#known.delete(instanceId);
    this.#idsOf.delete(name);
  }

  clear(): void {
    this.#known.clear();
    this.#idsOf.clear();
  }
}

export function nameOf(application: number, { high, low }: UserHash): string {
  return `${application}/${high}/${low}`;
}
