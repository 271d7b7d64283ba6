import type { Directory } from '../accounts/directory.ts';
import type { Draft, Engine } from '../accounts/store/engine.ts';
import type { WebhookEventType } from '../contract/events.ts';
import type { RefusalCode } from '../contract/refusals.ts';
import type { Log } from '../runtime/log.ts';
import type { Application } from '../storage/lmdb/records.ts';
import type { Webhook } from '../storage/lmdb/webhook-records.ts';
import { type Step, stepOf } from './episodes.ts';
import type { Find, Findings, WatchTask } from './findings.ts';
import { markedAt, putMark, refusedMark, seenMark, service, staleMark } from './marks.ts';
import { firstSeen, type Refusing, refusing, stale } from './occurrences.ts';
import { enqueue, type Occurrence } from './queue.ts';

export interface WatchDeps {
  readonly engine: Engine;
  /** Its changes are the service's own. */
  readonly directory: Directory;
  readonly log: Log;
  readonly staleAfterMs: number;
  readonly find: Find;
  /** Until when all that was counted is here, Unix ms; `undefined` when that is now. */
  completeThrough(): Promise<number | undefined>;
  /** How often this process has refused whatever came, by the reason, since its start. */
  refusals(): ReadonlyMap<RefusalCode, number>;
  /** Resolves after `ms`; false when the service is stopping. */
  pause(ms: number): Promise<boolean>;
}

const betweenRoundsMs = 20_000;
const betweenApplicationsMs = 10;

/** Events that one round queues for one application; a later round goes on. Receivers are not flooded, and queues not overrun. */
const mostAtOnce = 100;

/** Marks that are read without a pause. */
const marksAtOnce = 100;

/** Most rounds look at the last hour only; each of these looks at all that counts: what comes from other nodes may be old. */
const wholeEvery = 30;
const lastMs = 3_600_000;

const refusedForMs = 2 * 3_600_000;

/** Finds the events that no change of accounts tells of, in what was counted and refused. What is on disk is found after a crash, too. */
export class Watch {
  readonly #deps: WatchDeps;
  #round = 0;
  /** What was told of the refusals of this process. */
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
        this.#deps.log.debug('it could not be looked for events of webhooks', { error });
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

  /** What cannot be read of one application holds up none of the others. */
  async #tryLookAt(application: Application, task: WatchTask): Promise<void> {
    try {
      await this.#lookAt(application, task);
    } catch (error) {
      const fields = { application: application.id, error };
      this.#deps.log.debug('it could not be looked for events of an application', fields);
    }
  }

  async #lookAt(application: Application, task: WatchTask): Promise<void> {
    const { directory, find } = this.#deps;
    if (task.firstSeenFrom === null && task.stale === null && task.refusedFrom === null) return;
    const found = await find(task);
    const { randomBytes, clock } = directory;
    const now = clock.now();
    const news = await this.#newsIn(candidatesOf(application, found, now));
    if (news.length === 0) return;
    await directory.change((draft) => {
      // Another node may have been first, and the application may be gone.
      if (!draft.applications.has(application.id)) return;
      for (const { mark, at, stepFrom, occurrence } of news) {
        const step = stepFrom(markedAt(draft, mark));
        if (step !== undefined) putMark(draft, mark, at);
        if (step === 'tell') enqueue(draft, occurrence(), { now, randomBytes });
      }
    });
  }

  /** What was not told yet, `mostAtOnce` at the most. Of a flood most was told, and the marks are on disk: packets come in between. */
  async #newsIn(candidates: Iterable<Candidate>): Promise<readonly Candidate[]> {
    const { engine, pause } = this.#deps;
    const news: Candidate[] = [];
    let looked = 0;
    for (const candidate of candidates) {
      looked += 1;
      if (looked % marksAtOnce === 0 && !(await pause(1))) break;
      if (candidate.stepFrom(markedAt(engine, candidate.mark)) !== undefined) news.push(candidate);
      if (news.length === mostAtOnce) break;
    }
    return news;
  }

  /** The service as a whole: what refuses whatever comes is no application's own. */
  async #lookAtService(): Promise<void> {
    const { directory, refusals } = this.#deps;
    const counts = new Map(refusals());
    const lastAt = directory.clock.now();
    const begun = always.flatMap(({ code, status }): Refusing[] => {
      const count = (counts.get(code) ?? 0) - (this.#told.get(code) ?? 0);
      return count === 0 ? [] : [{ code, status, count, lastAt }];
    });
    if (begun.length > 0) await directory.change((draft) => tellAll(draft, begun, directory));
    this.#told = counts; // Only now: what could not be written is told when it can be.
  }
}

/** What refuses messages whoever sends them. */
const always = [
  { code: 'backpressure', status: 503 },
  { code: 'store_unavailable', status: 503 },
  { code: 'spool_full', status: 503 },
] as const;

interface Extent {
  readonly isWhole: boolean;
  readonly completeThrough: number | undefined;
}

/** From when on a team wants each event. */
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

/** Something that may be told. */
interface Candidate {
  readonly mark: string;
  /** What the mark holds then. */
  readonly at: number;
  /** What to do, by what the mark holds now. */
  stepFrom(marked: number | undefined): Step;
  occurrence(): Occurrence;
}

function* candidatesOf(application: Application, found: Findings, now: number): Generator<Candidate> {
  const { id, teamId } = application;
  // Refusals are few and first: they come with a flood of flags that were never seen before.
  for (const { environment, ...one } of found.refused)
    yield {
      mark: refusedMark(id, environment?.number ?? null, one.code),
      at: one.lastAt,
      stepFrom: (marked) => stepOf(marked, one),
      occurrence: () => refusing(teamId, application, environment, one),
    };
  for (const one of found.firstSeen)
    yield {
      mark: seenMark(id, one.environment.number, one.feature),
      at: now,
      stepFrom: (marked) => (marked === undefined ? 'tell' : undefined),
      occurrence: () => firstSeen(application, one),
    };
  for (const one of found.stale)
    yield {
      mark: staleMark(id, one.feature),
      at: now,
      // What has become stale after it was told was in use in between.
      stepFrom: (marked) => (one.since > (marked ?? 0) ? 'tell' : undefined),
      occurrence: () => stale(application, one),
    };
}

function tellAll(
  draft: Draft,
  begun: readonly Refusing[],
  { clock, randomBytes }: Pick<Directory, 'clock' | 'randomBytes'>,
): void {
  for (const one of begun) {
    const mark = refusedMark(service, null, one.code);
    const step = stepOf(markedAt(draft, mark), one);
    if (step !== undefined) putMark(draft, mark, one.lastAt);
    if (step !== 'tell') continue;
    const teams = new Set(Array.from(draft.records('webhooks').values(), ({ teamId }) => teamId));
    for (const teamId of teams)
      enqueue(draft, refusing(teamId, null, null, one), { now: clock.now(), randomBytes });
  }
}
