/** What must always hold does not: the program is wrong, and going on would make wrong data durable. */
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
