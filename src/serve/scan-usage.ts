import type { ReportPool } from '../management/report-pool.ts';
import type { Log } from '../runtime/log.ts';
import type { UsageTable, UsageTables } from '../storage/lmdb/usage.ts';

interface ScanDeps {
  readonly usage: UsageTables;
  readonly reports: ReportPool;
  readonly log: Log;
  /** Resolves after `ms`; false when the service is stopping. */
  pause(ms: number): Promise<boolean>;
}

/** Pause between two steps, ms, so that the scan takes a small share of the report thread and the disk. */
const betweenStepsMs = 20;

/** The report thread serves it in turn with the teams. */
const owner = '';

/** Reads the whole usage store in the background, to find damage before a request does. */
export async function scanUsage({ usage, reports, log, pause }: ScanDeps): Promise<void> {
  let inOrder = true;
  for (const table of tablesOf(usage)) {
    try {
      let after: Uint8Array | undefined;
      do {
        if (!(await pause(betweenStepsMs))) return;
        after = await reports.make(owner, 'scan', { table, after });
      } while (after !== undefined);
    } catch (error) {
      inOrder = false;
      log.error('the usage store is damaged', { table, error });
    }
  }
  if (inOrder) log.info('the usage store is intact');
}

function tablesOf(usage: UsageTables): readonly UsageTable[] {
  return Object.keys(usage).filter((name): name is UsageTable => name !== 'lmdb');
}
