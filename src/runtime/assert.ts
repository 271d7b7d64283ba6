/**
 * A bug: an invariant does not hold, and continuing could store wrong data. In a worker, the error makes the commit
 * fail, and the service stops as for a failed disk (see `StoreHealth`). On the main thread, only the request fails.
 */
export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

/**
 * Asserts an invariant.
 * @param claim the invariant as a constant text: building a text would cost time in each call
 * @throws {AssertionError} if the invariant does not hold
 */
export function assert(holds: boolean, claim: string): asserts holds {
  if (!holds) throw new AssertionError(claim);
}
