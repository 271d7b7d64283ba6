import { declarationsVersion } from '../accounts/declarations.ts';
import type { Directory } from '../accounts/directory.ts';
import type { ReportPool } from '../reports/report-pool.ts';
import type { FreshnessDeps } from '../reports/usage/freshness.ts';
import type { DataFindings } from '../reports/verdicts/findings.ts';
import type { Application, FeatureDeclaration } from '../storage/lmdb/records.ts';

/** The findings of one computation. */
export interface ComputedFindings {
  readonly data: DataFindings;
  /** Time before which the counts are complete, Unix ms; `undefined` on a single machine. */
  readonly completeThrough: number | undefined;
}

interface CacheEntry {
  readonly version: string;
  /** Start of the computation, monotonic ms. */
  readonly startedAt: number;
  readonly result: Promise<ComputedFindings>;
  latest: ComputedFindings | undefined;
}

interface SharedFindingsDeps extends FreshnessDeps {
  readonly reports: Pick<ReportPool, 'make'>;
  readonly directory: Pick<Directory, 'clock' | 'getFeatures'>;
  readonly staleAfterMs: number;
}

/** Maximum age of findings that a page shows, ms. */
const freshMs = 10_000;
/** Maximum age of findings if a call needs the findings of many applications, ms. */
const lazyMs = 300_000;
/** Maximum number of applications whose findings are cached. The findings of an application take a few kilobytes. */
const maxKept = 1000;

/**
 * Shares the findings of applications among callers. Findings are computed again after ten seconds at the earliest, or
 * immediately if a feature was declared or changed.
 */
export class SharedFindings {
  readonly #deps: SharedFindingsDeps;
  readonly #kept = new Map<string, CacheEntry>();
  /** The applications to compute next, by id. */
  readonly #waiting = new Map<string, Application>();
  #isComputing = false;

  constructor(deps: SharedFindingsDeps) {
    this.#deps = deps;
  }

  /** Returns the findings of an application. @throws {Refusal} as `ReportPool.make` does */
  of(application: Application): Promise<ComputedFindings> {
    return this.#fresh(application, freshMs);
  }

  /**
   * Returns the last findings of an application; `undefined` if they were never computed. Old findings are computed
   * again in the background. Only one application is computed at a time, so that a page about all applications does not
   * delay other pages.
   */
  latest(application: Application): ComputedFindings | undefined {
    const known = this.#kept.get(application.id);
    const isOld = known !== undefined && this.#deps.directory.clock.monotonic() - known.startedAt >= lazyMs;
    if (known === undefined || isOld) {
      this.#waiting.set(application.id, application);
      void this.#compute();
    }
    return known?.latest;
  }

  async #compute(): Promise<void> {
    if (this.#isComputing) return;
    this.#isComputing = true;
    for (const [id, application] of this.#waiting) {
      this.#waiting.delete(id);
      await this.#fresh(application, freshMs).catch(() => {}); // Later calls retry.
    }
    this.#isComputing = false;
  }

  #isOver({ version, startedAt }: CacheEntry, application: Application, mostMs: number): boolean {
    const { directory } = this.#deps;
    return (
      directory.clock.monotonic() - startedAt >= mostMs ||
      version !== computeVersion(application, this.#declared(application))
    );
  }

  #declared({ id }: Application): readonly FeatureDeclaration[] {
    return [...this.#deps.directory.getFeatures(id).values()];
  }

  #fresh(application: Application, mostMs: number): Promise<ComputedFindings> {
    const { id } = application;
    const known = this.#kept.get(id);
    if (known !== undefined && !this.#isOver(known, application, mostMs)) return known.result;
    const declared = this.#declared(application);
    const kept: CacheEntry = {
      version: computeVersion(application, declared),
      startedAt: this.#deps.directory.clock.monotonic(),
      result: this.#make(application, declared),
      latest: known?.latest,
    };
    this.#kept.delete(id);
    this.#kept.set(id, kept);
    if (this.#kept.size > maxKept) this.#kept.delete([...this.#kept.keys()][0]!);
    kept.result.then(
      (computed) => {
        kept.latest = computed;
      },
      () => {
        if (this.#kept.get(id) === kept) this.#kept.delete(id);
      },
    );
    return kept.result;
  }

  async #make(application: Application, declared: readonly FeatureDeclaration[]): Promise<ComputedFindings> {
    const { reports, freshen, directory, staleAfterMs } = this.#deps;
    const fresh = await freshen('any');
    const { number, teamId, environments } = application;
    const now = directory.clock.now();
    const task = { application: number, environments, declared, now, staleAfterMs };
    return { data: await reports.make(teamId, 'findings', task), completeThrough: fresh?.completeThrough };
  }
}

/** Returns a version of an application's declarations and environments. A change of any of them changes the version. */
function computeVersion({ environments }: Application, declared: readonly FeatureDeclaration[]): string {
  return [declarationsVersion(declared), ...environments.map(({ number }) => number)].join(' ');
}
