import type { UsageReport } from '../../test/support/binary.ts';
import { type Completeness, reportPath } from '../checks/reports.ts';
import { formatSeriesKey, sumSeries } from '../checks/sums.ts';
import type { Dice } from '../dice.ts';
import { pause } from '../pause.ts';
import type { Round } from '../round.ts';
import type { ServiceNode } from '../scene/service-node.ts';
import type { Total } from './totals.ts';

/**
 * Reads reports while faults happen. A report must never contain a request twice. It must contain all requests accepted
 * before its `completeThrough`.
 */
export async function watchReports(round: Round, dice: Dice): Promise<void> {
  while (!round.isOver) {
    await watchReport(round, round.node(dice));
    await pause(dice.between(100, 600));
  }
}

export async function watchReport(round: Round, { http, name }: ServiceNode): Promise<void> {
  const path = reportPath(round, 'usage', Date.now());
  const response = await round.tokens.ask(http, { kind: 'report watched', path });
  if (response.status === 200) check(round, name, JSON.parse(response.body) as UsageReport & Completeness);
}

function check(round: Round, name: string, usage: UsageReport & Completeness): void {
  // A report has no `completeThrough` on a single machine, or if it can lack the counts of a stopped node.
  const isComplete = (usage.mayBeCounting ?? []).length === 0;
  const through = isComplete ? Date.parse(usage.completeThrough ?? '1970-01-01') : 0;
  const sums = sumSeries({ usage, metrics: [] });
  const watched = round.senders.filter((sender) => !round.unwatched.has(sender));
  const features = watched.flatMap(({ totals }) => totals.filter(isFeature));
  for (const total of features)
    for (const fault of total.digits.faults(sums.get(formatSeriesKey(total)) ?? 0, through))
      round.journal.violation(
        `${name} during faults, ${total.name}/${total.variant}, through ${usage.completeThrough}: ${fault}`,
      );
}

function isFeature({ kind }: Total): boolean {
  return kind === 'feature';
}
