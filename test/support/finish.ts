import type { Reading } from '../../src/storage/lmdb/snapshot.ts';

/** Runs a long read without pauses. @returns its result */
export function finish<T>(reading: Reading<T>): T {
  for (;;) {
    const step = reading.next();
    if (step.done) return step.value;
  }
}
