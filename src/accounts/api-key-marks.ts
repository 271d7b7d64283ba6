import type { ApiKey } from '../storage/lmdb/records.ts';
import type { AccountDraft } from './account-draft.ts';

/** A recorded use is updated on disk only after this time, so that busy keys do not cause a commit every minute. */
const precisionMs = 5 * 60_000;

export interface Use {
  /** Unix ms. */
  readonly at: number;
  /** The subject of the workload that used it, or that obtained a token last. */
  readonly subject?: string;
}

interface ApiKeyMarksDeps {
  readonly now: () => number;
  readonly keyOf: (clientId: string) => ApiKey | undefined;
  readonly change: (plan: (draft: AccountDraft) => void) => Promise<void>;
}

/** When API keys were last used. In memory until flushed; other nodes see it then. */
export class ApiKeyMarks {
  readonly #deps: ApiKeyMarksDeps;
  /** By client id. Only existing keys are marked, so it does not outgrow them by much. */
  readonly #uses = new Map<string, Use>();

  constructor(deps: ApiKeyMarksDeps) {
    this.#deps = deps;
  }

  /** @param subject of the workload that uses it; by default the one before */
  used(clientId: string, subject = this.#uses.get(clientId)?.subject): void {
    this.#uses.set(clientId, { at: this.#deps.now(), ...(subject !== undefined && { subject }) });
  }

  lastUse({ clientId, lastUsedAt: at = 0, lastSubject: subject }: ApiKey): Use | undefined {
    const known = { at, ...(subject !== undefined && { subject }) };
    const marked = this.#uses.get(clientId);
    if (marked === undefined || marked.at < at) return at === 0 ? undefined : known;
    return { ...known, ...marked };
  }

  /** Writes uses that are newer than those on disk. @throws {ApiError} `store_unavailable` */
  async flush(): Promise<void> {
    const due = [...this.#uses].filter(([clientId, use]) => {
      const key = this.#deps.keyOf(clientId);
      if (key === undefined) this.#uses.delete(clientId);
      return key !== undefined && isDue(key, use);
    });
    if (due.length === 0) return;
    await this.#deps.change((draft) => {
      for (const [clientId, use] of due) {
        const key = draft.apiKeys.get(clientId);
        // Another node may have recorded a later use.
        if (key === undefined || !isDue(key, use)) continue;
        const { at, subject = key.lastSubject } = use;
        const lastSubject = subject !== undefined && { lastSubject: subject };
        draft.put('apiKeys', clientId, { ...key, lastUsedAt: at, ...lastSubject });
      }
    });
  }
}

function isDue({ lastUsedAt = 0 }: ApiKey, { at }: Use): boolean {
  return at - lastUsedAt >= precisionMs;
}
