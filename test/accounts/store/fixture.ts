import type { Draft, Engine } from '../../../src/accounts/store/engine.ts';
import type { TestHealth } from '../fixture.ts';

/** An engine on a fresh store; a test can hold its commits back and make them fail. */
export interface EngineFixture {
  readonly engine: Engine;
  readonly health: TestHealth;
  /** Holds commits back from now on. @returns a function that releases them */
  hold(): () => void;
  /** The next commit fails, and keeps nothing. */
  failNext(error: Error): void;
  /** What a change is refused with when its commit has failed. */
  readonly refusal: object;
  /** The failures of which the health of the store is told after `failNext(error)`. */
  toldOf(error: Error): readonly Error[];
  /** Number of commits begun that write. */
  commits(): number;
  /** What a fresh process reads. */
  reopen(): Engine;
}

/** `numbers` is held in memory, `loginThrottles` is read from disk. */
export const tables = ['numbers', 'loginThrottles'] as const;
export type Table = (typeof tables)[number];

/** Puts a number. */
export function put(draft: Draft, table: Table, key: string, value: number): void {
  if (table === 'numbers') draft.put('numbers', key, value);
  else draft.put('loginThrottles', key, { failures: value, lastAt: 0 });
}

/** The number of a key. */
export function read(reader: Pick<Engine, 'get'>, table: Table, key: string): number | undefined {
  return table === 'numbers' ? reader.get('numbers', key) : reader.get('loginThrottles', key)?.failures;
}

/** Adds one to a number; gives what it was before. */
export function count(draft: Draft, table: Table = 'numbers', key = 'n'): number {
  const before = read(draft, table, key) ?? 0;
  put(draft, table, key, before + 1);
  return before;
}
