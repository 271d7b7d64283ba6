/** Items of a scan between two looks at what else there is to do. */
const stride = 500;

/** Visits each item of a long scan, letting the event loop turn now and then: a report must not keep packets waiting. */
export async function inTurns<T>(items: Iterable<T>, visit: (item: T) => void): Promise<void> {
  let left = stride;
  for (const item of items) {
    visit(item);
    left -= 1;
    if (left > 0) continue;
    left = stride;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
