/**
 * A bug: something that must always hold does not, and going on could make wrong data durable. In a worker it fails the
 * commit, so the batch is refused and the service stops as for a failing disk (see `StoreHealth`). On the service's thread
 * it fails the request.
 */
export class AssertionFailed extends Error {
  override readonly name = 'AssertionFailed';
}

/**
 * States what must hold whatever comes in.
 * @param claim a constant text, so that an assertion that holds costs one comparison
 * @throws {AssertionFailed} when it does not hold
 */
export function assert(holds: boolean, claim: string): asserts holds {
  if (!holds) throw new AssertionFailed(claim);
}
