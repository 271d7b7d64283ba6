import { systemClock } from '../runtime/clock.ts';
import { Histogram, watchLoop } from '../runtime/histogram.ts';
import { type LogLevel, threadLog } from '../runtime/log.ts';
import { describeFailure, type Failure, ThreadCalls, threadStart } from '../runtime/thread-calls.ts';
import type { RetentionStep } from '../storage/aggregate/maintain.ts';
import type { Forgotten } from '../storage/commit/envelope.ts';
import { openReplicaStore } from '../storage/lmdb/usage.ts';
import type { ErasedThings, LoggedMint, ReplicaSettings } from './entry.ts';
import type { MainThread, NodeFacts } from './node-deps.ts';
import { checkSamePostgres } from './postgres/checks.ts';
import { Connection } from './postgres/connection.ts';
import { readPostgresKey } from './postgres/postgres-key.ts';
import { logSession } from './postgres/postgres-report.ts';
import type { PostgresAddress } from './postgres/postgres-url.ts';
import { Replica } from './replica.ts';
import { ReplicaNode } from './replica-node.ts';
import { Spool } from './spool.ts';

export interface ReplicaWorkerStart {
  readonly data: string;
  readonly address: PostgresAddress;
  readonly keyFile: string | undefined;
  readonly facts: NodeFacts;
  readonly settings: ReplicaSettings;
  readonly snapshotBytes: number;
  readonly maxSpoolBytes: number;
  readonly logLevel: LogLevel;
}

/** The actions that the main thread offers: see `MainThread`. */
export interface MainActions extends Omit<MainThread, 'storeFailed'> {
  storeFailed(failure: Failure): void;
}

const deadlineMs = 5000;

const start = threadStart<ReplicaWorkerStart>();
const { data, address, keyFile, facts, settings, snapshotBytes, maxSpoolBytes, logLevel, channel } = start;
const log = threadLog(logLevel);
const key = keyFile === undefined ? undefined : readPostgresKey(keyFile);
const clock = systemClock;
watchLoop(new Histogram(undefined, channel.delays), clock);

const spool = new Spool(data, () => facts.directory);
const store = openReplicaStore(data);
const replica = new Replica(store, () => clock.monotonic());
const connect = (name: string) =>
  new Connection(address, {
    name,
    log,
    clock,
    deadlineMs,
    prepare: async (run) => void (await checkSamePostgres(run, facts.postgresId, key)),
  });
const sessions = [connect(logSession(facts)), connect(`flagmeter ${facts.name} side`)] as const;
const actions = {
  freshen: () => node.freshen(),
  mint: (mint: LoggedMint) => node.mint(mint),
  forget: (forgotten: Forgotten) => node.forget(forgotten),
  erase: (erased: ErasedThings) => node.erase(erased),
  maintain: (step: RetentionStep) => replica.maintain(step),
  end: () => node.end(),
  close,
};
export type ReplicaActions = typeof actions;
const calls = new ThreadCalls<MainActions>(channel, actions);
const node = new ReplicaNode({
  facts,
  spool,
  store,
  settings,
  snapshotBytes,
  maxSpoolBytes,
  clock,
  log,
  session: sessions[0],
  side: sessions[1],
  replica,
  main: {
    seal: (request) => calls.call('seal', request),
    tell: (told) => void calls.call('tell', told).catch(() => {}),
    storeFailed: (error) => void calls.call('storeFailed', describeFailure(error)).catch(() => {}),
    setAside: () => calls.call('setAside'),
    forgotten: () => calls.call('forgotten'),
  },
});
node.start();

/** Closes the store: a worker must not be stopped while LMDB is open. */
async function close(): Promise<void> {
  await Promise.all(sessions.map((session) => session.close()));
  await node.end();
  await store.lmdb.close();
  await spool.close();
}
