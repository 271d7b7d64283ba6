import { openTables, type Table } from './lmdb.ts';
import { openUsageTables, type UsageTables } from './usage.ts';

/** The tables that a replica has besides those of usage. The files of src/replication have their formats. */
const replicaTables = [
  'replica', // Its own state, as JSON by name: see replica-state.ts.
  'streamSeries',
  'messageTimes', // See counted-messages.ts.
  'forgotten', // See erased.ts.
  'erased',
] as const;

/** The usage store of a node that applies a log shared by several machines: see replication/replica.ts. */
export interface ReplicaStore extends UsageTables, Readonly<Record<(typeof replicaTables)[number], Table>> {}

/** Opens the usage store of a data directory with the tables of a replica. @throws {Error} as `openLaidOut` */
export function openReplicaStore(data: string): ReplicaStore {
  const usage = openUsageTables(data);
  return { ...usage, ...openTables(usage.lmdb, replicaTables) };
}
