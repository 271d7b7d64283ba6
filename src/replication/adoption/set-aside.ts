import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Write } from '../../accounts/store/account-store.ts';
import type { Clock } from '../../runtime/clock.ts';
import { isPresent } from '../../runtime/files.ts';
import type { Log } from '../../runtime/log.ts';
import { type AccountTables, accountTables, openAccountTables, readCopyState } from '../../storage/lmdb/accounts.ts';
import { createAtomically, finishCreation } from '../../storage/lmdb/data-directory.ts';
import { diskSpace } from '../../storage/lmdb/disk.ts';
import { openReplicaStore, type ReplicaStore } from '../../storage/lmdb/usage.ts';
import { isOwn } from '../accounts/copy.ts';
import type { DeltaHead } from '../delta.ts';
import type { LoggedNode } from '../entry.ts';
import { unknownDirectory } from '../membership.ts';
import { type LogPosition, logStart } from '../postgres/follower.ts';
import { ReplicaState } from '../replica-state.ts';
import { ReplicaSnapshot } from '../snapshot.ts';
import { Spool } from '../spool.ts';

/**
 * Folder for content that PostgreSQL has lost but this node still had. The node saved it before it loaded other
 * content. `set-aside/NAME` in the data directory has `holding.json`, the accounts (one record per line), and the parts
 * of a usage snapshot. The program never removes these files, because they can be the last copy.
 */
export const setAsideFolder = 'set-aside';
const holdingFile = 'holding.json';
const accountsFile = 'accounts.jsonl';
const partFile = (part: number) => `usage-${String(part).padStart(6, '0')}`;

/** Disk space that must stay free for counting. Content that leaves less is not saved. */
const reserveBytes = 128 * 2 ** 20;
/** Interval between attempts after a failure. It is long, because an attempt can write much content. */
const againMs = 60_000;

interface SetAsideDeps {
  readonly data: string;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
  readonly free?: (path: string) => number;
}

type LostStore = 'usage' | 'accounts';

/** Saves the content of a node to files before it is replaced. Each process has one instance. */
export class SetAside {
  readonly #deps: SetAsideDeps;
  #running: Promise<void> | undefined;
  #failed: { readonly at: number; readonly error: unknown } | undefined;

  /** Size in bytes of all content that was set aside, including by earlier processes. */
  bytes: number;

  constructor(deps: SetAsideDeps) {
    this.#deps = deps;
    this.bytes = setAsideIn(deps.data).bytes;
  }

  /**
   * Resolves when the current counts and accounts are on disk. Both are written, because counts refer to accounts.
   * Writes nothing if an earlier copy has the same state of the lost part.
   * @param lost the part that is about to be replaced
   * @throws {Error} if the files cannot be written; the message says what to do
   */
  keep(lost: LostStore): Promise<void> {
    const { clock } = this.#deps;
    if (this.#failed !== undefined && clock.monotonic() - this.#failed.at < againMs)
      return Promise.reject(this.#failed.error);
    this.#running ??= this.#keep(lost)
      .catch((error: unknown) => {
        this.#failed = { at: clock.monotonic(), error };
        throw error;
      })
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  async #keep(lost: LostStore): Promise<void> {
    const { data, log } = this.#deps;
    const spool = new Spool(data, () => '');
    const usage = openReplicaStore(data);
    const accounts = openAccountTables(data);
    const content = new ReplicaSnapshot(usage);
    try {
      const holding = readDirectoryState(usage, accounts, spool);
      const name = formatName(holding);
      const folder = join(data, setAsideFolder);
      finishCreation(folder);
      if (setAsideIn(data).names.some((known) => extractIdentity(known, lost) === extractIdentity(name, lost))) return;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      await createAtomically(folder, async (staging) => {
        mkdirSync(join(staging, name), { mode: 0o700 });
        const write = (file: string, text: string | Buffer) => this.#write(join(staging, name, file), text);
        await write(holdingFile, JSON.stringify(holding));
        const lines = Array.from(accountsIn(accounts), (each) => `${JSON.stringify(each)}\n`);
        await write(accountsFile, lines.join(''));
        if (!isWhole(holding)) return;
        let part = 0;
        for await (const body of content.parts()) await write(partFile(part++), body);
      });
      this.bytes = setAsideIn(data).bytes;
      log.warn('data that PostgreSQL has lost was set aside', {
        directory: join(folder, name),
        position: holding.applied.position,
        version: holding.place.version,
      });
    } finally {
      content.close();
      await Promise.all([usage.lmdb.close(), accounts.lmdb.close(), spool.close()]);
    }
  }

  async #write(path: string, content: string | Buffer): Promise<void> {
    const { data, free = (path) => diskSpace(path).free } = this.#deps;
    if (free(data) < reserveBytes + content.length)
      throw new Error(
        `Cannot set aside the data that PostgreSQL has lost: ${data} has less than 128 MiB left; free space on its disk, or move older directories of ${join(data, setAsideFolder)} to another`,
      );
    await writeFile(path, content, { mode: 0o600 });
  }
}

/** True if the replica has all counts up to its position; false after an interrupted load. */
function isWhole({ applied }: DirectoryState): boolean {
  return applied.position > 0;
}

/** Returns the part of a copy's name that identifies the counts or the accounts. */
function extractIdentity(name: string, lost: LostStore): string {
  const [position, id, version, change] = name.split('-');
  return lost === 'usage' ? `${position}-${id}` : `${version}-${change}`;
}

/** Returns the name of a copy in `set-aside`. Equal content has the same name. */
function formatName({ applied, place }: DirectoryState): string {
  return `${applied.position}-${applied.id}-${place.version}-${place.id}`;
}

/** Returns the names and the total size of the copies that a data directory has set aside. */
export function setAsideIn(data: string): { readonly names: readonly string[]; readonly bytes: number } {
  const folder = join(data, setAsideFolder);
  if (!isPresent(folder)) return { names: [], bytes: 0 };
  const names = readdirSync(folder).filter((name) => isPresent(join(folder, name, holdingFile)));
  const files = names.flatMap((name) => readdirSync(join(folder, name)).map((file) => join(folder, name, file)));
  return { names, bytes: files.reduce((sum, file) => sum + statSync(file).size, 0) };
}

/** Counts and accounts in a directory, from which a database can be filled. */
export interface Source {
  /** `replica`, or the name of a folder in `set-aside`. */
  readonly name: string;
  readonly holding: DirectoryState;
  parts(): AsyncIterable<Buffer>;
  accounts(): Iterable<Write>;
}

export interface NodeStores {
  readonly data: string;
  readonly accounts: AccountTables;
  readonly usage: ReplicaStore;
  readonly spool: Spool;
}

/** Returns all sources, best first: the latest accounts, then the highest position. */
export function sourcesIn({ data, accounts, usage, spool }: NodeStores): Source[] {
  const replica: Source = {
    name: 'replica',
    holding: readDirectoryState(usage, accounts, spool),
    parts: () => new ReplicaSnapshot(usage).parts(),
    accounts: () => accountsIn(accounts),
  };
  const kept = setAsideIn(data).names.map((name) => setAside(join(data, setAsideFolder, name), name));
  return [replica, ...kept]
    .filter(({ holding }) => isWhole(holding))
    .sort(({ holding: one }, { holding: other }) => {
      const later = other.place.version - one.place.version;
      return later === 0 ? other.applied.position - one.applied.position : later;
    });
}

function setAside(folder: string, name: string): Source {
  return {
    name,
    holding: JSON.parse(readFileSync(join(folder, holdingFile), 'utf8')) as DirectoryState,
    async *parts() {
      for (let part = 0; isPresent(join(folder, partFile(part))); part += 1)
        yield await readFile(join(folder, partFile(part)));
    },
    accounts: () => readLines(join(folder, accountsFile)),
  };
}

function* readLines(path: string): Generator<Write> {
  for (const line of readFileSync(path, 'utf8').split('\n')) if (line !== '') yield JSON.parse(line) as Write;
}

/** A row of `fm_stream`, as known to a replica. */
interface HeldStream extends Pick<DeltaHead, 'stream' | 'seq' | 'through' | 'since' | 'version'> {
  readonly directory: string;
  readonly state: 'open' | 'done';
}

/** The state of a data directory, except its counts and accounts. */
export interface DirectoryState {
  readonly engine: string;
  /** The last log entry that the counts include. */
  readonly applied: LogPosition;
  /** The last change of the accounts. The field names must not change, because existing files contain them. */
  readonly place: { readonly version: number; readonly id: string };
  /** Everything that any node acknowledged before this time (Unix ms) is in the counts. */
  readonly completeThrough: number;
  readonly streams: readonly HeldStream[];
  readonly nodes: readonly Omit<LoggedNode, 'streams'>[];
}

/** Yields the accounts of a node or a single machine, except records about the file itself. */
export function* accountsIn(accounts: AccountTables): Generator<Write> {
  for (const table of accountTables)
    for (const { key, value } of accounts[table].getRange())
      if (!isOwn(table, key)) yield { table, key, value } as Write;
}

/** @throws {Error} if the accounts are not a copy */
function readDirectoryState(usage: ReplicaStore, accounts: AccountTables, spool: Spool): DirectoryState {
  const copy = readCopyState(accounts.lmdb);
  if (copy === undefined) throw new Error('Cannot read the state of the node: its accounts are not a copy');
  const state = new ReplicaState(usage);
  const streams = state.get('own:loading') === true ? [] : listStreamStates(state, spool);
  const open = streams.filter((each) => each.state === 'open');
  const listed = state.get('reached')?.nodes ?? [];
  const known = new Set([spool.directory, ...listed.map(({ directory }) => directory)]);
  const unknown = open.filter(({ directory }) => !known.has(directory));
  return {
    engine: copy.engine,
    applied: state.get('own:applied') ?? logStart,
    place: { version: copy.version, id: copy.change },
    completeThrough: open.reduce((least, { through }) => Math.min(least, through), state.get('reached')?.now ?? 0),
    streams,
    nodes: [
      ...listed.map(({ streams: own, ...node }) => ({ beat: findLastShipped(own, streams), ...node })),
      ...unknown.map(({ directory, through }) => ({ directory, name: directory, state: 'up', beat: through })),
    ],
  };
}

/** Lists the streams. Their directories are from the last `horizon` entry or, for later streams, from the spool. */
function listStreamStates(state: ReplicaState, spool: Spool): HeldStream[] {
  const { through: reached = 0, nodes = [] } = state.get('reached') ?? {};
  const listed = nodes.flatMap(({ directory, streams }) => streams.map((each) => [each, directory] as const));
  const atHorizon = new Map(listed);
  const own = new Set(spool.streams().map(({ stream }) => stream));
  const findDirectory = (stream: string) =>
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
      directory: findDirectory(stream),
      through: atHorizon.has(stream) ? Math.max(through, reached) : through,
      state: facts?.isClosed ? 'done' : 'open',
    };
  });
}

/** Returns the latest time up to which a stream of a node has shipped. The node was still up at that time. */
function findLastShipped(own: readonly string[], streams: readonly HeldStream[]): number {
  const found = streams.filter(({ stream }) => own.includes(stream));
  return found.reduce((last, { through }) => Math.max(last, through), 0);
}
