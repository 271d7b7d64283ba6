import { openTable, type Table } from './lmdb.ts';
import { openUsageTables, type UsageTables } from './usage.ts';

/**
 * The usage store of a node that applies a log shared by several machines: see replication/replica.ts. It has these tables besides
 * those of usage.
 */
export interface ReplicaStore extends UsageTables {
  /** The replica's own state, as JSON by name: see replication/replica-state.ts. */
  readonly replica: Table;
  /** The series of streams: see replication/stream-series.ts. */
  readonly streamSeries: Table;
  /** The times of messages by identity: see replication/counted-messages.ts. */
  readonly messageTimes: Table;
  /** Forgotten people: see replication/erased.ts. */
  readonly forgotten: Table;
  /** Deleted objects: see replication/erased.ts. */
  readonly erased: Table;
}

/** Opens the usage store of a data directory with the tables of a replica. @throws {Error} as `openLaidOut` */
export function openReplicaStore(data: string): ReplicaStore {
  const usage = openUsageTables(data);
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
