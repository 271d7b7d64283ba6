const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs work that can be interrupted by a signal, such as that of Ctrl-C. */
export async function interruptible<T>(work: (over: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController();
  const end = () => over.abort();
  for (const signal of signals) process.on(signal, end);
  try {
    return await work(over.signal);
  } finally {
    for (const signal of signals) process.off(signal, end);
  }
}
