import type { ApiKey } from '../storage/lmdb/records.ts';
import type { AccountDraft } from './account-draft.ts';

/** A recorded use is updated on disk only after this time, so that busy keys do not cause a commit every minute. */
const precisionMs = 5 * 60_000;

export interface ApiKeyMarksDeps {
  readonly now: () => number;
  readonly keyOf: (clientId: string) => ApiKey | undefined;
  readonly change: (plan: (draft: AccountDraft) => void) => Promise<void>;
}

/** When API keys were last used. In memory until flushed; other nodes see it then. */
export class ApiKeyMarks {
  readonly #deps: ApiKeyMarksDeps;
  /** By client id. Only existing keys are marked, so it does not outgrow them by much. */
  readonly #uses = new Map<string, number>();

  constructor(deps: ApiKeyMarksDeps) {
    this.#deps = deps;
  }

  used(clientId: string): void {
    this.#uses.set(clientId, this.#deps.now());
  }

  lastUsedAt({ clientId, lastUsedAt }: ApiKey): number | null {
    return Math.max(this.#uses.get(clientId) ?? 0, lastUsedAt ?? 0) || null;
  }

  /** Writes uses that are newer than those on disk. @throws {ApiError} `store_unavailable` */
  async flush(): Promise<void> {
    const due = [...this.#uses].filter(([clientId, at]) => {
      const key = this.#deps.keyOf(clientId);
      if (key === undefined) this.#uses.delete(clientId);
      return key !== undefined && isDue(key, at);
    });
    if (due.length === 0) return;
    await this.#deps.change((draft) => {
      for (const [clientId, at] of due) {
        const key = draft.apiKeys.get(clientId);
        // Another node may have recorded a later use.
        if (key !== undefined && isDue(key, at)) draft.put('apiKeys', clientId, { ...key, lastUsedAt: at });
      }
    });
  }
}

function isDue({ lastUsedAt = 0 }: ApiKey, at: number): boolean {
  return at - lastUsedAt >= precisionMs;
}
