import type { Write } from '../../accounts/store/account-store.ts';
import { type AccountTables, accountTables, readCopyState } from '../../storage/lmdb/accounts.ts';
import type { ReplicaStore } from '../../storage/lmdb/usage.ts';
import { isOwn } from '../accounts/copy.ts';
import type { DeltaHead } from '../delta.ts';
import type { LoggedNode } from '../entry.ts';
import { unknownDirectory } from '../membership.ts';
import { type LogPosition, logStart } from '../postgres/log-position.ts';
import { ReplicaState } from '../replica-state.ts';
import type { Spool } from '../spool.ts';

/** A row of `fm_stream`, as known to a replica. */
interface HeldStream extends Pick<DeltaHead, 'stream' | 'seq' | 'through' | 'since' | 'version'> {
  readonly directory: string;
  readonly state: 'open' | 'done';
}

/** The state of a data directory, besides its counts and accounts. */
export interface Holding {
  readonly engine: string;
  /** The last log entry in the counts. */
  readonly applied: LogPosition;
  /** The last change in the accounts. Files of earlier versions use these names. */
  readonly place: { readonly version: number; readonly id: string };
  /** Everything that any node acknowledged before this time (Unix ms) is in the counts. */
  readonly completeThrough: number;
  readonly streams: readonly HeldStream[];
  readonly nodes: readonly Omit<LoggedNode, 'streams'>[];
}

/** The accounts of a node or a single machine, except records of the file itself. */
export function* accountsIn(accounts: AccountTables): Generator<Write> {
  for (const table of accountTables)
    for (const { key, value } of accounts[table].getRange())
      if (!isOwn(table, key)) yield { table, key, value } as Write;
}

/** @throws {Error} if the accounts are not a copy */
export function holdingOf(usage: ReplicaStore, accounts: AccountTables, spool: Spool): Holding {
  const copy = readCopyState(accounts.lmdb);
  if (copy === undefined) throw new Error('Cannot read the state of the node: its accounts are not a copy');
  const state = new ReplicaState(usage);
  const streams = state.get('own:loading') === true ? [] : streamsOf(state, spool);
  const open = streams.filter((each) => each.state === 'open');
  const listed = state.get('reached')?.nodes ?? [];
  const known = new Set([spool.directory, ...listed.map(({ directory }) => directory)]);
  const unknown = open.filter(({ directory }) => !known.has(directory));
  return {
    engine: copy.engine,
    applied: state.get('own:applied') ?? logStart,
    place: { version: copy.version, id: copy.change },
    completeThrough: open.reduce(
      (least, { through }) => Math.min(least, through),
      state.get('reached')?.now ?? 0,
    ),
    streams,
    nodes: [
      ...listed.map(({ streams: own, ...node }) => ({ beat: lastOf(own, streams), ...node })),
      ...unknown.map(({ directory, through }) => ({
        directory,
        name: directory,
        state: 'up',
        beat: through,
      })),
    ],
  };
}

/** The streams with their directories, as listed by the last horizon. A later stream is of this directory if its spool has it. */
function streamsOf(state: ReplicaState, spool: Spool): HeldStream[] {
  const { through: reached = 0, nodes = [] } = state.get('reached') ?? {};
  const listed = nodes.flatMap(({ directory, streams }) => streams.map((each) => [each, directory] as const));
  const atHorizon = new Map(listed);
  const own = new Set(spool.streams().map(({ stream }) => stream));
  const directoryOf = (stream: string) =>
    atHorizon.get(stream) ?? (own.has(stream) ? spool.directory : `${unknownDirectory}${stream}`);
  const streams = new Set([...state.streams(), ...atHorizon.keys()]);
  return Array.from(streams, (stream) => {
    const facts = state.get(`stream:${stream}`);
    const { seq, through, since, version } = facts ?? { seq: 0, through: 0, since: 0, version: 0 };
    return {
      stream,
      seq,
      since,
      version,
      directory: directoryOf(stream),
      through: atHorizon.has(stream) ? Math.max(through, reached) : through,
      state: facts?.isClosed ? 'done' : 'open',
    };
  });
}

/** The time up to which streams have shipped: their node was up then. */
function lastOf(own: readonly string[], streams: readonly HeldStream[]): number {
  const found = streams.filter(({ stream }) => own.includes(stream));
  return found.reduce((last, { through }) => Math.max(last, through), 0);
}
