/**
 * Fields whose values can change although nothing was requested. For example, a range starts at a whole hour after its
 * minutes were rolled up.
 */
const moving = ['completeThrough', 'from', 'lastUsedAt'];

/** Removes values that can change although nothing was requested from responses of the management API. */
export function steadyResponses(responses: unknown): unknown {
  return JSON.parse(JSON.stringify(responses, (key, value) => (moving.includes(key) ? undefined : value)));
}
