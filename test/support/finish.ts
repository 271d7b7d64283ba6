import type { Reading } from '../../src/storage/lmdb/snapshot.ts';

/** Does a long read at once, and gives what it comes to. */
export function finish<T>(reading: Reading<T>): T {
  for (;;) {
    const step = reading.next();
    if (step.done) return step.value;
  }
}
