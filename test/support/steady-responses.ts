/**
 * Fields whose values change without a request. For example, a range starts at a whole hour once its minutes are rolled
 * up.
 */
const moving = ['completeThrough', 'from', 'lastUsedAt'];

/** Returns responses of the management API without the values that change without a request. */
export function steadyResponses(responses: unknown): unknown {
  return JSON.parse(JSON.stringify(responses, (key, value) => (moving.includes(key) ? undefined : value)));
}
