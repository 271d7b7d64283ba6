import type { Plan } from '../../accounts/store/account-store.ts';
import type { Log } from '../../runtime/log.ts';
import type { SlowCommits } from '../../storage/lmdb/commit-watch.ts';
import type { StoreHealth } from '../../storage/lmdb/store-health.ts';
import type { Availability } from '../postgres/availability.ts';
import type { PostgresSession } from '../postgres/connection.ts';
import { Follower, type LogRead, type Whole } from '../postgres/follower.ts';
import { checkId } from '../postgres/layout.ts';
import type { PostgresKey } from '../postgres/postgres-key.ts';
import type { SharedClock } from '../postgres/shared-clock.ts';
import { confirmHistory, readAccounts } from './control-statements.ts';
import type { Copy } from './copy.ts';
import type { RecordCodec, StoredChange } from './record-codec.ts';

/** No request waits longer for the engine. */
export const patienceMs = 5000;

/** What an engine on PostgreSQL is given. */
export interface PostgresAccountStoreDeps {
  readonly health: Pick<StoreHealth, 'ready' | 'failed'>;
  /** For reading only: what is written there is the node's own row. What waits for the lock of a change must not hold it up. */
  readonly reads: PostgresSession;
  readonly changes: PostgresSession;
  /** A third one, for failed sign-ins. */
  readonly signIns: PostgresSession;
  /** The id of the data directory. */
  readonly directory: string;
  readonly key: PostgresKey | undefined;
  /** Set by each answer of PostgreSQL's. */
  readonly clock: SharedClock;
  readonly log: Log;
  readonly slow?: SlowCommits;
  readonly randomBytes: (length: number) => Uint8Array;
  /** Makes the plan that follows when the engine has lost changes: nothing of what was lost may be valid again. */
  readonly repair: () => Promise<Plan<void>>;
  /** Keeps what the copy holds, before records that the engine has lost are removed from it. */
  readonly setAside: () => Promise<void>;
}

/** What the parts of an engine share. */
export interface Shared extends PostgresAccountStoreDeps {
  readonly copy: Copy;
  readonly codec: RecordCodec;
  readonly availability: Availability;
}

/** What a read has confirmed. */
export interface Confirmed extends LogRead<StoredChange> {
  /** Of the copy, when the read began. */
  readonly era: number;
}

/** Follows the accounts: its copy is as new as the last read, each of which a synchronous commit has confirmed. */
export class AccountsFollower extends Follower<StoredChange, Confirmed> {
  readonly #shared: Shared;

  constructor(shared: Shared) {
    super(shared.copy);
    this.#shared = shared;
  }

  /** Reads all that follows, and confirms it. @throws {Error} when it is another engine */
  async read(): Promise<Confirmed> {
    const { reads, copy, clock, directory } = this.#shared;
    const { applied: from, era, state } = copy;
    const asked = clock.monotonic();
    const { engine, at, ...history } = await confirmHistory(reads, directory, from);
    checkId(state.engine, engine);
    clock.heard(at, asked);
    return { ...history, from, era };
  }

  protected apply(changes: readonly Whole<StoredChange>[], { era }: Confirmed): Promise<void> {
    const { copy, codec } = this.#shared;
    return copy.advance(codec.decodeChanges(changes), era);
  }

  /** The gap does not tell a loss from a history that was trimmed: the records are read with what tells. */
  protected async load(): Promise<void> {
    const { reads, copy, codec, log, setAside } = this.#shared;
    const { applied } = copy;
    const { head, records, oldest, change } = await readAccounts(reads, applied.position);
    await this.read(); // Only a commit that writes confirms what was read.
    const isTrimmed = oldest === null || oldest > applied.position;
    const isLoss = applied.position > head.position || (!isTrimmed && change !== applied.id);
    const writes = codec.decodeRecords(records);
    if (isLoss) await setAside();
    await copy.replace(writes, head, isLoss);
    const fields = { had: applied.position, has: head.position, records: records.length };
    if (isLoss) log.error('the engine has lost changes of the accounts: all sessions will be ended', fields);
    else log.info('the accounts were loaded from the engine', fields);
  }
}
