import { engineAway } from '../errors.ts';

interface WaitingReport {
  /** By the engine's clock, Unix ms. */
  readonly since: number;
  /** By the clock for ages. */
  readonly until: number;
  readonly done: (completeThrough: number) => void;
  readonly refused: (error: Error) => void;
}

interface WaitingForEntry {
  readonly position: number;
  readonly until: number;
  readonly done: () => void;
  readonly refused: (error: Error) => void;
}

/** How far the replica is. */
export interface Progress {
  /** All that this node has answered before this time (Unix ms) is applied, with all that others had shipped. */
  readonly ownThrough: number;
  /** All that any node has answered before this time (Unix ms) is applied; `undefined` until the log was applied to its end once. */
  readonly completeThrough: number | undefined;
  readonly position: number;
}

/** A report waits this long for what this node has counted; then it says until when it is complete. */
const patienceMs = 1000;
/** An entry that this node has appended is applied within this time, or its sender is told to try again. */
const entryMs = 5000;

/** Those who wait until the replica has something. */
export class Awaited {
  #reports: WaitingReport[] = [];
  #entries: WaitingForEntry[] = [];

  get isEmpty(): boolean {
    return this.#reports.length === 0 && this.#entries.length === 0;
  }

  /**
   * Resolves with until when the replica is complete, when it has what this node has answered until now.
   * @param now by the engine's clock, Unix ms @param at by the clock for ages
   */
  report(now: number, at: number): Promise<number> {
    return new Promise((done, refused) => {
      this.#reports.push({ since: now, until: at + patienceMs, done, refused });
    });
  }

  /** Resolves when an entry of the log is applied. */
  entry(position: number, at: number): Promise<void> {
    return new Promise((done, refused) => {
      this.#entries.push({ position, until: at + entryMs, done, refused });
    });
  }

  /** Answers those who have what they wait for, or have waited long enough. */
  progress({ ownThrough, completeThrough, position }: Progress, at: number): void {
    this.#reports = this.#reports.filter(({ since, until, done, refused }) => {
      if (ownThrough < since && at < until) return true;
      // A node that has just started may not have any of it.
      if (completeThrough === undefined) refused(engineAway());
      else done(completeThrough);
      return false;
    });
    this.#entries = this.#entries.filter((entry) => {
      if (entry.position <= position) entry.done();
      else if (at >= entry.until) entry.refused(engineAway());
      else return true;
      return false;
    });
  }

  /** The engine cannot be asked: reports are not made. Entries that are in the log may still be applied in time. */
  fail(): void {
    const reports = this.#reports;
    this.#reports = [];
    for (const { refused } of reports) refused(engineAway());
  }
}
