import { randomBytes } from 'node:crypto';
import { routesFrom } from '../../http/endpoint.ts';
import { loadHttpEngine } from '../../http/engines/runtime.ts';
import { Forwarder } from '../../http/relay/forwarder.ts';
import { listenRenewably, type RenewableListener, type Renewal } from '../../http/renewable.ts';
import { RequestIds } from '../../http/request-ids.ts';
import { RequestTotals } from '../../http/request-totals.ts';
import { createRouter, type RouterHooks } from '../../http/router.ts';
import { SlowRequests } from '../../http/slow-requests.ts';
import { inTurns } from '../../http/turns.ts';
import type { Dispatch } from '../../http/types.ts';
import type { Owner } from '../../ingest/formats/telemetry/telemetry.ts';
import { packetRoutes } from '../../ingest/host/metrics-host.ts';
import { systemClock, type TimerClock } from '../../runtime/clock.ts';
import { Histogram, watchLoop } from '../../runtime/histogram.ts';
import type { Log, LogLevel } from '../../runtime/log.ts';
import { Publisher, Subscriber } from '../../runtime/publication.ts';
import { threadLog } from '../../runtime/worker-log.ts';
import { SharedQueues } from '../../storage/commit/queue-monitor.ts';
import type { Config } from '../config/config.ts';
import { type Beginning, FrontCore } from './front-core.ts';
import type { FrontStart } from './front-start.ts';
import type { FrontUpdate, MainUpdate } from './messages.ts';

/** Interval between publications of the figures, ms. */
const figuresEveryMs = 1000;

/** A front-end thread. The main thread calls its methods. */
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

  /** Applies the updates so far, and listens. */
  async begin(beginning: Beginning): Promise<void> {
    const { number, queues, ahead, config, fromMain, listener } = this.#start;
    const publish = (message: FrontUpdate) => this.#publisher.publish(message);
    const others = new SharedQueues(queues, number, performance.timeOrigin);
    const core = new FrontCore(
      { config, others, clock: clockAhead(ahead), log: this.#log, publish },
      beginning,
    );
    this.#core = core;
    this.#updates = new Subscriber<MainUpdate>(fromMain, (message) => {
      if (message.about === 'settings') this.#logLevel = message.settings.logLevel;
      core.apply(message);
    });
    const dispatch = this.#dispatchOf(core, this.#updates);
    this.#listener = await listenRenewably(await loadHttpEngine(), { ...listener, dispatch });
  }

  /** Answers packets here, and forwards everything else. */
  #dispatchOf(core: FrontCore, fromMain: Subscriber<MainUpdate>): Dispatch {
    const { config } = this.#start;
    const owner: Owner = {
      forward: async (request, body) => ({
        ...(await this.#forwarder.forward(request, body)),
        isRelayed: true,
      }),
      catchUp: () => fromMain.catchUp(),
      countsHere: (packet, sender) => core.countsHere(packet, sender),
    };
    const routes = routesFrom(packetRoutes(config), { ...core.packets, owner });
    const hooks = hooksOf(config, this.#totals, this.#log);
    const answer = createRouter(routes, { ...hooks, notFound: (request) => owner.forward(request) });
    const isTracing = config.otlpEndpoint !== undefined;
    return inTurns((request) => {
      fromMain.catchUp();
      // Only the main thread is connected to the collector.
      if (isTracing && request.header('traceparent') !== undefined) return owner.forward(request);
      return answer(request);
    });
  }

  publishFigures(): void {
    if (this.#core === undefined) return;
    const { intake } = this.#core;
    const requests = this.#totals.take();
    const commits = intake.take();
    this.#publisher.publish({ about: 'figures', requests, commits });
  }

  /** See `Lane.settled`. */
  async settled(): Promise<void> {
    await this.#core?.intake.settled();
  }

  /** See `Lane.barrier`. Packets whose body is still arriving count as later ones: they see the updates so far. */
  async barrier(application: number): Promise<void> {
    this.#updates?.catchUp();
    await this.#core?.intake.laneOf(application).barrier(application);
  }

  /** See `Renewable`. */
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

  /** Commits what waits. */
  async finish(): Promise<void> {
    clearInterval(this.#repeated);
    this.#stopWatching();
    await this.stopListening(0); // A start that fails later than `begin` has not.
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

function hooksOf({ slowRequest, logLevel }: Config, totals: RequestTotals, log: Log): RouterHooks {
  return {
    totals,
    ids: new RequestIds(randomBytes),
    failed: (error, about) => log.error('a request failed', { ...about, error }),
    clock: systemClock,
    slow: new SlowRequests(slowRequest, log, systemClock),
    ...(logLevel === 'debug' && {
      accessLog: { answered: (answered) => log.debug('request', { ...answered }) },
    }),
  };
}
