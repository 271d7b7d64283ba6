import { Refusal } from '../contract/errors.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Reading } from '../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../storage/lmdb/usage.ts';

/** Time slice of a reading, ms. */
const sliceMs = 10;

/** Runs the readings of one thread in alternating time slices. Between slices, only their snapshots are open. */
export class ReadingScheduler {
  readonly #lmdb: Pick<UsageTables['lmdb'], 'resetReadTxn'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #afterSlice: (isLast: boolean) => void;
  readonly #underWay = new Set<Promise<unknown>>();
  #ending = false;

  /** @param afterSlice called after every time slice, with `true` after the last slice of a reading */
  constructor(
    lmdb: Pick<UsageTables['lmdb'], 'resetReadTxn'>,
    clock: Pick<Clock, 'monotonic'>,
    afterSlice: (isLast: boolean) => void = () => {},
  ) {
    this.#lmdb = lmdb;
    this.#clock = clock;
    this.#afterSlice = afterSlice;
  }

  /**
   * Runs a reading to its end, in time slices.
   * @throws {Refusal} `store_unavailable` if the thread is stopping
   */
  async finish<T>(reading: Reading<T>): Promise<Awaited<T>> {
    const result = this.#run(reading);
    this.#underWay.add(result);
    try {
      return await result;
    } finally {
      this.#underWay.delete(result);
    }
  }

  /** Stops all readings; resolves when they have stopped. */
  async end(): Promise<void> {
    this.#ending = true;
    await Promise.allSettled(this.#underWay);
  }

  async #run<T>(reading: Reading<T>): Promise<Awaited<T>> {
    while (!this.#ending) {
      const step = this.#runSlice(reading);
      this.#afterSlice(step.done === true);
      if (step.done) return await step.value;
      await new Promise((resolve) => setImmediate(resolve));
    }
    reading.return(undefined as T);
    throw new Refusal('store_unavailable', 'The service is stopping', 5);
  }

  #runSlice<T>(reading: Reading<T>): IteratorResult<undefined, T> {
    const end = this.#clock.monotonic() + sliceMs;
    try {
      for (;;) {
        const step = reading.next();
        if (step.done || this.#clock.monotonic() >= end) return step;
      }
    } finally {
      // End the read transaction now. The LMDB add-on would end it only in the next event loop iteration.
      this.#lmdb.resetReadTxn();
    }
  }
}
