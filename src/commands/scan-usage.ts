import type { Log } from '../log.ts';
import type { ReportPool } from '../manage/report-pool.ts';
import type { UsageTable } from '../store/scan.ts';
import type { UsageStore } from '../store/usage.ts';

/** What the scan of the usage store needs. */
export interface ScanDeps {
  readonly usage: UsageStore;
  readonly reports: ReportPool;
  readonly log: Log;
  /** Resolves after `ms`; false when the service is stopping. */
  pause(ms: number): Promise<boolean>;
}

/** Between two steps, so that the scan takes a small part of the thread that makes reports, and of the disk. */
const betweenStepsMs = 20;

/** It waits for its turn among the teams, as one of them. */
const owner = '';

/** Reads the whole usage store in the background, when the start had no time to: damage should be found before a request hits it. */
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
  if (inOrder) log.info('the usage store was looked through, and is in order');
}

function tablesOf(usage: UsageStore): readonly UsageTable[] {
  return Object.keys(usage).filter((name): name is UsageTable => name !== 'lmdb');
}
