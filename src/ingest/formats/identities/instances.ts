import type { RandomBytes } from '../../../accounts/secrets.ts';
import { increase } from '../../../runtime/counts.ts';
import { hashIdentity } from '../../../storage/aggregate/user-hash.ts';
import type { Batch } from '../../../storage/commit/batch.ts';
import type { Forgotten } from '../../../storage/commit/envelope.ts';
import { digestWords } from '../../../storage/commit/records.ts';
import type { UsageStore } from '../../../storage/commit/usage-store.ts';
import {
  digestIdentity,
  digestOfInstance,
  findInstance,
  type Mint,
  newInstanceId,
} from '../../../storage/lmdb/instances.ts';
import type { Application } from '../../../storage/lmdb/records.ts';
import {
  type FoundPerson,
  type InstanceThreads,
  type Known,
  KnownInstances,
  nameOf,
  type Person,
} from './known-instances.ts';

/** Dependencies of instance ids. Times are milliseconds. */
export interface InstanceDeps {
  readonly usage: Pick<UsageStore, 'peopleOf' | 'digestSecret' | 'keepMint' | 'forget' | 'resolvesLater'>;
  readonly randomBytes: RandomBytes;
  /** Lifetime of an id after its last use. */
  readonly ttlMs: number;
  /** Grace period of an id after another was minted for the same identity. */
  readonly graceMs: number;
  readonly threads?: InstanceThreads;
}

export interface Profile {
  readonly identity: string;
  readonly groups: readonly string[];
  readonly claims: Readonly<Record<string, string | number | boolean>>;
}

interface Minted {
  readonly instanceId: string;
  /** See `UsageStore.keepMint`. */
  readonly durable: Promise<void>;
}

export class Instances {
  readonly #parts: InstanceDeps;
  readonly #known: KnownInstances;
  /** People being forgotten. Packets received before that is on disk must not bring them back. */
  readonly #leaving = new Map<string, number>();

  constructor(parts: InstanceDeps) {
    this.#parts = parts;
    this.#known = new KnownInstances(parts.ttlMs);
  }

  digestOf(application: number, identity: string): Buffer {
    return digestIdentity(this.#parts.usage.digestSecret, application, identity);
  }

  personOf(application: number, identity: string): Person {
    return personOf(this.#parts.usage.digestSecret, application, identity);
  }

  /** Earlier ids stay valid for the grace period. @param now Unix ms @param fill adds more to the same batch */
  mint(application: Application, profile: Profile, now: number, fill: (batch: Batch) => void): Minted {
    const { usage, randomBytes, ttlMs, graceMs } = this.#parts;
    const { number } = application;
    const user = hashIdentity(profile.identity);
    const mint: Mint = {
      application: number,
      instanceId: newInstanceId(this.digestOf(number, profile.identity), randomBytes),
      ...user,
      profile: JSON.stringify(profile),
      expiresAt: now + ttlMs,
      graceUntil: now + graceMs,
    };
    const durable = usage.keepMint(mint, number, fill);
    return { instanceId: mint.instanceId, durable: durable.then(() => this.#drop(nameOf(number, user))) };
  }

  /**
   * Finds the person of an id in a single lookup: between two lookups, another machine's mint can arrive.
   * @param now Unix ms
   * @returns `'unresolved'` if another machine may have minted the id a moment ago; `undefined` if the id is unknown, expired, or
   *   of another application
   */
  find(instanceId: string, application: number, now: number): FoundPerson | 'unresolved' | undefined {
    const known = this.#known.recall(instanceId, now) ?? this.#read(instanceId, application, now);
    if (known === 'unresolved') return known;
    if (known?.application !== application || this.#isLeaving(known)) return undefined;
    return this.#known.use(instanceId, known, now);
  }

  /** Clears the cache: another machine may have minted ids or forgotten people. */
  readAgain(): void {
    this.#known.clear();
    this.#parts.threads?.publish({ cleared: true });
  }

  /** Resolves as `UsageStore.forget` does. @throws {ApiError} `store_unavailable`, `engine_unavailable` */
  async forget({ number, environments }: Application, identity: string): Promise<void> {
    const name = nameOf(number, hashIdentity(identity));
    increase(this.#leaving, name);
    try {
      if (this.#parts.threads !== undefined) {
        this.#drop(name);
        await this.#parts.threads.barrier(number);
      }
      const numbers = environments.map((environment) => environment.number);
      const digest = this.digestOf(number, identity).toString('hex');
      const entry: Forgotten = { application: number, environments: numbers, digest };
      await this.#parts.usage.forget(entry);
      this.#drop(name);
    } finally {
      const others = this.#leaving.get(name)! - 1;
      if (others > 0) this.#leaving.set(name, others);
      else this.#leaving.delete(name);
    }
  }

  #read(instanceId: string, application: number, now: number): Known | 'unresolved' | undefined {
    const { usage, threads } = this.#parts;
    const digest = digestOfInstance(instanceId);
    if (digest === undefined) return undefined; // Never minted, so not looked up.
    const instance = findInstance(usage.peopleOf(application), application, instanceId);
    if (instance === undefined) return usage.resolvesLater ? 'unresolved' : undefined;
    if (instance.expiresAt <= now) return undefined;
    const { high, low, replaced, expiresAt } = instance;
    const person: Person = { high, low, digest: digestWords(digest) };
    const known = { application, person, replaced, expiresAt, readAt: now };
    this.#known.remember(instanceId, known);
    if (!this.#isLeaving(known)) threads?.publish({ instanceId, known });
    return known;
  }

  #isLeaving({ application, person }: Known): boolean {
    return this.#leaving.size > 0 && this.#leaving.has(nameOf(application, person));
  }

  #drop(name: string): void {
    this.#known.drop(name);
    this.#parts.threads?.publish({ dropped: name });
  }
}

/** The person with an identity. @param secret see `UsageStore.digestSecret` */
export function personOf(secret: Buffer, application: number, identity: string): Person {
  const digest = digestIdentity(secret, application, identity);
  return { ...hashIdentity(identity), digest: digestWords(digest) };
}

/** 1 to 256 characters (code points) without control characters or lone surrogates. */
const identityPattern = /^[^\p{Cc}\p{Cs}]{1,256}$/u;

export function isIdentity(text: string): boolean {
  return identityPattern.test(text);
}
