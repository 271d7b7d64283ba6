import { type MessagePort, workerData } from 'node:worker_threads';
import { systemClock } from '../runtime/clock.ts';
import { Histogram } from '../runtime/histogram.ts';
import type { LogLevel } from '../runtime/log.ts';
import { watchLoop } from '../runtime/loop-delay.ts';
import { logThreadConsole, threadLog } from '../runtime/worker-log.ts';
import { openReplicaStore } from '../storage/lmdb/replica-store.ts';
import type { NodeFacts } from './join.ts';
import { failureOf, PortCalls } from './port-calls.ts';
import { Connection } from './postgres/connection.ts';
import { readEngineKey } from './postgres/engine-key.ts';
import { logSession } from './postgres/engine-report.ts';
import type { EngineAddress } from './postgres/engine-url.ts';
import { checkSameEngine } from './postgres/layout.ts';
import { Replica } from './replica.ts';
import { ReplicaNode } from './replica-node.ts';
import type { SealOutcome } from './seal.ts';
import type { ReplicaSettings } from './settings.ts';
import { Spool } from './spool.ts';

/** What the thread is started with. */
export interface ReplicaWorkerStart {
  readonly data: string;
  readonly address: EngineAddress;
  readonly keyFile: string | undefined;
  readonly facts: NodeFacts;
  readonly settings: ReplicaSettings;
  readonly snapshotBytes: number;
  readonly maxSpoolBytes: number;
  readonly logLevel: LogLevel;
  /** Memory of the histogram in which the thread counts how late it is. */
  readonly delays: ArrayBufferLike;
}

const deadlineMs = 5000;

logThreadConsole();
const start = workerData as ReplicaWorkerStart & { readonly port: MessagePort };
const { data, address, keyFile, facts, settings, snapshotBytes, maxSpoolBytes, logLevel, port } = start;
const log = threadLog(logLevel);
const key = keyFile === undefined ? undefined : readEngineKey(keyFile);
const clock = systemClock;
watchLoop(new Histogram(undefined, start.delays), clock);

const spool = new Spool(data, () => facts.directory);
const store = openReplicaStore(data);
const connect = (name: string) =>
  new Connection(address, {
    name,
    ...{ log, clock, deadlineMs },
    prepare: async (run) => void (await checkSameEngine(run, facts.engine, key)),
  });
const sessions = [
  connect(`${logSession(facts.directory)} ${facts.name}`),
  connect(`flagmeter ${facts.name} side`),
] as const;
const calls = new PortCalls(port, {
  freshen: () => node.freshen(),
  mint: (mint: never) => node.mint(mint),
  forget: (forgotten: never) => node.forget(forgotten),
  erase: (erased: never) => node.erase(erased),
  maintain: (step: never) => node.maintain(step),
  end: () => node.end(),
  close,
});
const node = new ReplicaNode({
  ...{ facts, spool, store, settings, snapshotBytes, maxSpoolBytes, clock, log },
  session: sessions[0],
  side: sessions[1],
  replica: new Replica(store, () => clock.monotonic()),
  main: {
    seal: (request) => calls.call('seal', request) as Promise<SealOutcome>,
    tell: (told) => void calls.call('told', told).catch(() => {}),
    storeFailed: (error) => void calls.call('storeFailed', failureOf(error)).catch(() => {}),
    setAside: () => calls.call('setAside'),
    forgotten: () => calls.call('forgotten'),
  },
});
node.start();

/** A worker must not be ended with LMDB open. */
async function close(): Promise<void> {
  await Promise.all(sessions.map((session) => session.close()));
  await node.end();
  await store.lmdb.close();
  await spool.close();
  setImmediate(() => calls.end('the thread has ended'));
}
