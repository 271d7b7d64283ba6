/** Changes without a request: the start of a range is rounded to the hour once its minutes are rolled up. */
const moving = ['completeThrough', 'from', 'lastUsedAt'];

/** Returns responses of the management API without the values that change without a request. */
export function steadyResponses(responses: unknown): unknown {
  return JSON.parse(JSON.stringify(responses, (key, value) => (moving.includes(key) ? undefined : value)));
}
