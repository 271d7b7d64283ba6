/** Resolves after so many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Asks again until the answer is yes. @returns whether that was within the time */
export async function within(ms: number, isSo: () => Promise<boolean>, everyMs = 100): Promise<boolean> {
  const end = performance.now() + ms;
  while (!(await isSo())) {
    if (performance.now() > end) return false;
    await pause(everyMs);
  }
  return true;
}
