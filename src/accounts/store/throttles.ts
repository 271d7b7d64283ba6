import type { LoginFailures } from '../../storage/lmdb/auth-records.ts';

/** The draft of changes to failure counts. */
export interface ThrottleDraft {
  get(key: string): LoginFailures | undefined;
  put(key: string, failures: LoginFailures): void;
  remove(key: string): void;
}

/**
 * Counts failed sign-ins, separately from the plans of the accounts. An attacker who guesses passwords must not delay plans
 * that end sessions.
 */
export interface Throttles {
  /**
   * Resolves with the result of `decide` when its writes are on disk. Nothing comes between its reads and writes.
   * @param keys all keys that it reads or writes, without duplicates
   * @throws {ApiError} as `AccountStore.change` does
   */
  change<T>(keys: readonly string[], decide: (draft: ThrottleDraft) => T): Promise<T>;
  /** Some counts in key order, after a key. */
  list(after: string, limit: number): Promise<readonly ListedThrottle[]>;
}

export interface ListedThrottle {
  readonly key: string;
  readonly failures: LoginFailures;
}
