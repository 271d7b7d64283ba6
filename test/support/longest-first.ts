import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take minutes, the longest first. A clean clone has no recorded durations, so vitest would start the
 * largest files first. The files listed here would then end long after all others.
 */
export const longest = [
  'bench/bench',
  'chaos/mutants',
  'faults/killed-commands',
  'faults/killed-server',
  'chaos/run',
  'faults/power-loss',
  'bench/compare',
  'packages/prebuilt-addons',
  'replication/adopt-replica',
  'faults/connections',
  'packages/packages',
  'replication/stream-model',
  'models/log',
  'browser/console-settings-people',
  'browser/console-session',
  'replication/adopt',
].map((name) => `test/${name}.test.ts`);

/** Starts the longest files first, so that all workers are busy until the end of the run. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => computeRank(a) - computeRank(b));
  }
}

function computeRank({ moduleId }: TestSpecification): number {
  const rank = longest.findIndex((path) => moduleId.endsWith(`/${path}`));
  return rank < 0 ? longest.length : rank;
}
