import { openTable, type Table } from './lmdb.ts';
import { openUsageStore, type UsageStore } from './usage.ts';

/**
 * The usage store of a node that applies a log which several machines share: see cluster/replica.ts. Beside the tables of
 * usage it has these.
 */
export interface ReplicaStore extends UsageStore {
  /** What the replica knows of itself, as JSON under names: see cluster/replica-state.ts. */
  readonly replica: Table;
  /** The series of streams: see cluster/stream-series.ts. */
  readonly streamSeries: Table;
  /** The times of messages by identity: see cluster/counted-messages.ts. */
  readonly messageTimes: Table;
  /** People who were forgotten: see cluster/forgotten.ts. */
  readonly forgotten: Table;
  /** What was deleted: see cluster/erased.ts. */
  readonly erased: Table;
}

/** Opens the usage store of a data directory with the tables of a replica. @throws {Error} as `openLaidOut` does */
export function openReplicaStore(data: string): ReplicaStore {
  const usage = openUsageStore(data);
  const { lmdb } = usage;
  return {
    ...usage,
    replica: openTable(lmdb, 'replica'),
    streamSeries: openTable(lmdb, 'streamSeries'),
    messageTimes: openTable(lmdb, 'messageTimes'),
    forgotten: openTable(lmdb, 'forgotten'),
    erased: openTable(lmdb, 'erased'),
  };
}
