import type { LogEntry, LogRead } from '../../replication/postgres/follower.ts';
import type { LogPosition } from '../../replication/postgres/log-position.ts';
import type { Write } from './engine.ts';

/** A change of the accounts as all nodes share it. Its position is the version that it leads to. */
export interface AccountChange extends LogPosition {
  readonly writes: readonly Write[];
}

/** A change as PostgreSQL holds it: see `RecordCodec.encodeChange`. */
export type StoredChange = LogEntry<string>;

/** Changes from a version on, up to the last. */
export type History = Required<Pick<LogRead<StoredChange>, 'head' | 'entries'>>;
