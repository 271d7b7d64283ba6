import type { RandomBytes } from '../../accounts/secrets.ts';
import { hashIdentity, type UserHash } from '../../storage/aggregate/user-hash.ts';
import type { Batch } from '../../storage/commit/batch.ts';
import { digestWords } from '../../storage/commit/digest.ts';
import type { Forgotten } from '../../storage/commit/envelope.ts';
import type { UsageEngine } from '../../storage/commit/usage-engine.ts';
import {
  digestIdentity,
  digestOfInstance,
  findInstance,
  type Mint,
  newInstanceId,
} from '../../storage/lmdb/instances.ts';
import type { Application } from '../../storage/lmdb/records.ts';
import type { FoundPerson, Person } from './person.ts';

/** What instance ids need of the rest of the service. Times are milliseconds. */
export interface InstanceDeps {
  readonly usage: Pick<UsageEngine, 'peopleOf' | 'digestSecret' | 'keepMint' | 'forget' | 'resolvesLater'>;
  readonly randomBytes: RandomBytes;
  /** How long an id is valid after its last use. */
  readonly ttlMs: number;
  /** How long an id is valid after another was minted for the same identity. */
  readonly graceMs: number;
}

/** A user that an application mints an id for, as the application describes them. */
export interface Profile {
  readonly identity: string;
  readonly groups: readonly string[];
  readonly claims: Readonly<Record<string, string | number | boolean>>;
}

/** A minted id that is not on disk yet. */
interface Minted {
  readonly instanceId: string;
  /** See `UsageEngine.keepMint`. */
  readonly durable: Promise<void>;
}

interface Known {
  readonly application: number;
  readonly person: Person;
  readonly replaced: boolean;
  /** Unix ms, both. */
  expiresAt: number;
  readonly readAt: number;
}

/** Ids in memory: about 20 MB. */
const maxKnown = 50_000;
/** How long an id stays in memory before it is read again. */
const knownMs = 60_000;
const dayMs = 86_400_000;

/** Mints instance ids, finds the people that they stand for, and forgets people. */
export class Instances {
  readonly #parts: InstanceDeps;
  /** Only valid ids: the ones that strangers make up take no memory. */
  readonly #known = new Map<string, Known>();
  /** The ids in memory by person, so that minting and forgetting take effect at once. */
  readonly #idsOf = new Map<string, string[]>();
  /** People who are being forgotten. Packets that come in before that is on disk must not bring them back. */
  readonly #leaving = new Map<string, number>();
  /** The minimum by which an id's expiry moves, so that most uses need no write. */
  readonly #strideMs: number;

  constructor(parts: InstanceDeps) {
    this.#parts = parts;
    this.#strideMs = Math.min(dayMs, parts.ttlMs / 10);
  }

  /** The digest that a person's records are stored under: see `digestIdentity`. */
  digestOf(application: number, identity: string): Buffer {
    return digestIdentity(this.#parts.usage.digestSecret, application, identity);
  }

  /** The person of an identity that a sender asserts. */
  personOf(application: number, identity: string): Person {
    return { ...hashIdentity(identity), digest: digestWords(this.digestOf(application, identity)) };
  }

  /**
   * Mints an id for an identity. It replaces earlier ids, which stay valid for the grace period.
   * @param now Unix ms
   * @param fill adds more to the same batch
   */
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
   * Finds the person of an id. There is none if it is unknown, expired, or of another application.
   * @param now Unix ms
   */
  find(instanceId: string, application: number, now: number): FoundPerson | undefined {
    const known = this.#recall(instanceId, now) ?? this.#read(instanceId, application, now);
    if (known === undefined || known.application !== application || known.expiresAt <= now) return undefined;
    if (this.#leaving.size > 0 && this.#leaving.has(nameOf(application, known.person))) return undefined;
    const expiresAt = now + this.#parts.ttlMs;
    if (known.replaced || expiresAt - known.expiresAt < this.#strideMs) {
      return { person: known.person, use: undefined };
    }
    known.expiresAt = expiresAt;
    return { person: known.person, use: { application, instanceId, expiresAt } };
  }

  /**
   * Whether an id without a person may get one: another machine may have minted it a moment ago. One that is known, as expired,
   * does not.
   */
  mayResolve(instanceId: string, application: number): boolean {
    const { usage } = this.#parts;
    if (!usage.resolvesLater || digestOfInstance(instanceId) === undefined) return false;
    return findInstance(usage.peopleOf(application), application, instanceId) === undefined;
  }

  /** Reads every id again at its next use: another machine may have minted ids, or forgotten people. */
  readAgain(): void {
    this.#known.clear();
    this.#idsOf.clear();
  }

  /**
   * Deletes the ids of an identity and its exposures in all environments. Resolves as `UsageEngine.forget` does.
   * @throws {ApiError} `store_unavailable`, `engine_unavailable`
   */
  async forget({ number, environments }: Application, identity: string): Promise<void> {
    const name = nameOf(number, hashIdentity(identity));
    this.#leaving.set(name, (this.#leaving.get(name) ?? 0) + 1);
    try {
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

  #recall(instanceId: string, now: number): Known | undefined {
    const known = this.#known.get(instanceId);
    return known !== undefined && Math.abs(now - known.readAt) < knownMs ? known : undefined;
  }

  #read(instanceId: string, application: number, now: number): Known | undefined {
    const digest = digestOfInstance(instanceId);
    if (digest === undefined) return undefined; // Never minted: not looked for.
    const instance = findInstance(this.#parts.usage.peopleOf(application), application, instanceId);
    if (instance === undefined || instance.expiresAt <= now) return undefined;
    const { high, low, replaced, expiresAt } = instance;
    const person: Person = { high, low, digest: digestWords(digest) };
    const known = { application, person, replaced, expiresAt, readAt: now };
    this.#remember(instanceId, known);
    return known;
  }

  #remember(instanceId: string, known: Known): void {
    if (this.#known.size >= maxKnown) this.readAgain();
    this.#known.set(instanceId, known);
    const name = nameOf(known.application, known.person);
    const ids = this.#idsOf.get(name);
    if (ids === undefined) this.#idsOf.set(name, [instanceId]);
    else if (!ids.includes(instanceId)) ids.push(instanceId);
  }

  #drop(name: string): void {
    for (const instanceId of this.#idsOf.get(name) ?? []) this.#known.delete(instanceId);
    this.#idsOf.delete(name);
  }
}

/** Identifies a person within an application. */
function nameOf(application: number, { high, low }: UserHash): string {
  return `${application}/${high}/${low}`;
}
