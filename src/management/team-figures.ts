import type { ApplicationMessages } from '../reports/home-report.ts';
import type { ReportPool } from '../reports/report-pool.ts';
import type { FreshnessDeps } from '../reports/usage/freshness.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Application } from '../storage/lmdb/records.ts';

type Messages = ReadonlyMap<string, ApplicationMessages>;

interface CacheEntry {
  /** Start of the computation, monotonic ms. */
  readonly startedAt: number;
  readonly result: Promise<Messages>;
}

interface TeamFiguresDeps extends FreshnessDeps {
  readonly reports: Pick<ReportPool, 'make'>;
  readonly clock: Clock;
}

/** Minimum interval between two computations for a team, ms. */
const freshMs = 4000;

/** Shares the message counts of each team's applications among callers. */
export class TeamFigures {
  readonly #deps: TeamFiguresDeps;
  readonly #kept = new Map<string, CacheEntry>();

  constructor(deps: TeamFiguresDeps) {
    this.#deps = deps;
  }

  /** Returns the message counts of applications, by id. @throws {Refusal} as `ReportPool.make` does */
  async of(applications: readonly Application[]): Promise<Messages> {
    const found = await Promise.all([...byTeam(applications)].map(([team, own]) => this.#ofTeam(team, own)));
    return new Map(found.flatMap((messages) => [...messages]));
  }

  #ofTeam(team: string, applications: readonly Application[]): Promise<Messages> {
    const now = this.#deps.clock.monotonic();
    for (const [key, { startedAt }] of this.#kept) if (now - startedAt >= freshMs) this.#kept.delete(key);
    const key = [team, ...applications.map(({ id }) => id)].join(' ');
    const known = this.#kept.get(key);
    if (known !== undefined) return known.result;
    const kept = { startedAt: now, result: this.#make(team, applications) };
    this.#kept.set(key, kept);
    kept.result.catch(() => this.#kept.delete(key));
    return kept.result;
  }

  async #make(team: string, applications: readonly Application[]): Promise<Messages> {
    const { reports, freshen, clock } = this.#deps;
    await freshen('any');
    const task = { applications: applications.map(({ number }) => number), now: clock.now() };
    const read = await reports.make(team, 'home', task);
    return new Map(applications.map(({ id }, index) => [id, read[index]!]));
  }
}

/** Groups applications by team, because the report thread serves teams round robin. */
export function byTeam(applications: readonly Application[]): ReadonlyMap<string, readonly Application[]> {
  const teams = new Map<string, Application[]>();
  for (const application of applications) {
    const own = teams.get(application.teamId) ?? [];
    teams.set(application.teamId, own);
    own.push(application);
  }
  return teams;
}
