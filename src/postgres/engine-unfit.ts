import type { EngineError } from './engine-error.ts';

/** The engine answers, and cannot be used as it is: the message says why, and what to do. */
export class EngineUnfit extends Error {
  override readonly name = 'EngineUnfit';
}

/** The refusal of an engine that does not say which it is. */
export function noEngine(): EngineUnfit {
  return new EngineUnfit('The table fm_engine is empty: restore the database from a backup');
}

/**
 * Puts what the server refused into words, when its reason is how the engine was set up.
 * @throws {EngineUnfit}
 * @throws {unknown} the error itself, when it is something else
 */
export function unfit(error: unknown): never {
  const { sqlstate, message } = error as EngineError;
  if (sqlstate === '42P01' || sqlstate === '3F000')
    throw new EngineUnfit(
      'The database is not prepared: run flagmeter engine init first, or correct the database or search_path in the URL. If the tables were lost, restore them: flagmeter engine adopt --from-replica',
    );
  if (sqlstate === '42501')
    throw new EngineUnfit(`The role lacks a right: ${message}. Make it the owner of the tables, or grant it`);
  throw error;
}
