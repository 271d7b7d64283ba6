/**
 * A bug: an invariant does not hold, and continuing could make wrong data durable. In a worker it fails the commit. The batch
 * is then refused and the service stops, as for a failing disk (see `StoreHealth`). On the service's thread it fails the
 * request.
 */
export class AssertionFailed extends Error {
  override readonly name = 'AssertionFailed';
}

/**
 * Asserts an invariant.
 * @param claim a constant text, so that an assertion that holds costs one comparison
 * @throws {AssertionFailed} if it does not hold
 */
export function assert(holds: boolean, claim: string): asserts holds {
  if (!holds) throw new AssertionFailed(claim);
}
