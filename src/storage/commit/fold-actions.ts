import type { Maintenance } from '../aggregate/maintain.ts';
import type { LmdbEnvironment } from '../lmdb/lmdb.ts';
import { Fold, type Folding, type FoldTask, type JournalPlace } from './fold.ts';

/** Options of a folding thread. */
export interface Journals {
  readonly journal: JournalPlace;
  /** Journals of lanes that no longer exist. This thread folds and removes them. */
  readonly others: readonly JournalPlace[];
}

/** The result of folding at the start. */
export interface Replayed {
  /** The last frame of the thread's own journal. */
  readonly last: number;
  readonly frames: number;
  /** See `JournalReader.incomplete`. */
  readonly incomplete: readonly string[];
}

/** Calls that a folding thread accepts. */
export function foldActions(lmdb: LmdbEnvironment, { journal, others }: Journals, aggregator: Folding) {
  let own: Fold;
  return {
    /**
     * Opens the journal. If it holds frames, this runs before the writer of this process opens it.
     * @param isEmpty whether no journal holds frames: then the writer may have started already
     * @returns the last frame of the journal and the number of frames, once all are folded
     */
    open(isEmpty: boolean): Replayed {
      let frames = 0;
      const incomplete: string[] = [];
      const finish = (fold: Fold) => {
        frames -= fold.folded;
        const last = fold.finish();
        frames += last;
        if (fold.incomplete !== undefined) incomplete.push(fold.incomplete);
        return last;
      };
      for (const place of others) {
        const other = new Fold(lmdb, place, aggregator);
        finish(other);
        other.remove();
      }
      own = new Fold(lmdb, journal, aggregator);
      const last = isEmpty ? own.folded : finish(own);
      aggregator.replayed?.();
      if (others.length > 0) aggregator.forget(); // Memory may hold applications of other threads.
      lmdb.resetReadTxn(); // By itself, lmdb would end the read in a timer, and none fires in this thread.
      return { last, frames, incomplete };
    },
    fold: (task: FoldTask) => own.fold(task),
    finish: () => own.finish(),
    prepare: () => own.prepare(),
    maintain: (step: Maintenance) => aggregator.maintain?.(step) ?? 0,
    close: () => {},
  };
}

export type FoldActions = ReturnType<typeof foldActions>;
