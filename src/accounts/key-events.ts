import { Refusal } from '../contract/errors.ts';
import type { RefusalCode } from '../contract/refusals.ts';
import { increase } from '../runtime/counts.ts';
import type { ApiKey, ApplicationKey, KeyRefusals } from '../storage/lmdb/records.ts';
import type { AccountTransaction } from './account-transaction.ts';

interface KeyEventsDeps {
  readonly now: () => number;
  /** Finds the stored key by its hash. */
  readonly findKey: (hash: string) => ApplicationKey | undefined;
  readonly change: (change: (tx: AccountTransaction) => void) => Promise<void>;
}

/** Last uses, refusals and leaks of application keys, in memory until flushed. */
export class KeyEvents {
  readonly #deps: KeyEventsDeps;
  /** Last uses by the key's hash. Unknown keys are not recorded, so the number of keys bounds the size of each map. */
  readonly #uses = new Map<string, number>();
  readonly #leaks = new Map<string, number>();
  readonly #refusals = new UnwrittenRefusals();

  constructor(deps: KeyEventsDeps) {
    this.#deps = deps;
  }

  used(hash: string): void {
    this.#uses.set(hash, this.#deps.now());
  }

  refused(hash: string, code: RefusalCode): void {
    this.#refusals.add(hash, code, this.#deps.now());
  }

  add({ uses, leaks, refusals }: ThreadKeyEvents): void {
    for (const [hash, at] of uses) this.#uses.set(hash, Math.max(at, this.#uses.get(hash) ?? 0));
    this.#refusals.addAll(refusals);
    for (const hash of leaks) void this.leaked(hash);
  }

  countRefusals(key: ApplicationKey): KeyRefusals | undefined {
    return this.#refusals.of(key);
  }

  lastUsedAt(key: ApplicationKey): number | null {
    return later(key.lastUsedAt, this.#uses.get(key.hash));
  }

  leakedAt(key: ApplicationKey): number | null {
    return key.leakedAt ?? this.#leaks.get(key.hash) ?? null;
  }

  /** Records a leak; resolves when it is on disk. If the store rejects it, the next flush writes it. */
  async leaked(hash: string): Promise<void> {
    const key = this.#deps.findKey(hash);
    if (!key || key.leakedAt !== null || this.#leaks.has(hash)) return;
    this.#leaks.set(hash, this.#deps.now());
    try {
      await this.flush();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }

  /**
   * Writes all recorded events to disk. @throws {Refusal} `store_unavailable`; the next flush then writes the events
   */
  async flush(): Promise<void> {
    const uses = new Map(this.#uses);
    const leaks = new Map(this.#leaks);
    const refusals = this.#refusals.take();
    const write = (tx: AccountTransaction) => {
      for (const hash of new Set([...uses.keys(), ...leaks.keys(), ...refusals.keys()])) {
        const key = tx.get('applicationKeys', hash);
        if (!key) continue;
        const lastUsedAt = later(key.lastUsedAt, uses.get(hash)); // Another node might have recorded a later use.
        const leakedAt = key.leakedAt ?? leaks.get(hash) ?? null;
        const refused = plus(key.refused, refusals.get(hash));
        tx.put('applicationKeys', hash, { ...key, lastUsedAt, leakedAt, ...(refused && { refused }) });
        if (leakedAt !== null && key.leakedAt === null) announceLeak(tx, key, leakedAt);
      }
    };
    try {
      await this.#deps.change(write);
    } catch (error) {
      this.#refusals.giveBack(refusals);
      throw error;
    }
    this.#refusals.written(refusals);
    forget(this.#uses, uses);
    forget(this.#leaks, leaks);
  }
}

/**
 * Announces the leak of a key once, because other nodes see that the leak is recorded. The event has the time of the
 * record, not of the leak, so it also reaches webhooks that were created between these times.
 */
function announceLeak(tx: AccountTransaction, key: ApplicationKey, at: number): void {
  const application = tx.applications.get(key.applicationId);
  if (application === undefined) return;
  const { id, name, prefix } = key;
  tx.note('key.leaked', application.teamId, { type: 'key', id, name }, { applicationId: application.id });
  tx.announce('key.leaked', application.teamId, {
    application: { id: application.id, name: application.name },
    key: { id, name, prefix },
    leakedAt: new Date(at).toISOString(),
  });
}

function later(known: number | null, recorded: number | undefined): number | null {
  return recorded === undefined ? known : Math.max(known ?? 0, recorded);
}

function forget(times: Map<string, number>, written: ReadonlyMap<string, number>): void {
  for (const [hash, at] of written) if (times.get(hash) === at) times.delete(hash);
}

/** Minimum time between two stored uses of a key, so that busy keys do not cause a commit every minute. */
const precisionMs = 5 * 60_000;

export interface Use {
  /** Unix ms. */
  readonly at: number;
  /** Subject of the workload that last used the key, or obtained a token with it. */
  readonly subject?: string;
}

interface ApiKeyUsesDeps {
  readonly now: () => number;
  readonly findKey: (clientId: string) => ApiKey | undefined;
  readonly change: (change: (tx: AccountTransaction) => void) => Promise<void>;
}

/** Last uses of API keys, in memory until flushed. Other nodes see them after the flush. */
export class ApiKeyUses {
  readonly #deps: ApiKeyUsesDeps;
  /** Last uses by client id. Only uses of existing keys are recorded, so the number of keys bounds the size. */
  readonly #uses = new Map<string, Use>();

  constructor(deps: ApiKeyUsesDeps) {
    this.#deps = deps;
  }

  /** @param subject subject of the workload that uses the key; by default the last recorded subject */
  used(clientId: string, subject = this.#uses.get(clientId)?.subject): void {
    this.#uses.set(clientId, { at: this.#deps.now(), ...(subject !== undefined && { subject }) });
  }

  lastUse({ clientId, lastUsedAt: at = 0, lastSubject: subject }: ApiKey): Use | undefined {
    const known = { at, ...(subject !== undefined && { subject }) };
    const recorded = this.#uses.get(clientId);
    if (recorded === undefined || recorded.at < at) return at === 0 ? undefined : known;
    return { ...known, ...recorded };
  }

  /** Writes uses that are sufficiently newer than the stored uses. @throws {Refusal} `store_unavailable` */
  async flush(): Promise<void> {
    const due = [...this.#uses].filter(([clientId, use]) => {
      const key = this.#deps.findKey(clientId);
      if (key === undefined) this.#uses.delete(clientId);
      return key !== undefined && isDue(key, use);
    });
    if (due.length === 0) return;
    await this.#deps.change((tx) => {
      for (const [clientId, use] of due) {
        const key = tx.apiKeys.get(clientId);
        // Skip the use if another node has recorded a later use.
        if (key === undefined || !isDue(key, use)) continue;
        const { at, subject = key.lastSubject } = use;
        const lastSubject = subject !== undefined && { lastSubject: subject };
        tx.put('apiKeys', clientId, { ...key, lastUsedAt: at, ...lastSubject });
      }
    });
  }
}

function isDue({ lastUsedAt = 0 }: ApiKey, { at }: Use): boolean {
  return at - lastUsedAt >= precisionMs;
}

interface Tally {
  count: number;
  lastAt: number;
  readonly reasons: Map<RefusalCode, number>;
}

type RefusalTallies = ReadonlyMap<string, Tally>;

/** Refused messages with known keys, counted in memory until the counts are on disk. */
export class UnwrittenRefusals {
  #tallies = new Map<string, Tally>();
  readonly #taken = new Set<RefusalTallies>();

  add(hash: string, code: RefusalCode, at: number): void {
    let tally = this.#tallies.get(hash);
    if (tally === undefined) {
      tally = { count: 0, lastAt: at, reasons: new Map() };
      this.#tallies.set(hash, tally);
    }
    tally.count += 1;
    tally.lastAt = at;
    increase(tally.reasons, code);
  }

  of({ hash, refused }: ApplicationKey): KeyRefusals | undefined {
    return [...this.#taken, this.#tallies].reduce((sum, each) => plus(sum, each.get(hash)), refused);
  }

  /** Takes the refusals counted since the last call. The caller writes them, and then calls `written` or `giveBack`. */
  take(): RefusalTallies {
    const taken = this.#tallies;
    this.#tallies = new Map();
    this.#taken.add(taken);
    return taken;
  }

  written(taken: RefusalTallies): void {
    this.#taken.delete(taken);
  }

  giveBack(taken: RefusalTallies): void {
    this.#taken.delete(taken);
    this.addAll(taken);
  }

  addAll(tallies: RefusalTallies): void {
    for (const [hash, added] of tallies) {
      const own = this.#tallies.get(hash);
      for (const [code, count] of own?.reasons ?? []) {
        increase(added.reasons, code, count);
      }
      added.count += own?.count ?? 0;
      added.lastAt = Math.max(added.lastAt, own?.lastAt ?? 0);
      this.#tallies.set(hash, added);
    }
  }
}

/** Returns the sum of the stored refusals and the refusals that are counted in memory. */
function plus(stored: KeyRefusals | undefined, tally: Tally | undefined): KeyRefusals | undefined {
  if (tally === undefined) return stored;
  const reasons: Record<string, number> = { ...stored?.reasons };
  for (const [code, count] of tally.reasons) reasons[code] = (reasons[code] ?? 0) + count;
  return { count: (stored?.count ?? 0) + tally.count, lastAt: Math.max(stored?.lastAt ?? 0, tally.lastAt), reasons };
}

/** Uses, leaks and refusals of keys that a thread has recorded but not yet sent. */
export interface ThreadKeyEvents {
  /** Times of last uses by the key's hash, Unix milliseconds. */
  readonly uses: ReadonlyMap<string, number>;
  /** Hashes of Backend keys that were seen in packets. */
  readonly leaks: readonly string[];
  readonly refusals: RefusalTallies;
}
