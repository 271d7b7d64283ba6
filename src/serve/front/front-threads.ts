/*
 * src/serve/front: front-end threads, with which the service counts packets on more than one core. All threads listen
 * on the port of the metrics host, and the kernel distributes the connections. A front-end thread (front-thread.ts)
 * handles packets with the pipeline of the main thread, and forwards other requests to the main thread. The main thread
 * alone owns accounts, series numbers and repeated messages. Before it responds to a request, it publishes its changes
 * (messages.ts). This file is the main thread's side.
 */
import { MessageChannel } from 'node:worker_threads';
import type { Directory } from '../../accounts/directory.ts';
import type { AccountStore, Write } from '../../accounts/store/account-store.ts';
import { allKeyWrites, keyWrites } from '../../accounts/thread-keys.ts';
import type { Refusal } from '../../contract/errors.ts';
import { Receiver } from '../../http/relay/relay.ts';
import type { RequestTotals } from '../../http/request-totals.ts';
import { type Renewable, type Renewal, reopenAll } from '../../http/tls.ts';
import type { ListenOptions } from '../../http/types.ts';
import type { SharedLimit } from '../../ingest/admission/shared-rate-limits.ts';
import type { CountingDeps } from '../../ingest/count-once.ts';
import type { InstanceChange } from '../../ingest/formats/identities/instances.ts';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { Histogram } from '../../runtime/histogram.ts';
import type { Log } from '../../runtime/log.ts';
import { Publisher, publication, Subscriber } from '../../runtime/publication.ts';
import { describeFailure } from '../../runtime/thread-calls.ts';
import { WorkerThread } from '../../runtime/worker-thread.ts';
import { CommitError } from '../../storage/commit/committer.ts';
import type { Intake } from '../../storage/commit/intake.ts';
import { queuesMemory, SharedQueues } from '../../storage/commit/queue-monitor.ts';
import { DurableSeries } from '../../storage/commit/series-dictionary.ts';
import type { UsageStore } from '../../storage/commit/usage-store.ts';
import type { StoreHealth } from '../../storage/lmdb/store-health.ts';
import type { Config } from '../config/config.ts';
import type { FrontThread, InitialState } from './front-thread.ts';
import {
  type DeletedScope,
  type FrontStart,
  type FrontUpdate,
  joinedListener,
  type LiveSettings,
  type MainUpdate,
} from './messages.ts';

interface FrontDeps {
  readonly config: Config;
  readonly workerFile: (name: string) => string;
  readonly log: Pick<Log, 'error'>;
  /** Ends the process with a failure. */
  readonly fatal: (reason: string) => void;
}

interface Thread {
  readonly calls: WorkerThread<FrontThread>;
  readonly fromMain: Publisher<MainUpdate>;
  readonly toMain: Subscriber<FrontUpdate>;
  readonly delays: Histogram;
}

/** The parts of the service that the threads read and change. */
interface FrontOwner {
  readonly clock: Clock;
  readonly accountStore: AccountStore;
  readonly directory: Pick<Directory, 'addKeyEvents'>;
  readonly usageStore: UsageStore;
  readonly health: StoreHealth;
  readonly intake: Intake;
  readonly counting: Pick<CountingDeps, 'dictionary' | 'ledger'>;
}

interface ServingState {
  readonly owner: FrontOwner;
  readonly totals: RequestTotals;
  readonly durable: DurableSeries;
}

/** Interval between checks of the clock and of the admission of packets, ms. */
const lookEveryMs = 50;

/** The front-end threads of a service, as the main thread sees them. Without threads, every method does nothing. */
export class FrontThreads {
  readonly #threads: readonly Thread[];
  readonly #queues: SharedArrayBuffer;
  /** Time of the service minus time of the machine, ms. On a node, the service uses the time of PostgreSQL. */
  readonly #ahead = new Float64Array(new SharedArrayBuffer(8));
  #served: ServingState | undefined;
  /** The admission state that was last published: see `publishAdmission`. */
  #isReady = false;
  #refusal: Refusal | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosing = false;

  /**
   * Starts the threads, which then load their modules. They listen after `begin` is called.
   * @param listener the main thread's listener whose address the threads share; if it is `undefined`, no thread is
   * started
   */
  constructor({ config, workerFile, log, fatal }: FrontDeps, listener: ListenOptions | undefined) {
    const count = listener === undefined ? 0 : config.threads;
    this.#queues = queuesMemory(1 + count);
    this.#threads = Array.from({ length: count }, (_, at) =>
      this.#start(1 + at, config, listener!, workerFile('serve/front/front-worker')),
    );
    for (const [at, { calls }] of this.#threads.entries())
      void calls.ended.then((reason) => {
        if (this.#isClosing) return;
        log.error('a front-end thread has ended: stopping', { thread: at + 1, reason });
        fatal('a front-end thread has ended');
      });
  }

  get count(): number {
    return this.#threads.length;
  }

  /** The queues of these threads. Their lengths count towards the limits of the main thread's queues. */
  get queues(): SharedQueues | undefined {
    return this.count === 0 ? undefined : new SharedQueues(this.#queues, 0, performance.timeOrigin);
  }

  /** The delays of the threads' event loops, by name. */
  get delays(): readonly { readonly name: string; readonly delays: Histogram }[] {
    return this.#threads.map(({ delays }, at) => ({ name: `front-${at + 1}`, delays }));
  }

  /** Resolves when the threads listen. Call this before the first packet is counted. */
  async begin(owner: FrontOwner, totals: RequestTotals): Promise<void> {
    if (this.#threads.length === 0) return;
    const durable = new DurableSeries(owner.counting.dictionary);
    this.#served = { owner, totals, durable };
    owner.accountStore.onCommit((writes) => this.#publishAccounts(writes));
    owner.intake.onDurable((series) => {
      durable.committed(series);
      this.#publish({ about: 'series', series });
    });
    this.#timer = setInterval(() => this.#look(), lookEveryMs).unref();
    this.#look();
    await Promise.all(this.#threads.map(({ calls }, at) => calls.call('begin', createInitialState(owner, at))));
  }

  /** Applies the updates that the threads have published. Call this before responding to a request that shows them. */
  catchUp(): void {
    for (const { toMain } of this.#threads) toMain.catchUp();
  }

  /** Resolves when the service's counters include the current counters of the threads. */
  async settle(): Promise<void> {
    await this.#each('publishFigures');
    this.catchUp();
  }

  /** Resolves when all earlier packets in these threads are on disk or refused. */
  async settled(): Promise<void> {
    await this.#each('settled');
  }

  /**
   * Resolves when all earlier packets of an application in these threads, and their ledger counts, are on disk or
   * refused.
   */
  async barrier(application: number): Promise<void> {
    if (this.#isClosing) return;
    await Promise.all(this.#threads.map(({ calls }) => calls.call('barrier', application)));
  }

  forget({ application, environments, whole }: DeletedScope): void {
    for (const environment of environments) this.#served?.durable.forget(environment);
    this.#publish({ about: 'deletion', application, environments, whole });
  }

  shareLimit(limit: SharedLimit): void {
    this.#publish({ about: 'limit', limit });
  }

  shareInstances(change: InstanceChange): void {
    this.#publish({ about: 'instances', change });
  }

  set(settings: LiveSettings): void {
    this.#publish({ about: 'settings', settings });
  }

  /** Rereads the TLS files in all threads: see `Renewable`. */
  reopen(): Promise<Renewal> {
    const renewable = ({ calls }: Thread): Renewable => ({
      async reopen() {
        await calls.call('reopen');
        return { finish: (graceMs) => calls.call('finishRenewal', graceMs), undo: () => calls.call('undoRenewal') };
      },
    });
    return reopenAll(this.#threads.map(renewable));
  }

  /**
   * Stops accepting connections, and finishes accepted requests. The main thread must run until this resolves, because
   * it serves forwarded requests. Skips threads that have already ended.
   */
  async stopListening(graceMs: number): Promise<void> {
    await Promise.allSettled(this.#threads.map(({ calls }) => calls.call('stopListening', graceMs)));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.allSettled(this.#threads.map(({ calls }) => calls.call('finish')));
    this.catchUp();
    this.#isClosing = true;
    await Promise.all(this.#threads.map(({ calls }) => calls.close()));
    for (const { fromMain, toMain } of this.#threads) {
      fromMain.close();
      toMain.close();
    }
  }

  async #each(action: 'publishFigures' | 'settled'): Promise<void> {
    if (this.#isClosing) return; // A thread ends only after its data is on disk and published.
    await Promise.all(this.#threads.map(({ calls }) => calls.call(action)));
  }

  #start(number: number, config: Config, listener: ListenOptions, file: string): Thread {
    const fromMain = publication();
    const toMain = publication();
    const relay = new MessageChannel();
    const delays = Histogram.shared();
    const start: FrontStart = {
      number,
      queues: this.#queues,
      ahead: this.#ahead,
      config,
      fromMain: fromMain.to,
      toMain: toMain.from,
      relay: relay.port2,
      delays: delays.memory,
      listener: joinedListener(listener),
    };
    const ports = [fromMain.to.port, toMain.from.port, relay.port2];
    new Receiver(relay.port1, listener);
    const thread: Thread = {
      calls: new WorkerThread<FrontThread>(file, start, undefined, ports),
      fromMain: new Publisher<MainUpdate>(fromMain.from),
      toMain: new Subscriber<FrontUpdate>(toMain.to, (message) => this.#apply(thread, message)),
      delays,
    };
    return thread;
  }

  #publish(message: MainUpdate): void {
    for (const { fromMain } of this.#threads) fromMain.publish(message);
  }

  #publishAccounts(all: readonly Write[]): void {
    const writes = keyWrites(all);
    if (writes.length > 0) this.#publish({ about: 'accounts', writes });
  }

  #look(): void {
    const { clock } = this.#served!.owner;
    this.#ahead[0] = clock.now() - systemClock.now();
    this.publishAdmission();
  }

  /** Publishes whether packets are accepted, if that has changed. */
  publishAdmission(): void {
    if (this.#served === undefined) return;
    const { health, usageStore } = this.#served.owner;
    const { ready } = health;
    const refusal = usageStore.refusal();
    if (ready === this.#isReady && refusal === this.#refusal) return;
    this.#isReady = ready;
    this.#refusal = refusal;
    this.#publish({ about: 'admission', admission: { ready, refusal: refusal && describeFailure(refusal) } });
  }

  #apply(thread: Thread, message: FrontUpdate): void {
    const { owner, totals, durable } = this.#served!;
    if (message.about === 'figures') {
      totals.add(message.requests);
      owner.intake.add(message.commits);
    } else if (message.about === 'ledger') {
      owner.counting.ledger.addFigures(message.figures);
    } else if (message.about === 'keys') {
      owner.directory.addKeyEvents(message.lastUses);
    } else if (message.about === 'environment') {
      const json = JSON.stringify(durable.of(message.wanted));
      thread.fromMain.publish({ about: 'dictionary', environment: message.wanted, json });
    } else {
      owner.health.failed(new CommitError(message.failure.message, message.failure.code));
    }
  }
}

function createInitialState({ usageStore, accountStore }: FrontOwner, at: number): InitialState {
  return {
    digestSecret: usageStore.digestSecret,
    accounts: allKeyWrites(accountStore),
    timeOrigin: performance.timeOrigin,
    producers: usageStore.committers.map(({ producers }) => producers![at]!),
  };
}
