import type { Log } from '../../runtime/log.ts';
import { WorkerThread } from '../../runtime/worker-thread.ts';
import { checkSegments, isJournalEmpty, recordEmpty } from '../journal/directory.ts';
import { journalDirectory } from '../journal/files.ts';
import { getJournalsDirectory, type JournalPlace, journalLanes, journalPlace } from '../journal/place.ts';
import { isJournalled, type Layout, openJournalId, readFolded, setJournalUse, usageLayout } from '../lmdb/layout.ts';
import type { LmdbEnvironment } from '../lmdb/lmdb.ts';
import type { UsageTables } from '../lmdb/usage.ts';
import { type FoldActions, isFoldedWhole, type Journals } from './fold.ts';
import type { WorkerStart } from './fold-worker.ts';
import { JournalThread } from './journal-thread.ts';
import { JournaledCommitter, type JournaledCommitterDeps } from './journaled-committer.ts';
import { UnfoldedPeople } from './unfolded-people.ts';

export interface CommittersStart extends Pick<JournaledCommitterDeps, 'clock' | 'failed'> {
  readonly workerFile: (name: string) => string;
  readonly data: string;
  /** Number of lanes, each with a journal and a thread that folds it. */
  readonly workers: number;
  /** Number of other threads that commit to each lane: see `Committer.producers`. */
  readonly producers?: number | undefined;
  /** Maximum number of people per environment whose exposures are kept. */
  readonly maxIdentities?: number;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** Starts the committers, and folds earlier frames. @throws {CommitError} if earlier frames cannot be read or folded */
export async function startCommitters(store: UsageTables, options: CommittersStart): Promise<JournaledCommitter[]> {
  const { workerFile, data, workers, producers, maxIdentities = 100_000, ...deps } = options;
  const own = Array.from({ length: workers }, (_, at) => String(at + 1));
  const found = journalLanes(data);
  const { getPlace, isEmpty } = openJournals(store.lmdb, usageLayout, { own, found }, options);
  const others = found.filter((lane) => !own.includes(lane)).map(getPlace);
  const committers = own.map((lane, at) => {
    // The first thread also folds the journals of lanes that are not in use.
    const journals: Journals = { journal: getPlace(lane), others: at === 0 ? others : [] };
    const start: WorkerStart = { data, maxIdentities, ...journals };
    return new JournaledCommitter({
      ...deps,
      journal: new JournalThread(workerFile('storage/commit/journal-worker'), journals.journal, producers),
      folding: new WorkerThread<FoldActions>(workerFile('storage/commit/fold-worker'), start),
      people: new UnfoldedPeople(store),
    });
  });
  const known = (lane: string) =>
    isEmpty && isFoldedWhole(store.lmdb, lane) ? readFolded(store.lmdb, lane) : undefined;
  try {
    await Promise.all(committers.map((committer, at) => committer.begin(known(own[at]!))));
  } catch (error) {
    await Promise.all(committers.map((committer) => committer.close())); // Running threads keep the process alive.
    throw error;
  }
  return committers;
}

interface OpenJournals {
  readonly getPlace: (lane: string) => JournalPlace;
  readonly isEmpty: boolean;
}

/**
 * Starts using the journals of a store: the opposite of `endJournals`.
 * @param lanes the lanes to use, and the existing lanes
 * @throws {JournalDamageError} if the segments of a journal are missing
 */
export function openJournals(
  lmdb: LmdbEnvironment,
  layout: Layout,
  { own, found }: { readonly own: readonly string[]; readonly found: readonly string[] },
  { data, randomBytes, log }: Pick<CommittersStart, 'data' | 'randomBytes' | 'log'>,
): OpenJournals {
  const id = openJournalId(lmdb, randomBytes);
  const getPlace = (lane: string) => journalPlace(data, lane, id);
  const isUsed = isJournalled(lmdb, layout);
  if (isUsed && found.length === 0)
    log.warn('the journal is missing: packets of the last seconds before the server ended are not counted', {
      directory: getJournalsDirectory(data),
    });
  if (isUsed) for (const lane of found) checkSegments(getPlace(lane).directory);
  // Create the directories before the marker, or the next startup reports a lost journal.
  journalDirectory(getJournalsDirectory(data));
  for (const lane of new Set([...own, ...found])) {
    const { directory } = getPlace(lane);
    const files = journalDirectory(directory);
    if (isJournalEmpty(directory)) recordEmpty(files);
  }
  if (!isUsed) setJournalUse(lmdb, layout, true);
  return { getPlace, isEmpty: found.every((lane) => isJournalEmpty(getPlace(lane).directory)) };
}

/** Stops using journals, if the store has all their data. Then an earlier version can open the store. */
export function endJournals(
  lmdb: LmdbEnvironment,
  layout: Layout,
  committers: readonly Pick<JournaledCommitter, 'unfolded'>[],
): void {
  if (committers.some(({ unfolded }) => unfolded.frames > 0)) return;
  try {
    setJournalUse(lmdb, layout, false);
  } catch {
    // Ignored: the disk is full or has failed, as the log reports, and the next startup finds the journals empty.
  }
}
