/**
 * A bug: an invariant does not hold, and continuing could make wrong data durable. In a worker the error fails the
 * commit. The batch is refused, and the service stops as for a failing disk (see `StoreHealth`). On the service's
 * thread the error fails the request.
 */
export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

/**
 * Asserts an invariant.
 * @param claim a constant text, so that an assertion that holds costs one comparison
 * @throws {AssertionError} if the invariant does not hold
 */
export function assert(holds: boolean, claim: string): asserts holds {
  if (!holds) throw new AssertionError(claim);
}
