/** Resolves after some milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Polls a condition. @returns true if the condition was met within the time */
export async function within(ms: number, isSo: () => Promise<boolean>, everyMs = 100): Promise<boolean> {
  const end = performance.now() + ms;
  while (!(await isSo())) {
    if (performance.now() > end) return false;
    await pause(everyMs);
  }
  return true;
}
