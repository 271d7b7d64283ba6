import type { RandomBytes } from '../../../accounts/secrets.ts';
import { increase } from '../../../runtime/counts.ts';
import { type Hash64, hashIdentity } from '../../../storage/aggregate/user-hash.ts';
import type { Batch } from '../../../storage/commit/batch.ts';
import type { Forgotten } from '../../../storage/commit/envelope.ts';
import { type Digest, digestWords } from '../../../storage/commit/records.ts';
import type { UsageStore } from '../../../storage/commit/usage-store.ts';
import {
  digestIdentity,
  digestOfInstance,
  findInstance,
  type InstanceUse,
  type Mint,
  newInstanceId,
} from '../../../storage/lmdb/instances.ts';
import type { Application } from '../../../storage/lmdb/records.ts';

/** A user of an application. Unique users are counted by the hash; exposures are stored under the digest. */
export interface Person extends Hash64 {
  readonly digest: Digest;
}

interface FoundPerson {
  readonly person: Person;
  /** This use of the id, if it extends the lifetime of the id; otherwise `undefined`. */
  readonly use: InstanceUse | undefined;
}

interface KnownInstance {
  readonly application: number;
  readonly person: Person;
  readonly replaced: boolean;
  /** Time of expiry, Unix ms. */
  readonly expiresAt: number;
  /** Time of reading from the store, Unix ms. */
  readonly readAt: number;
}

/** A change, published by the main thread, of the cached instance ids. */
export type InstanceChange =
  | { readonly instanceId: string; readonly known: KnownInstance }
  /** The ids of the person with this name have changed. */
  | { readonly dropped: string }
  | { readonly cleared: true };

/** Threads that attribute packets to people. The main thread publishes the ids of these people to the threads. */
export interface InstanceThreads {
  publish(change: InstanceChange): void;
  /** Resolves when all earlier packets of an application in these threads are on disk or refused. */
  barrier(application: number): Promise<void>;
}

/** Maximum number of cached ids, which take about 20 MB. */
const maxKnown = 50_000;
/** Time after which a cached id is read again. */
const knownMs = 60_000;
const dayMs = 86_400_000;

/** A cache of valid instance ids. Unknown ids are not cached. */
class KnownInstances {
  readonly #known = new Map<string, KnownInstance>();
  /** Cached ids by person, so that minting and forgetting take effect immediately. */
  readonly #idsByPerson = new Map<string, string[]>();
  readonly #ttlMs: number;
  /** Minimum extension of an id's expiry that is stored. Most uses therefore need no write. */
  readonly #strideMs: number;

  /** @param ttlMs lifetime of an id after its last use */
  constructor(ttlMs: number) {
    this.#ttlMs = ttlMs;
    this.#strideMs = Math.min(dayMs, ttlMs / 10);
  }

  /** Returns a cached id, even if it has expired or was read long ago. */
  get(instanceId: string): KnownInstance | undefined {
    return this.#known.get(instanceId);
  }

  /**
   * Returns an id that was read recently. An expired id must be read again, because another thread could have extended
   * its lifetime.
   * @param now Unix ms
   */
  recall(instanceId: string, now: number): KnownInstance | undefined {
    const known = this.get(instanceId);
    if (known === undefined || known.expiresAt <= now) return undefined;
    return Math.abs(now - known.readAt) < knownMs ? known : undefined;
  }

  remember(instanceId: string, known: KnownInstance): void {
    if (this.#known.size >= maxKnown) this.clear();
    this.#known.set(instanceId, known);
    const name = formatPerson(known.application, known.person);
    const ids = this.#idsByPerson.get(name);
    if (ids === undefined) this.#idsByPerson.set(name, [instanceId]);
    else if (!ids.includes(instanceId)) ids.push(instanceId);
  }

  use(instanceId: string, known: KnownInstance, now: number): FoundPerson {
    const { application, person } = known;
    const expiresAt = now + this.#ttlMs;
    if (known.replaced || expiresAt - known.expiresAt < this.#strideMs) return { person, use: undefined };
    this.#known.set(instanceId, { ...known, expiresAt });
    return { person, use: { application, instanceId, expiresAt } };
  }

  /** @param name see `formatPerson` */
  drop(name: string): void {
    for (const instanceId of this.#idsByPerson.get(name) ?? []) this.#known.delete(instanceId);
    this.#idsByPerson.delete(name);
  }

  clear(): void {
    this.#known.clear();
    this.#idsByPerson.clear();
  }
}

function formatPerson(application: number, { high, low }: Hash64): string {
  return `${application}/${high}/${low}`;
}

/** Dependencies of instance ids. Durations are in milliseconds. */
export interface InstanceDeps {
  readonly usage: Pick<UsageStore, 'findPeople' | 'digestSecret' | 'keepMint' | 'forget' | 'resolvesLater'>;
  readonly randomBytes: RandomBytes;
  /** Lifetime of an id after its last use. */
  readonly ttlMs: number;
  /** Grace period of an id after another id was minted for the same identity. */
  readonly graceMs: number;
  readonly threads?: InstanceThreads;
}

export interface Profile {
  readonly identity: string;
  readonly groups: readonly string[];
  readonly claims: Readonly<Record<string, string | number | boolean>>;
}

interface MintResult {
  readonly instanceId: string;
  /** See `UsageStore.keepMint`. */
  readonly durable: Promise<void>;
}

export class Instances {
  readonly #deps: InstanceDeps;
  readonly #known: KnownInstances;
  /** People whose deletion is not on disk yet. Packets must not recreate their records until then. */
  readonly #leaving = new Map<string, number>();

  constructor(deps: InstanceDeps) {
    this.#deps = deps;
    this.#known = new KnownInstances(deps.ttlMs);
  }

  computeDigest(application: number, identity: string): Buffer {
    return digestIdentity(this.#deps.usage.digestSecret, application, identity);
  }

  identifyPerson(application: number, identity: string): Person {
    return identifyPerson(this.#deps.usage.digestSecret, application, identity);
  }

  /**
   * Mints an id, and keeps earlier ids of the identity for the grace period.
   * @param now Unix ms
   * @param fill adds further changes to the same batch
   */
  mint(application: Application, profile: Profile, now: number, fill: (batch: Batch) => void): MintResult {
    const { usage, randomBytes, ttlMs, graceMs } = this.#deps;
    const { number } = application;
    const user = hashIdentity(profile.identity);
    const mint: Mint = {
      application: number,
      instanceId: newInstanceId(this.computeDigest(number, profile.identity), randomBytes),
      ...user,
      profile: JSON.stringify(profile),
      expiresAt: now + ttlMs,
      graceUntil: now + graceMs,
    };
    const durable = usage.keepMint(mint, number, fill);
    return { instanceId: mint.instanceId, durable: durable.then(() => this.#drop(formatPerson(number, user))) };
  }

  /**
   * Finds the person of an id in a single lookup, because an id from another machine could arrive between two lookups.
   * @param now Unix ms
   * @returns `'unresolved'` if another machine could have minted the id a moment ago; `undefined` if the id is unknown,
   * expired, or of another application
   */
  find(instanceId: string, application: number, now: number): FoundPerson | 'unresolved' | undefined {
    const known = this.#known.recall(instanceId, now) ?? this.#read(instanceId, application, now);
    if (known === 'unresolved') return known;
    if (known?.application !== application || this.#isLeaving(known)) return undefined;
    return this.#known.use(instanceId, known, now);
  }

  /** Clears the cache, because another machine has minted ids or forgotten people. */
  readAgain(): void {
    this.#known.clear();
    this.#deps.threads?.publish({ cleared: true });
  }

  /** Forgets a person: see `UsageStore.forget`. @throws {Refusal} `store_unavailable`, `postgres_unavailable` */
  async forget({ number, environments }: Application, identity: string): Promise<void> {
    const name = formatPerson(number, hashIdentity(identity));
    increase(this.#leaving, name);
    try {
      if (this.#deps.threads !== undefined) {
        this.#drop(name);
        await this.#deps.threads.barrier(number);
      }
      const numbers = environments.map((environment) => environment.number);
      const digest = this.computeDigest(number, identity).toString('hex');
      const entry: Forgotten = { application: number, environments: numbers, digest };
      await this.#deps.usage.forget(entry);
      this.#drop(name);
    } finally {
      const others = this.#leaving.get(name)! - 1;
      if (others > 0) this.#leaving.set(name, others);
      else this.#leaving.delete(name);
    }
  }

  #read(instanceId: string, application: number, now: number): KnownInstance | 'unresolved' | undefined {
    const { usage, threads } = this.#deps;
    const digest = digestOfInstance(instanceId);
    if (digest === undefined) return undefined; // This id was never minted, so no lookup is needed.
    const instance = findInstance(usage.findPeople(application), application, instanceId);
    if (instance === undefined) return usage.resolvesLater ? 'unresolved' : undefined;
    if (instance.expiresAt <= now) return undefined;
    const { high, low, replaced, expiresAt } = instance;
    const person: Person = { high, low, digest: digestWords(digest) };
    const known = { application, person, replaced, expiresAt, readAt: now };
    this.#known.remember(instanceId, known);
    if (!this.#isLeaving(known)) threads?.publish({ instanceId, known });
    return known;
  }

  #isLeaving({ application, person }: KnownInstance): boolean {
    return this.#leaving.size > 0 && this.#leaving.has(formatPerson(application, person));
  }

  #drop(name: string): void {
    this.#known.drop(name);
    this.#deps.threads?.publish({ dropped: name });
  }
}

/** Identifies a person. @param secret see `UsageStore.digestSecret` */
function identifyPerson(secret: Buffer, application: number, identity: string): Person {
  const digest = digestIdentity(secret, application, identity);
  return { ...hashIdentity(identity), digest: digestWords(digest) };
}

/** Pattern of 1 to 256 code points without control characters or lone surrogates. */
const identityPattern = /^[^\p{Cc}\p{Cs}]{1,256}$/u;

export function isIdentity(text: string): boolean {
  return identityPattern.test(text);
}

/** Cache of instance ids for a thread other than the main thread. It holds ids that the main thread found recently. */
export class ThreadInstances {
  readonly #known: KnownInstances;
  readonly #secret: Buffer;

  /** @param ttlMs lifetime of an id after its last use @param secret see `UsageStore.digestSecret` */
  constructor(ttlMs: number, secret: Buffer) {
    this.#known = new KnownInstances(ttlMs);
    this.#secret = secret;
  }

  learn(change: InstanceChange): void {
    if ('known' in change) this.#known.remember(change.instanceId, change.known);
    else if ('dropped' in change) this.#known.drop(change.dropped);
    else this.#known.clear();
  }

  /** Finds the person of an id that `knows` has accepted, even if the id has expired since then. @param now Unix ms */
  find(instanceId: string, application: number, now: number): FoundPerson | undefined {
    const known = this.#known.get(instanceId);
    return known?.application === application ? this.#known.use(instanceId, known, now) : undefined;
  }

  /** True if the cache holds the id as valid. If false, only the main thread can decide. @param now Unix ms */
  knows(instanceId: string, application: number, now: number): boolean {
    return this.#known.recall(instanceId, now)?.application === application;
  }

  identifyPerson(application: number, identity: string): Person {
    return identifyPerson(this.#secret, application, identity);
  }
}
