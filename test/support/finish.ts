import type { Reading } from '../../src/storage/lmdb/snapshot.ts';

/** Runs a long read to its end without pauses. @returns the result */
export function finish<T>(reading: Reading<T>): T {
  for (;;) {
    const step = reading.next();
    if (step.done) return step.value;
  }
}
