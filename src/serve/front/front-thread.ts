import { randomBytes } from 'node:crypto';
import type { Write } from '../../accounts/store/account-store.ts';
import { ThreadKeys } from '../../accounts/thread-keys.ts';
import type { Refusal } from '../../contract/errors.ts';
import { routesFrom } from '../../http/endpoint.ts';
import { loadHttpEngine } from '../../http/engines/runtime.ts';
import { Forwarder } from '../../http/relay/relay.ts';
import { RequestTotals } from '../../http/request-totals.ts';
import { limitPerTurn } from '../../http/response-limit.ts';
import { createRouter, loggingHooks } from '../../http/router.ts';
import { listenRenewably, type RenewableListener, type Renewal } from '../../http/tls.ts';
import type { Dispatch } from '../../http/types.ts';
import { LargeBodies } from '../../ingest/admission/large-bodies.ts';
import { UnknownSenders } from '../../ingest/admission/rate-limits.ts';
import { ThreadRateLimits } from '../../ingest/admission/shared-rate-limits.ts';
import { SeenMessages } from '../../ingest/count-once.ts';
import { ThreadInstances } from '../../ingest/formats/identities/instances.ts';
import type { Packet, PacketSender } from '../../ingest/formats/telemetry/packet.ts';
import type { Owner, TelemetryDeps } from '../../ingest/formats/telemetry/telemetry.ts';
import { packetRoutes } from '../../ingest/host/metrics-host.ts';
import { Ledger } from '../../ingest/ledger/ledger.ts';
import { Senders } from '../../ingest/senders.ts';
import { type Clock, systemClock, type TimerClock } from '../../runtime/clock.ts';
import { Histogram, watchLoop } from '../../runtime/histogram.ts';
import { type Log, type LogLevel, threadLog } from '../../runtime/log.ts';
import { Outbox } from '../../runtime/outbox.ts';
import { Publisher, Subscriber } from '../../runtime/publication.ts';
import { describeFailure, restoreError } from '../../runtime/thread-calls.ts';
import { ProducerCommitter } from '../../storage/commit/committer.ts';
import { foldsLate, maxUnfoldedBytes } from '../../storage/commit/embedded-usage.ts';
import { Intake } from '../../storage/commit/intake.ts';
import type { ProducerMemory } from '../../storage/commit/journal-memory.ts';
import { type OtherQueues, SharedQueues } from '../../storage/commit/queue-monitor.ts';
import { SeriesMirrors } from '../../storage/commit/series-dictionary.ts';
import type { Config } from '../config/config.ts';
import { getSeriesLimits } from '../config/limits.ts';
import type { Admission, DeletedScope, FrontStart, FrontUpdate, MainUpdate } from './messages.ts';

/** Interval at which the thread publishes its figures, ms. */
const figuresEveryMs = 1000;

/** A front-end thread, whose methods the main thread calls. */
export class FrontThread {
  readonly #start: FrontStart;
  #logLevel: LogLevel;
  readonly #log: Log;
  readonly #publisher: Publisher<FrontUpdate>;
  readonly #forwarder: Forwarder;
  readonly #totals = new RequestTotals();
  readonly #stopWatching: () => void;
  readonly #repeated: NodeJS.Timeout;
  #core: FrontCore | undefined;
  #updates: Subscriber<MainUpdate> | undefined;
  #listener: RenewableListener | undefined;
  #renewal: Renewal | undefined;

  constructor(start: FrontStart) {
    this.#start = start;
    this.#logLevel = start.config.logLevel;
    this.#log = threadLog(() => this.#logLevel);
    this.#publisher = new Publisher(start.toMain);
    this.#forwarder = new Forwarder(start.relay);
    this.#stopWatching = watchLoop(new Histogram(undefined, start.delays), systemClock);
    this.#repeated = setInterval(() => {
      this.#core?.intake.flushLedger();
      this.publishFigures();
    }, figuresEveryMs);
  }

  async begin(initialState: InitialState): Promise<void> {
    const { number, queues, ahead, config, fromMain, listener } = this.#start;
    const publish = (message: FrontUpdate) => this.#publisher.publish(message);
    const others = new SharedQueues(queues, number, performance.timeOrigin);
    const core = new FrontCore({ config, others, clock: clockAhead(ahead), log: this.#log, publish }, initialState);
    this.#core = core;
    this.#updates = new Subscriber<MainUpdate>(fromMain, (message) => {
      if (message.about === 'settings') this.#logLevel = message.settings.logLevel;
      core.apply(message);
    });
    const dispatch = this.#createDispatch(core, this.#updates);
    this.#listener = await listenRenewably(await loadHttpEngine(), { ...listener, dispatch });
  }

  #createDispatch(core: FrontCore, fromMain: Subscriber<MainUpdate>): Dispatch {
    const { config } = this.#start;
    const owner: Owner = {
      forward: async (request, body) => ({ ...(await this.#forwarder.forward(request, body)), isRelayed: true }),
      catchUp: () => fromMain.catchUp(),
      countsHere: (packet, sender) => core.countsHere(packet, sender),
    };
    const routes = routesFrom(packetRoutes(config), { ...core.packets, owner });
    const router = createRouter(routes, {
      ...loggingHooks(config, { log: this.#log, clock: systemClock, randomBytes }),
      totals: this.#totals,
      notFound: (request) => owner.forward(request),
    });
    const isTracing = config.otlpEndpoint !== undefined;
    return limitPerTurn((request) => {
      fromMain.catchUp();
      // Only the main thread is connected to the collector, so it handles traced requests.
      if (isTracing && request.header('traceparent') !== undefined) return owner.forward(request);
      return router(request);
    });
  }

  publishFigures(): void {
    if (this.#core === undefined) return;
    const { intake } = this.#core;
    const requests = this.#totals.take();
    const commits = intake.take();
    this.#publisher.publish({ about: 'figures', requests, commits });
  }

  async settled(): Promise<void> {
    await this.#core?.intake.settled();
  }

  /** Calls `Lane.barrier`. Ignores packets whose bodies are still arriving, because they see the current updates. */
  async barrier(application: number): Promise<void> {
    this.#updates?.catchUp();
    await this.#core?.intake.findLane(application).barrier(application);
  }

  async reopen(): Promise<void> {
    this.#renewal = await this.#listener!.reopen();
  }

  async finishRenewal(graceMs: number): Promise<void> {
    await this.#renewal!.finish(graceMs);
  }

  async undoRenewal(): Promise<void> {
    await this.#renewal!.undo();
  }

  async stopListening(graceMs: number): Promise<void> {
    await this.#listener?.close(graceMs);
  }

  /** Commits the waiting packets. */
  async finish(): Promise<void> {
    clearInterval(this.#repeated);
    this.#stopWatching();
    await this.stopListening(0); // The thread still listens if startup failed after `begin`.
    await this.#core?.intake.close();
    this.publishFigures();
  }

  close(): void {
    this.#updates?.close();
    this.#publisher.close();
    this.#start.relay.close();
  }
}

function clockAhead(by: Float64Array): TimerClock {
  return { ...systemClock, now: () => systemClock.now() + by[0]! };
}

/** The state of the running service with which a front-end thread starts. */
export interface InitialState {
  readonly digestSecret: Uint8Array;
  /** All applications and their keys. */
  readonly accounts: readonly Write[];
  /** Start of the main thread's monotonic clock, Unix ms. */
  readonly timeOrigin: number;
  /** The memory through which the thread commits to the journal of each lane. */
  readonly producers: readonly ProducerMemory[];
}

interface FrontCoreDeps {
  readonly config: Config;
  readonly others: OtherQueues;
  readonly clock: TimerClock;
  readonly log: Log;
  publish(update: FrontUpdate): void;
}

/** Always empty, because only the main thread recognises repeated messages. */
const noMessages = new SeenMessages();

/** The services with which a front-end thread counts packets. Data that all threads share is in shared memory. */
class FrontCore {
  readonly intake: Intake;
  readonly packets: TelemetryDeps;
  readonly #publish: FrontCoreDeps['publish'];
  readonly #mirrors: SeriesMirrors;
  readonly #keys: ThreadKeys;
  readonly #senders = new Senders();
  readonly #rates: ThreadRateLimits;
  readonly #instances: ThreadInstances;
  readonly #clock: Clock;
  /** The environments whose series this thread has requested from the main thread. */
  readonly #wanted = new Set<number>();
  #isReady = false;
  #refusal: Refusal | undefined;

  constructor(deps: FrontCoreDeps, initialState: InitialState) {
    const { config, others, clock, log, publish } = deps;
    const { rate, burst, slowCommit } = config;
    this.#publish = publish;
    this.#clock = clock;
    this.#mirrors = new SeriesMirrors(getSeriesLimits(config));
    this.#keys = new ThreadKeys(
      clock,
      new Outbox(clock, () => publish({ about: 'keys', lastUses: this.#keys.take() })),
    );
    this.#keys.update(initialState.accounts);
    this.#rates = new ThreadRateLimits(rate, burst, performance.timeOrigin - initialState.timeOrigin);
    const secret = Buffer.from(initialState.digestSecret);
    this.#instances = new ThreadInstances(config.instanceTtl * 1000, secret);
    const health = openHealth(() => this.#isReady, publish);
    const committers = initialState.producers.map((memory) => new ProducerCommitter(memory));
    const slow = { fromMs: slowCommit, log };
    this.intake = new Intake(committers, health, clock, config, { others, slow });
    this.packets = {
      clock,
      health,
      maxBody: config.maxBody,
      keys: this.#keys,
      rates: this.#rates,
      dictionary: this.#mirrors,
      senders: this.#senders,
      monitor: this.intake.monitor,
      usage: { refusal: () => this.#refusal ?? (committers.some(isLate) ? foldsLate : undefined) },
      unknown: new UnknownSenders(clock.monotonic()),
      bodies: new LargeBodies(config.bodyBudget),
      messages: noMessages,
      ledger: this.#openLedger(deps),
      instances: this.#instances,
      findLane: (application) => this.intake.findLane(application),
      collect: () => this.intake.collect(),
    };
  }

  #openLedger({ clock, publish }: FrontCoreDeps): Ledger {
    const outbox = new Outbox(clock, () => publish({ about: 'ledger', figures: ledger.takeFigures() }));
    const findLane = (application: number) => this.intake.findLane(application);
    const ledger = new Ledger({ clock, outbox, findLane });
    return ledger;
  }

  /** False if the main thread must count the packet: see `Owner`. */
  countsHere({ f, m, i }: Packet, { application, environment }: PacketSender): boolean {
    if (i !== undefined && !this.#instances.knows(i, application.number, this.#clock.now())) return false;
    if (!this.#rates.covers(application)) return false;
    const series = this.#mirrors.find(environment.number);
    if (series === undefined) return this.#want(environment.number);
    for (const feature in f) {
      for (const variant in f[feature]) if (!series.countsVariant(feature, variant)) return false;
    }
    for (const metric in m) if (!series.countsMetric(metric)) return false;
    return true;
  }

  #want(environment: number): false {
    if (!this.#wanted.has(environment)) {
      this.#wanted.add(environment);
      this.#publish({ about: 'environment', wanted: environment });
    }
    return false;
  }

  apply(update: MainUpdate): void {
    if (update.about === 'accounts') this.#keys.update(update.writes);
    else if (update.about === 'series') this.#mirrors.learn(update.series);
    else if (update.about === 'dictionary') this.#mirrors.open(update.environment, JSON.parse(update.json));
    else if (update.about === 'limit') this.#rates.learn(update.limit);
    else if (update.about === 'instances') this.#instances.learn(update.change);
    else if (update.about === 'deletion') this.#forget(update);
    else if (update.about === 'admission') this.#setAdmission(update.admission);
    else this.#rates.set(update.settings.rate, update.settings.burst);
  }

  #setAdmission({ ready, refusal }: Admission): void {
    this.#isReady = ready;
    this.#refusal = refusal && (restoreError(refusal) as Refusal);
  }

  #forget({ application, environments, whole }: DeletedScope): void {
    for (const environment of environments) {
      this.#mirrors.forget(environment);
      this.#wanted.delete(environment);
      this.#senders.forget(environment);
    }
    if (whole) this.#rates.forget(application);
  }
}

/** True if too much of the journal is not in the store yet. Each thread checks it, as the main thread can be busy. */
function isLate({ unfoldedBytes }: ProducerCommitter): boolean {
  return unfoldedBytes > maxUnfoldedBytes;
}

function openHealth(isReady: () => boolean, publish: FrontCoreDeps['publish']) {
  return {
    get ready() {
      return isReady();
    },
    /** The main thread decides whether the service recovers from the failure. */
    failed: (error: unknown) => publish({ about: 'failure', failure: describeFailure(error) }),
  };
}
