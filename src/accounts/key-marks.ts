import { ApiError } from '../contract/errors.ts';
import type { RefusalCode } from '../contract/refusals.ts';
import type { ApplicationKey, KeyRefusals } from '../storage/lmdb/records.ts';
import type { AccountDraft } from './account-draft.ts';
import { plus, UnwrittenRefusals } from './key-refusals.ts';
import type { ThreadKeyMarks } from './thread-keys.ts';

interface KeyMarksDeps {
  readonly now: () => number;
  /** The key with a hash, as on disk. */
  readonly keyOf: (hash: string) => ApplicationKey | undefined;
  readonly change: (plan: (draft: AccountDraft) => void) => Promise<void>;
}

/** When keys were used, how often they were refused, and which Backend keys have leaked. In memory until flushed. */
export class KeyMarks {
  readonly #deps: KeyMarksDeps;
  /** By the key's hash, like the leaks. Unknown keys are not recorded, so no map outgrows the keys. */
  readonly #uses = new Map<string, number>();
  readonly #leaks = new Map<string, number>();
  readonly #refusals = new UnwrittenRefusals();

  constructor(deps: KeyMarksDeps) {
    this.#deps = deps;
  }

  used(hash: string): void {
    this.#uses.set(hash, this.#deps.now());
  }

  refused(hash: string, code: RefusalCode): void {
    this.#refusals.add(hash, code, this.#deps.now());
  }

  add({ uses, leaks, refusals }: ThreadKeyMarks): void {
    for (const [hash, at] of uses) this.#uses.set(hash, Math.max(at, this.#uses.get(hash) ?? 0));
    this.#refusals.addAll(refusals);
    for (const hash of leaks) void this.leaked(hash);
  }

  refusalsOf(key: ApplicationKey): KeyRefusals | undefined {
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
    const key = this.#deps.keyOf(hash);
    if (!key || key.leakedAt !== null || this.#leaks.has(hash)) return;
    this.#leaks.set(hash, this.#deps.now());
    try {
      await this.flush();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }

  /**
   * Writes all marks to disk.
   * @throws {ApiError} `store_unavailable`; the marks are then kept for the next flush
   */
  async flush(): Promise<void> {
    const uses = new Map(this.#uses);
    const leaks = new Map(this.#leaks);
    const refusals = this.#refusals.take();
    const write = (draft: AccountDraft) => {
      for (const hash of new Set([...uses.keys(), ...leaks.keys(), ...refusals.keys()])) {
        const key = draft.get('applicationKeys', hash);
        if (!key) continue;
        const lastUsedAt = later(key.lastUsedAt, uses.get(hash)); // Another node may have recorded a later use.
        const leakedAt = key.leakedAt ?? leaks.get(hash) ?? null;
        const refused = plus(key.refused, refusals.get(hash));
        draft.put('applicationKeys', hash, { ...key, lastUsedAt, leakedAt, ...(refused && { refused }) });
        if (leakedAt !== null && key.leakedAt === null) announceLeak(draft, key, leakedAt);
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
 * Once per key: another node that sees the leak later finds it recorded. The event is as old as the record: webhooks that
 * subscribed between the leak and the record are notified.
 */
function announceLeak(draft: AccountDraft, key: ApplicationKey, at: number): void {
  const application = draft.applications.get(key.applicationId);
  if (application === undefined) return;
  const { id, name, prefix } = key;
  draft.note('key.leaked', application.teamId, { type: 'key', id, name }, { applicationId: application.id });
  draft.announce('key.leaked', application.teamId, {
    application: { id: application.id, name: application.name },
    key: { id, name, prefix },
    leakedAt: new Date(at).toISOString(),
  });
}

function later(known: number | null, marked: number | undefined): number | null {
  return marked === undefined ? known : Math.max(known ?? 0, marked);
}

function forget(marks: Map<string, number>, written: ReadonlyMap<string, number>): void {
  for (const [hash, at] of written) if (marks.get(hash) === at) marks.delete(hash);
}
