import type { Write } from '../../accounts/store/account-store.ts';
import { ThreadKeys } from '../../accounts/thread-keys.ts';
import type { ApiError } from '../../contract/errors.ts';
import { LargeBodies } from '../../ingest/admission/large-bodies.ts';
import { UnknownSenders } from '../../ingest/admission/rate-limits.ts';
import { ThreadRateLimits } from '../../ingest/admission/shared-rate-limits.ts';
import { SeenMessages } from '../../ingest/count-once.ts';
import { ThreadInstances } from '../../ingest/formats/identities/instances.ts';
import type { Packet, PacketSender } from '../../ingest/formats/telemetry/packet.ts';
import type { TelemetryDeps } from '../../ingest/formats/telemetry/telemetry.ts';
import { Ledger } from '../../ingest/ledger/ledger.ts';
import { Senders } from '../../ingest/senders.ts';
import type { Clock, TimerClock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { Outbox } from '../../runtime/outbox.ts';
import { errorOf, failureOf } from '../../runtime/thread-calls.ts';
import { ProducerCommitter } from '../../storage/commit/committer.ts';
import { foldsLate, maxUnfoldedBytes } from '../../storage/commit/embedded-usage.ts';
import { Intake } from '../../storage/commit/intake.ts';
import type { ProducerMemory } from '../../storage/commit/journal-memory.ts';
import type { OtherQueues } from '../../storage/commit/queue-monitor.ts';
import { SeriesMirrors } from '../../storage/commit/series-dictionary.ts';
import type { Config } from '../config/config.ts';
import { limitsOf } from '../config/limits.ts';
import type { Admission, Deleted, FrontUpdate, MainUpdate } from './messages.ts';

/** What a front-end thread needs of the running service. */
export interface Beginning {
  /** The HMAC key of the digests of people. */
  readonly digestSecret: Uint8Array;
  /** All applications and their keys. */
  readonly accounts: readonly Write[];
  /** Origin of the main thread's monotonic clock, Unix ms. */
  readonly timeOrigin: number;
  /** The thread's place at the journal of each lane. */
  readonly producers: readonly ProducerMemory[];
}

interface FrontCoreDeps {
  readonly config: Config;
  readonly others: OtherQueues;
  readonly clock: TimerClock;
  readonly log: Log;
  publish(update: FrontUpdate): void;
}

/** Always empty: the main thread recognises repeated messages. */
const noMessages = new SeenMessages();

/** The parts of a front-end thread that count packets. Those that all threads share are in shared memory. */
export class FrontCore {
  readonly intake: Intake;
  readonly packets: TelemetryDeps;
  readonly #publish: FrontCoreDeps['publish'];
  readonly #mirrors: SeriesMirrors;
  readonly #keys: ThreadKeys;
  readonly #senders = new Senders();
  readonly #rates: ThreadRateLimits;
  readonly #instances: ThreadInstances;
  readonly #clock: Clock;
  /** The environments whose series were asked for. */
  readonly #wanted = new Set<number>();
  #isReady = false;
  #refusal: ApiError | undefined;

  constructor(parts: FrontCoreDeps, beginning: Beginning) {
    const { config, others, clock, log, publish } = parts;
    const { rate, burst, slowCommit } = config;
    this.#publish = publish;
    this.#clock = clock;
    this.#mirrors = new SeriesMirrors(limitsOf(config));
    this.#keys = new ThreadKeys(
      clock,
      new Outbox(clock, () => publish({ about: 'keys', marks: this.#keys.take() })),
    );
    this.#keys.update(beginning.accounts);
    this.#rates = new ThreadRateLimits(rate, burst, performance.timeOrigin - beginning.timeOrigin);
    const secret = Buffer.from(beginning.digestSecret);
    this.#instances = new ThreadInstances(config.instanceTtl * 1000, secret);
    const health = openHealth(() => this.#isReady, publish);
    const committers = beginning.producers.map((memory) => new ProducerCommitter(memory));
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
      ledger: this.#openLedger(parts),
      instances: this.#instances,
      laneOf: (application) => this.intake.laneOf(application),
      collect: () => this.intake.collect(),
    };
  }

  #openLedger({ clock, publish }: FrontCoreDeps): Ledger {
    const outbox = new Outbox(clock, () => publish({ about: 'ledger', figures: ledger.takeFigures() }));
    const laneOf = (application: number) => this.intake.laneOf(application);
    const ledger = new Ledger({ clock, outbox, laneOf });
    return ledger;
  }

  /** Whether a packet can be counted here: see `Owner`. */
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

  /** Applies a message of the main thread. */
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
    this.#refusal = refusal && (errorOf(refusal) as ApiError);
  }

  #forget({ application, environments, whole }: Deleted): void {
    for (const environment of environments) {
      this.#mirrors.forget(environment);
      this.#wanted.delete(environment);
      this.#senders.forget(environment);
    }
    if (whole) this.#rates.forget(application);
  }
}

/** Whether too much waits to be folded. Checked here as well, because the main thread may be busy. */
function isLate({ unfoldedBytes }: ProducerCommitter): boolean {
  return unfoldedBytes > maxUnfoldedBytes;
}

function openHealth(isReady: () => boolean, publish: FrontCoreDeps['publish']) {
  return {
    get ready() {
      return isReady();
    },
    /** The main thread decides whether the service recovers. */
    failed: (error: unknown) => publish({ about: 'failure', failure: failureOf(error) }),
  };
}
