import { closeSync, openSync, readSync } from 'node:fs';
import { ABORT } from 'lmdb';
import { isPresent } from '../../runtime/files.ts';
import { type Meta, newestMeta } from './check-pages.ts';
import { getDataFile } from './data-directory.ts';
import { accountsLayout, attachLaidOut, currentLayout, usageLayout } from './layout.ts';
import type { LmdbEnvironment } from './lmdb.ts';
import type { Snapshot } from './snapshot.ts';

/** The file of a store in one state. The pages of this state stay in the file unchanged. */
export interface PointOfStore {
  readonly store: 'accounts' | 'usage';
  readonly layout: number;
  readonly file: string;
  readonly descriptor: number;
  readonly meta: Meta;
  readonly metaPages: Buffer;
}

/** The state of both stores at one time. Until the point is released, freed pages are not reused, so the files grow. */
export interface Point {
  readonly stores: readonly PointOfStore[];
  readonly release: () => Promise<void>;
}

const ownLayouts = [accountsLayout, usageLayout] as const;

/**
 * Holds the state of both stores at one point, even while a service writes to them. Both write locks are held while the
 * two readers begin, so that neither store has a transaction in progress. The state has all data that was acknowledged
 * before the call, and nothing that was begun after the call.
 * @throws {Error} if the directory is not prepared, or has other layouts than this program
 */
export async function holdPoint(data: string): Promise<Point> {
  const opened: LmdbEnvironment[] = [];
  const held: HeldPoint[] = [];
  const release = async () => {
    for (const { snapshot, descriptor } of held) {
      snapshot.done();
      closeSync(descriptor);
    }
    await Promise.all(opened.map((lmdb) => lmdb.close()));
  };
  try {
    for (const layout of ownLayouts) {
      if (!isPresent(getDataFile(data, layout.store)))
        throw new Error(`Cannot use ${data}: it is not a prepared data directory; specify one with --data`);
      opened.push(attachLaidOut(data, layout));
    }
    whileNothingIsWritten(opened, () => {
      for (const [at, layout] of ownLayouts.entries()) held.push(hold(data, layout, opened[at]!));
    });
    return { stores: held, release };
  } catch (error) {
    await release();
    throw error;
  }
}

interface HeldPoint extends PointOfStore {
  readonly snapshot: Snapshot;
}

/**
 * Runs an action while no process writes to the stores. This cannot deadlock, because the service never waits for one
 * store while it writes to the other store.
 */
function whileNothingIsWritten([first, ...others]: readonly LmdbEnvironment[], action: () => void): void {
  if (first === undefined) {
    action();
    return;
  }
  first.transactionSync(() => {
    whileNothingIsWritten(others, action);
    return ABORT;
  });
}

function hold(data: string, layout: (typeof ownLayouts)[number], lmdb: LmdbEnvironment): HeldPoint {
  const file = getDataFile(data, layout.store);
  lmdb.resetReadTxn();
  const snapshot = lmdb.useReadTransaction();
  lmdb.resetReadTxn();
  const descriptor = openSync(file, 'r');
  try {
    const meta = newestMeta(descriptor);
    if (meta === undefined) throw new Error(`Cannot use ${file}: it does not start with the pages of a store`);
    const metaPages = Buffer.alloc(2 * meta.pageSize);
    readSync(descriptor, metaPages, 0, metaPages.length, 0);
    const store = layout.store as PointOfStore['store'];
    return { store, layout: currentLayout(layout), file, descriptor, meta, metaPages, snapshot };
  } catch (error) {
    closeSync(descriptor);
    snapshot.done();
    throw error;
  }
}
