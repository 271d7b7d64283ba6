import type { AccountTransaction } from '../accounts/account-transaction.ts';
import { type Accounts, ofTeam } from '../accounts/accounts.ts';
import { announceExpiringKeys } from '../accounts/api-keys.ts';
import type { Directory } from '../accounts/directory.ts';
import { findOwners } from '../accounts/owners.ts';
import type { AccountStore } from '../accounts/store/account-store.ts';
import type { RefusalCode } from '../contract/refusals.ts';
import type { WebhookEventData, WebhookEventType } from '../contract/webhook-events.ts';
import type { Log } from '../runtime/log.ts';
import type { Application, Webhook } from '../storage/lmdb/records.ts';
import { digestKey, findAnnouncement, putAnnouncement } from './announcements.ts';
import { type Candidate, listCandidates, ofService } from './candidates.ts';
import type { Find, FindForDigest, FoundForDigest, WatchTask } from './findings.ts';
import { enqueue } from './queue.ts';

export interface WatchDeps {
  readonly accountStore: AccountStore;
  /** The directory, whose changes are recorded with the service as the actor. */
  readonly directory: Directory;
  readonly log: Log;
  readonly staleAfterMs: number;
  readonly find: Find;
  readonly findForDigest: FindForDigest;
  /** The time until which the usage on this node is complete, Unix ms; `undefined` if no usage is missing. */
  completeThrough(): Promise<number | undefined>;
  /** Number of messages refused since the start of this process, by reason. Only reasons that concern every sender. */
  refusals(): ReadonlyMap<RefusalCode, number>;
  /** Resolves after `ms`; `false` if the service is stopping. */
  pause(ms: number): Promise<boolean>;
}

const betweenRoundsMs = 20_000;
const betweenApplicationsMs = 10;

/** Maximum number of events that a round queues per application, to protect receivers. The next round continues. */
const mostAtOnce = 100;

/** Maximum number of announcements that one round writes per application. */
const mostAnnouncements = 500;

/** Maximum number of announced verdicts in memory. */
const maxSettled = 50_000;

/** Maximum number of announcements that are read without a pause. */
const announcementsAtOnce = 100;

/** Every 30th round scans all data, because data of other nodes can arrive late. Other rounds scan the last hour. */
const wholeEvery = 30;
const lastMs = 3_600_000;

/**
 * Finds events that no account change causes: in usage and refusals. Their data is on disk, so a crash loses no event.
 */
export class Watch {
  readonly #deps: WatchDeps;
  #round = 0;
  /**
   * Announced verdicts, by key. They need no check until the next full scan. This scan clears the map, because other
   * nodes also announce verdicts.
   */
  readonly #settled = new Map<string, string>();
  /** The number of announced refusals of this process, by reason. */
  #told = new Map<RefusalCode, number>();

  constructor(deps: WatchDeps) {
    this.#deps = deps;
  }

  /** Resolves when the service is stopping. */
  async run(): Promise<void> {
    while (await this.#deps.pause(betweenRoundsMs))
      await this.#attempt('scanning for webhook events failed', {}, () => this.round());
  }

  /**
   * Runs a part of a round, and logs its failure. A later round repeats the failed part, and the other parts continue.
   */
  async #attempt(failed: string, fields: object, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#deps.log.debug(failed, { ...fields, error });
    }
  }

  async round(): Promise<void> {
    const { directory, pause } = this.#deps;
    const isWhole = this.#round % wholeEvery === 0;
    if (isWhole) this.#settled.clear();
    const wanted = sinceByTeam(directory.webhooks.values());
    if (wanted.size === 0) return;
    await this.#lookAtService();
    await announceExpiringKeys(directory, (team) => wanted.get(team)?.has('api-key.expiring') ?? false);
    const completeThrough = await this.#deps.completeThrough();
    for (const [teamId, since] of wanted)
      await this.#attempt('making the weekly digest of a team failed', { team: teamId }, () =>
        this.#digest(teamId, since, completeThrough),
      );
    for (const application of [...directory.applications.values()]) {
      const since = wanted.get(application.teamId);
      if (since === undefined) continue;
      const task = this.#taskFor(application, since, { isWhole, completeThrough });
      await this.#attempt('scanning for events of an application failed', { application: application.id }, () =>
        this.#lookAt(application, task),
      );
      if (!(await pause(betweenApplicationsMs))) return;
    }
    this.#round += 1;
  }

  /** Announces the digest of the last week once. A team that subscribed later gets the next digest. */
  async #digest(teamId: string, since: Since, completeThrough: number | undefined): Promise<void> {
    const { accountStore, directory, findForDigest } = this.#deps;
    const at = digestTime(directory.clock.now());
    const key = digestKey(teamId);
    const isDone = (reader: Pick<AccountStore, 'get'>) => (findAnnouncement(reader, key)?.at ?? 0) >= at;
    if ((since.get('digest.weekly') ?? Infinity) > at || isDone(accountStore)) return;
    if ((completeThrough ?? at) < at) return; // The counts of other nodes are not complete yet.
    const found: [Application, FoundForDigest][] = [];
    for (const application of ofTeam(directory.applications, teamId))
      found.push([application, await findForDigest(application, directory.clock.now())]);
    await directory.change((tx) => {
      if (isDone(tx) || !tx.teams.has(teamId)) return; // Another node has announced the digest.
      const current = found.filter(([{ id }]) => tx.applications.has(id));
      putAnnouncement(tx, key, { at });
      tx.announce('digest.weekly', teamId, createDigest(tx, at, current));
    });
  }

  #taskFor(application: Application, since: Since, { isWhole, completeThrough }: Extent): WatchTask {
    const { directory, staleAfterMs } = this.#deps;
    const now = directory.clock.now();
    const from = (type: WebhookEventType) => {
      const time = since.get(type);
      return time === undefined ? null : Math.max(time - 60_000, isWhole ? 0 : now - lastMs);
    };
    const staleFrom = from('flag.stale');
    const verdictsFrom = since.get('flag.verdict_changed') ?? null;
    const isJudging = staleFrom !== null || verdictsFrom !== null;
    return {
      application: application.number,
      environments: application.environments,
      declared: isJudging ? [...directory.getFeatures(application.id).values()] : [],
      now: Math.min(now, completeThrough ?? now),
      staleAfterMs,
      firstSeenFrom: from('flag.first_seen'),
      staleFrom,
      verdictsFrom,
      refusedFrom: since.get('ingest.refusing') ?? null,
    };
  }

  async #lookAt(application: Application, task: WatchTask): Promise<void> {
    const { directory, find } = this.#deps;
    const { firstSeenFrom, staleFrom, verdictsFrom, refusedFrom } = task;
    if ([firstSeenFrom, staleFrom, verdictsFrom, refusedFrom].every((from) => from === null)) return;
    const found = await find(task);
    const candidates = listCandidates(application, found, task, directory.clock.now());
    const news = await this.#explain(application, task, await this.#newsIn(candidates));
    if (news.length === 0) return;
    await directory.change((tx) => {
      // Since the search, another node might have announced the events, or the application might have been deleted.
      if (tx.applications.has(application.id)) announce(tx, news, directory);
    });
  }

  /**
   * Finds at most `mostAtOnce` events that are not announced yet. Pauses regularly to let the process handle packets,
   * because the search can pass many announced events.
   */
  async #newsIn(candidates: Iterable<Candidate>): Promise<readonly Candidate[]> {
    const { accountStore, pause } = this.#deps;
    const news: Candidate[] = [];
    let looked = 0;
    let told = 0;
    for (const candidate of candidates) {
      const { key, settled } = candidate;
      if (settled !== undefined && this.#settled.get(key) === settled) continue;
      looked += 1;
      if (looked % announcementsAtOnce === 0 && !(await pause(1))) break;
      const announced = findAnnouncement(accountStore, key);
      const step = candidate.stepFrom(announced);
      if (step !== undefined) news.push(candidate);
      else if (settled !== undefined && announced?.verdict === candidate.verdict?.kind) this.#settled.set(key, settled);
      if (step === 'tell') told += 1;
      if (told === mostAtOnce || news.length === mostAnnouncements) break;
    }
    if (this.#settled.size > maxSettled) this.#settled.clear();
    return news;
  }

  /** Adds the reasons of changed verdicts, which the first search omits. */
  async #explain(application: Application, task: WatchTask, news: readonly Candidate[]): Promise<readonly Candidate[]> {
    const { accountStore, find, directory } = this.#deps;
    const isTold = ({ key, stepFrom }: Candidate) => stepFrom(findAnnouncement(accountStore, key)) === 'tell';
    const changed = news.filter((each) => each.verdict !== undefined && isTold(each));
    if (changed.length === 0) return news;
    const explained = new Set(changed.flatMap(({ verdict }) => verdict?.feature ?? []));
    const none = { firstSeenFrom: null, staleFrom: null, refusedFrom: null };
    const found = await find({ ...task, ...none, explained });
    const others = news.filter((each) => !changed.includes(each));
    return [...others, ...listCandidates(application, found, task, directory.clock.now())];
  }

  /** Announces refusals for reasons that concern every sender. They belong to no application. */
  async #lookAtService(): Promise<void> {
    const { directory, refusals } = this.#deps;
    const counts = new Map(refusals());
    const lastAt = directory.clock.now();
    const news = always.flatMap(({ code, status }): Candidate[] => {
      const count = (counts.get(code) ?? 0) - (this.#told.get(code) ?? 0);
      return count === 0 ? [] : [ofService({ code, status, count, lastAt })];
    });
    if (news.length > 0) await directory.change((tx) => announce(tx, news, directory));
    this.#told = counts; // Set this last, so that events that could not be written are announced later.
  }
}

/** Reasons for refusing messages from every sender. */
const always = [
  { code: 'backpressure', status: 503 },
  { code: 'store_unavailable', status: 503 },
  { code: 'spool_full', status: 503 },
] as const;

interface Extent {
  readonly isWhole: boolean;
  readonly completeThrough: number | undefined;
}

/** The time of a team's first subscription to each event, over all its webhooks. */
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

function announce(
  tx: AccountTransaction,
  news: readonly Candidate[],
  { clock, randomBytes }: Pick<Directory, 'clock' | 'randomBytes'>,
): void {
  for (const { key, content, stepFrom, isCurrent, events } of news) {
    const announced = findAnnouncement(tx, key);
    const step = stepFrom(announced);
    if (step === undefined || isCurrent?.(tx) === false) continue;
    putAnnouncement(tx, key, content);
    if (step !== 'tell') continue;
    for (const event of events(tx, announced)) enqueue(tx, event, { now: clock.now(), randomBytes });
  }
}

type Digest = WebhookEventData['digest.weekly'];

/** Maximum number of applications in a digest, and of removable flags and finished experiments of each application. */
const maxApplications = 10;
const maxFeatures = 10;
const maxExperiments = 10;

const weekMs = 7 * 86_400_000;
/** The first Monday of Unix time, at 8:00 UTC. */
const firstMonday = Date.UTC(1970, 0, 5, 8);

/** The latest Monday at 8:00 UTC. */
export function digestTime(now: number): number {
  return firstMonday + Math.floor((now - firstMonday) / weekMs) * weekMs;
}

/** Creates the digest of the week that ends at `at`. Applications with the most removable flags come first. */
function createDigest(
  accounts: Accounts,
  at: number,
  applications: readonly (readonly [Application, FoundForDigest])[],
): Digest {
  const countRemovable = ({ found }: FoundForDigest) => found.flags_can_go.count;
  const shown = applications
    .toSorted(([, a], [, b]) => countRemovable(b) - countRemovable(a))
    .slice(0, maxApplications);
  return {
    week: { from: new Date(at - weekMs).toISOString(), to: new Date(at).toISOString() },
    applications: shown.map(([application, found]) => showApplication(accounts, application, found)),
    applicationsLeftOut: applications.length - shown.length,
  };
}

function showApplication(
  accounts: Accounts,
  application: Application,
  { flags, found, keptTotal, removable, experiments }: FoundForDigest,
): Digest['applications'][number] {
  const declared = accounts.getFeatures(application.id);
  return {
    application: { id: application.id, name: application.name },
    counts: {
      flags,
      canGo: found.flags_can_go.count,
      cannotGoYet: keptTotal,
      undeclared: found.undeclared.count,
      archivedButAsked: found.archived_but_asked.count,
    },
    experiments: experiments
      .slice(0, maxExperiments)
      .map(({ id, name, outcome, text }) => ({ experiment: { id, name }, outcome, verdict: text })),
    canGo: removable
      .slice(0, maxFeatures)
      .map(({ feature, kind, since, variant }) => ({
        feature,
        verdict: kind,
        since,
        variant,
        owners: findOwners(accounts, application, feature, declared.get(feature)).owners,
      })),
  };
}
