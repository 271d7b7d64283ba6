import type { ServiceMetric } from '../http/exposition-text.ts';
import type { JournalFigures } from '../storage/commit/committer.ts';
import type { Core } from './core.ts';
import { counter, gauge } from './metric.ts';

/** The journals of the lanes, and the folds that add them to the store. */
export function journalMetrics({ usageEngine }: Core): readonly ServiceMetric[] {
  const journals = () =>
    usageEngine.committers.flatMap(({ journal }, at) =>
      journal === undefined ? [] : [[{ lane: String(at + 1) }, journal] as const],
    );
  const ofLanes = <Value>(figure: (journal: JournalFigures) => Value) => ({
    labels: ['lane'],
    read: () => journals().map(([lane, journal]) => [lane, figure(journal)] as const),
  });
  const figures = () => journals().map(([, journal]) => journal);
  return [
    {
      name: 'flagmeter_journal_bytes',
      type: 'gauge',
      help: 'Bytes of a journal that are not in the store yet.',
      ...ofLanes(({ unfolded }) => unfolded.bytes),
    },
    {
      name: 'flagmeter_journal_frames',
      type: 'gauge',
      help: 'Commits in a journal that are not in the store yet.',
      ...ofLanes(({ unfolded }) => unfolded.frames),
    },
    {
      name: 'flagmeter_fold_duration_seconds',
      type: 'histogram',
      help: 'Duration of a fold, which adds commits of a journal to the store.',
      ...ofLanes(({ foldTimes }) => foldTimes),
    },
    counter('flagmeter_failed_folds_total', 'Failed folds; the next one repeats them.', () =>
      figures().reduce((sum, { failedFolds }) => sum + failedFolds, 0),
    ),
    gauge('flagmeter_replayed_frames', 'Commits that the start has found in the journals and folded.', () =>
      figures().reduce((sum, { replay }) => sum + replay.frames, 0),
    ),
    gauge('flagmeter_replay_duration_seconds', 'Duration of that.', () =>
      Math.max(0, ...figures().map(({ replay }) => replay.seconds)),
    ),
  ];
}
