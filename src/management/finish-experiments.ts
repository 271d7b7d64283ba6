import type { Directory } from '../accounts/directory.ts';
import { computePhase, finishExperiment, listExperiments, mayBeMet } from '../accounts/experiments.ts';
import type { ReportPool } from '../reports/report-pool.ts';
import type { Log } from '../runtime/log.ts';
import { createTask } from './experiment-task.ts';

interface FinishDeps {
  /** The directory, with the service as actor. */
  readonly directory: Directory;
  readonly reports: Pick<ReportPool, 'make'>;
  readonly log: Log;
  /** Returns the time (Unix ms) before which this node has all usage; `undefined` if this node has all usage now. */
  completeThrough(): Promise<number | undefined>;
  /** Resolves with true after `ms`, or with false if the service is stopping. */
  pause(ms: number): Promise<boolean>;
}

const betweenRoundsMs = 60_000;

/** Slot of this task in the report thread, which serves slots round robin. Each team has a slot of its own. */
const experimentsSlot = 'experiments';

/** Freezes the results of experiments whose plan is met. Resolves when the service is stopping. */
export async function finishExperiments(deps: FinishDeps): Promise<void> {
  while (await deps.pause(betweenRoundsMs)) {
    try {
      await finishDue(deps);
    } catch (error) {
      deps.log.debug('finishing experiments failed', { error });
    }
  }
}

/** Finishes the due experiments. @returns their number @throws the last failure, after all experiments were tried */
export async function finishDue({
  directory,
  reports,
  completeThrough,
}: Omit<FinishDeps, 'log' | 'pause'>): Promise<number> {
  const at = directory.clock.now();
  const running = [...directory.applications.keys()].flatMap((id) =>
    listExperiments(directory, id)
      .filter(({ experiment }) => computePhase(experiment, at) === 'running' && mayBeMet(experiment, at))
      .map((found) => ({ id, found })),
  );
  if (running.length === 0) return 0;
  const now = Math.min(at, (await completeThrough()) ?? at);
  let finished = 0;
  const failures: unknown[] = [];
  for (const { id, found } of running) {
    const task = { ...createTask(directory, found, now), ending: 'met' } as const;
    try {
      const { isMet, result } = await reports.make(experimentsSlot, 'experiment', task);
      if (!isMet) continue;
      const { state: _, frozen: __, daily: ___, ...figures } = result;
      if (await finishExperiment(directory, id, found, figures)) finished += 1;
    } catch (error) {
      failures.push(error); // A failure must not keep other experiments from finishing.
    }
  }
  if (failures.length > 0) throw failures.at(-1);
  return finished;
}
