import type { LoginFailures } from '../../storage/lmdb/auth-records.ts';

/** Counts of failures, while they are changed. */
export interface ThrottleDraft {
  get(key: string): LoginFailures | undefined;
  put(key: string, failures: LoginFailures): void;
  remove(key: string): void;
}

/**
 * Where failed sign-ins are counted. It is apart from the plans of the accounts: whoever guesses passwords must not hold up
 * those that end sessions.
 */
export interface Throttles {
  /**
   * Resolves with what `decide` returns, when what it wrote is on disk. Nothing comes between what it reads and writes.
   * @param keys all that it reads or writes, each once
   * @throws {ApiError} as `Engine.change` does
   */
  change<T>(keys: readonly string[], decide: (draft: ThrottleDraft) => T): Promise<T>;
  /** Some counts in the order of their keys, from after a key on. */
  list(after: string, limit: number): Promise<readonly ListedThrottle[]>;
}

export interface ListedThrottle {
  readonly key: string;
  readonly failures: LoginFailures;
}
