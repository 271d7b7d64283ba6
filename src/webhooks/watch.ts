import type { Directory } from '../accounts/directory.ts';
import type { AccountStore, Draft } from '../accounts/store/account-store.ts';
import type { WebhookEvent, WebhookEventType } from '../contract/events.ts';
import type { RefusalCode } from '../contract/refusals.ts';
import type { Log } from '../runtime/log.ts';
import type { Application } from '../storage/lmdb/records.ts';
import type { Webhook } from '../storage/lmdb/webhook-records.ts';
import { firstSeen, type Refusing, refusing, stale } from './event-payloads.ts';
import type { Find, Findings, WatchTask } from './findings.ts';
import { markedAt, putMark, refusedMark, type Step, seenMark, service, staleMark, stepOf } from './marks.ts';
import { enqueue } from './queue.ts';

export interface WatchDeps {
  readonly accountStore: AccountStore;
  /** The directory, with the service as actor. */
  readonly directory: Directory;
  readonly log: Log;
  readonly staleAfterMs: number;
  readonly find: Find;
  /** Until when all usage has arrived here, Unix ms; `undefined` if up to now. */
  completeThrough(): Promise<number | undefined>;
  /** How often this process has refused all messages since its start, by reason. */
  refusals(): ReadonlyMap<RefusalCode, number>;
  /** Resolves after `ms`; false if the service is stopping. */
  pause(ms: number): Promise<boolean>;
}

const betweenRoundsMs = 20_000;
const betweenApplicationsMs = 10;

/**
 * Maximum number of events that one round queues per application; a later round continues. This protects receivers and queues
 * from floods.
 */
const mostAtOnce = 100;

/** Maximum number of marks read without a pause. */
const marksAtOnce = 100;

/** Rounds scan only the last hour. One in this many scans everything, because data from other nodes may be old. */
const wholeEvery = 30;
const lastMs = 3_600_000;

const refusedForMs = 2 * 3_600_000;

/** Finds events that no change of accounts causes, in usage and refusals. It works from disk, so a crash loses no event. */
export class Watch {
  readonly #deps: WatchDeps;
  #round = 0;
  /** The refusals of this process that were announced. */
  #told = new Map<RefusalCode, number>();

  constructor(deps: WatchDeps) {
    this.#deps = deps;
  }

  /** Resolves when the service is stopping. */
  async run(): Promise<void> {
    while (await this.#deps.pause(betweenRoundsMs)) {
      try {
        await this.round();
      } catch (error) {
        this.#deps.log.debug('scanning for webhook events failed', { error });
      }
    }
  }

  async round(): Promise<void> {
    const { directory, pause } = this.#deps;
    const isWhole = this.#round % wholeEvery === 0;
    const wanted = sinceByTeam(directory.webhooks.values());
    if (wanted.size === 0) return;
    await this.#lookAtService();
    const completeThrough = await this.#deps.completeThrough();
    for (const application of [...directory.applications.values()]) {
      const since = wanted.get(application.teamId);
      if (since === undefined) continue;
      await this.#tryLookAt(application, this.#taskFor(application, since, { isWhole, completeThrough }));
      if (!(await pause(betweenApplicationsMs))) return;
    }
    this.#round += 1;
  }

  #taskFor(application: Application, since: Since, { isWhole, completeThrough }: Extent): WatchTask {
    const { directory, staleAfterMs } = this.#deps;
    const now = directory.clock.now();
    const from = (type: WebhookEventType) => {
      const time = since.get(type);
      return time === undefined ? null : Math.max(time - 60_000, isWhole ? 0 : now - lastMs);
    };
    const staleFrom = from('flag.stale');
    const refusedFrom = since.get('ingest.refusing');
    return {
      application: application.number,
      environments: application.environments,
      firstSeenFrom: from('flag.first_seen'),
      stale:
        staleFrom === null
          ? null
          : {
              from: staleFrom,
              now: Math.min(now, completeThrough ?? now),
              staleAfterMs,
              declared: [...directory.featuresOf(application.id).values()],
            },
      refusedFrom: refusedFrom === undefined ? null : Math.max(refusedFrom, now - refusedForMs),
    };
  }

  /** A read failure of one application does not affect the others. */
  async #tryLookAt(application: Application, task: WatchTask): Promise<void> {
    try {
      await this.#lookAt(application, task);
    } catch (error) {
      const fields = { application: application.id, error };
      this.#deps.log.debug('scanning for events of an application failed', fields);
    }
  }

  async #lookAt(application: Application, task: WatchTask): Promise<void> {
    const { directory, find } = this.#deps;
    if (task.firstSeenFrom === null && task.stale === null && task.refusedFrom === null) return;
    const found = await find(task);
    const news = await this.#newsIn(candidatesOf(application, found, directory.clock.now()));
    if (news.length === 0) return;
    await directory.change((draft) => {
      // Another node may have announced them, or the application may have been deleted.
      if (draft.applications.has(application.id)) announce(draft, news, directory);
    });
  }

  /**
   * The events not announced yet, at most `mostAtOnce`. In a flood, most were announced already and have marks on disk. Packets
   * are handled in between.
   */
  async #newsIn(candidates: Iterable<Candidate>): Promise<readonly Candidate[]> {
    const { accountStore, pause } = this.#deps;
    const news: Candidate[] = [];
    let looked = 0;
    for (const candidate of candidates) {
      looked += 1;
      if (looked % marksAtOnce === 0 && !(await pause(1))) break;
      if (candidate.stepFrom(markedAt(accountStore, candidate.mark)) !== undefined) news.push(candidate);
      if (news.length === mostAtOnce) break;
    }
    return news;
  }

  /** The service as a whole. Refusals of all messages belong to no application. */
  async #lookAtService(): Promise<void> {
    const { directory, refusals } = this.#deps;
    const counts = new Map(refusals());
    const lastAt = directory.clock.now();
    const news = always.flatMap(({ code, status }): Candidate[] => {
      const count = (counts.get(code) ?? 0) - (this.#told.get(code) ?? 0);
      return count === 0 ? [] : [ofService({ code, status, count, lastAt })];
    });
    if (news.length > 0) await directory.change((draft) => announce(draft, news, directory));
    this.#told = counts; // Only now: events that could not be written are announced later.
  }
}

/** The reasons for refusing messages from every sender. */
const always = [
  { code: 'backpressure', status: 503 },
  { code: 'store_unavailable', status: 503 },
  { code: 'spool_full', status: 503 },
] as const;

interface Extent {
  readonly isWhole: boolean;
  readonly completeThrough: number | undefined;
}

/** Since when a team has subscribed to each event. */
type Since = ReadonlyMap<WebhookEventType, number>;

function sinceByTeam(webhooks: Iterable<Webhook>): Map<string, Since> {
  const teams = new Map<string, Map<WebhookEventType, number>>();
  for (const { teamId, events, enabled } of webhooks) {
    if (!enabled) continue;
    const since = teams.get(teamId) ?? new Map<WebhookEventType, number>();
    teams.set(teamId, since);
    for (const [type, from] of Object.entries(events) as [WebhookEventType, number][])
      since.set(type, Math.min(from, since.get(type) ?? Infinity));
  }
  return teams;
}

/** What may be announced. */
interface Candidate {
  readonly mark: string;
  /** The content of its mark. */
  readonly at: number;
  /** What to do, given the current mark. */
  stepFrom(marked: number | undefined): Step;
  events(draft: Draft): readonly WebhookEvent[];
}

function announce(
  draft: Draft,
  news: readonly Candidate[],
  { clock, randomBytes }: Pick<Directory, 'clock' | 'randomBytes'>,
): void {
  for (const { mark, at, stepFrom, events } of news) {
    const step = stepFrom(markedAt(draft, mark));
    if (step !== undefined) putMark(draft, mark, at);
    if (step !== 'tell') continue;
    for (const event of events(draft)) enqueue(draft, event, { now: clock.now(), randomBytes });
  }
}

function* candidatesOf(application: Application, found: Findings, now: number): Generator<Candidate> {
  const { id, teamId } = application;
  // Refusals are few, and come first: they accompany a flood of flags never seen before.
  for (const { environment, ...one } of found.refused)
    yield {
      mark: refusedMark(id, environment?.number ?? null, one.code),
      at: one.lastAt,
      stepFrom: (marked) => stepOf(marked, one),
      events: () => [refusing(teamId, application, environment, one)],
    };
  for (const one of found.firstSeen)
    yield {
      mark: seenMark(id, one.environment.number, one.feature),
      at: now,
      stepFrom: (marked) => (marked === undefined ? 'tell' : undefined),
      events: () => [firstSeen(application, one)],
    };
  for (const one of found.stale)
    yield {
      mark: staleMark(id, one.feature),
      at: now,
      // A flag that became stale after it was announced was in use in between.
      stepFrom: (marked) => (one.since > (marked ?? 0) ? 'tell' : undefined),
      events: () => [stale(application, one)],
    };
}

/** Refusals of all messages, announced to each team with webhooks. */
function ofService(one: Refusing): Candidate {
  return {
    mark: refusedMark(service, null, one.code),
    at: one.lastAt,
    stepFrom: (marked) => stepOf(marked, one),
    events(draft) {
      const teams = new Set(Array.from(draft.records('webhooks').values(), ({ teamId }) => teamId));
      return [...teams].map((teamId) => refusing(teamId, null, null, one));
    },
  };
}
