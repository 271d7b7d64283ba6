import type { UsageReport } from '../../test/support/binary.ts';
import { patienceMs } from '../../test/support/patience.ts';
import { pause } from '../pause.ts';
import type { Round } from '../round.ts';
import type { ServiceNode } from '../scene/service-node.ts';

/** The reports of one node about the round's environment. */
export interface Reports {
  readonly node: ServiceNode;
  readonly usage: UsageReport;
  readonly metrics: readonly { readonly metric: string; readonly value: number }[];
}

export interface Completeness {
  /** Time through which the report is complete. A single machine does not report it. */
  readonly completeThrough?: string;
  /** Nodes that stopped cleanly, and may be counting again without PostgreSQL. The report can lack their counts. */
  readonly mayBeCounting?: readonly string[];
}

const dayMs = 86_400_000;

/** Reads the reports of a node. Waits until they contain all packets that were acknowledged before `end`. */
export async function readReports(round: Round, node: ServiceNode, end: number): Promise<Reports> {
  const usage = await readWhole<UsageReport>(round, node, 'usage', end);
  const { metrics } = await readWhole<Pick<Reports, 'metrics'>>(round, node, 'measurements', end);
  return { node, usage, metrics };
}

async function readWhole<Report>(round: Round, node: ServiceNode, report: string, end: number): Promise<Report> {
  const { application, environment } = round.shop;
  const [from, to] = [end - dayMs, end + dayMs].map((time) => new Date(time).toISOString()) as [string, string];
  const query = new URLSearchParams({ environment, from, to, step: 'day' });
  const question = { kind: 'report read', path: `/api/v2/applications/${application}/${report}?${query}` };
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const read = (await round.tokens.insist(node.http, question)) as Report & Completeness;
    if (round.scene.database === undefined || Date.parse(read.completeThrough ?? '') >= end) return read;
    if (performance.now() > deadline) {
      const wanted = new Date(end).toISOString();
      round.journal.violation(`${node.name} is only complete through ${read.completeThrough}, not ${wanted}`);
      return read;
    }
    await pause(200);
  }
}

/** Returns the path of a report about the round's environment, for a range around a time. */
export function reportPath({ shop }: Round, report: string, time: number): string {
  const [from, to] = [time - dayMs, time + dayMs].map((each) => new Date(each).toISOString()) as [string, string];
  const query = new URLSearchParams({ environment: shop.environment, from, to, step: 'day' });
  return `/api/v2/applications/${shop.application}/${report}?${query}`;
}
