import type { RefusalCode } from '../contract/refusals.ts';
import { tellFailure } from '../runtime/background-failure.ts';
import { sweepWebhooks } from '../webhooks/sweep.ts';
import { Watch } from '../webhooks/watch.ts';
import type { Core } from './core.ts';

/** What webhooks need in the background: delivering, looking for events, removing what is old. */
export function webhookWork(
  core: Core,
  pause: (ms: number) => Promise<boolean>,
): readonly (() => Promise<void>)[] {
  const { config, engine, directory, log, reports, usageEngine, counting } = core;
  const watch = new Watch({
    ...{ engine, directory, log, pause },
    staleAfterMs: config.staleAfter * 86_400_000,
    find: (task) => reports.make(webhookReports, 'watch', task),
    completeThrough: async () => (await usageEngine.freshen('any'))?.completeThrough,
    refusals: (): ReadonlyMap<RefusalCode, number> => counting.ledger.unattributed,
  });
  const failed = (error: unknown) =>
    tellFailure(log, 'old deliveries of webhooks could not be removed', error);
  return [
    () => core.deliverer.run(pause),
    () => watch.run(),
    () => sweepWebhooks({ ...core, pause, failed }),
  ];
}

/** In place of a team, in whose turn reports are made. */
const webhookReports = 'webhooks';
