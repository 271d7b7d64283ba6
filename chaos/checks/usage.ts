import type { Total } from '../clients/totals.ts';
import type { Round } from '../round.ts';
import { type Reports, readReports } from './reports.ts';
import { formatSeriesKey, sumSeries } from './sums.ts';

/**
 * Compares the reports of each node with the outcome of each request. Accepted requests count once, refused requests do
 * not count, and requests with an unknown outcome count at most once. No packet counts partially, and all nodes report
 * the same.
 */
export async function checkUsage(round: Round, end: number): Promise<void> {
  const all = await Promise.all(round.scene.nodes.map((node) => readReports(round, node, end)));
  for (const reports of all) checkReports(round, reports);
  const [first, ...others] = all.map(({ node, usage, metrics }) => ({
    name: node.name,
    text: JSON.stringify([usage.features, metrics]),
  }));
  for (const { name, text } of others) {
    if (text === first?.text) continue;
    const where = difference(text, first?.text ?? '');
    round.journal.violation(`the reports of ${name} and ${first?.name} differ: ${where}`);
  }
}

function checkReports(round: Round, reports: Reports): void {
  const sums = sumSeries(reports);
  const totals = round.senders.flatMap((sender) => sender.totals);
  for (const total of totals) {
    const faults = total.digits.faults(sums.get(formatSeriesKey(total)) ?? 0);
    for (const fault of faults)
      round.journal.violation(`${reports.node.name}, ${total.kind} ${total.name}/${total.variant}: ${fault}`);
  }
  checkWhole(round, reports, totals, sums);
  checkUsers(round, reports);
}

/** Checks that every packet and report counts once in `all`, and every packet once in `packets`. */
function checkWhole(
  round: Round,
  { node, usage, metrics }: Reports,
  totals: readonly Total[],
  sums: ReadonlyMap<string, number>,
): void {
  const counted = (of: RegExp) =>
    totals
      .filter(({ kind, name }) => kind === 'feature' && of.test(name))
      .reduce((sum, total) => sum + total.digits.countedIn(sums.get(formatSeriesKey(total)) ?? 0), 0);
  const ofPeople = usage.features.find(({ feature }) => feature === 'people')?.used ?? 0;
  const { checks = 0, used = 0, viewed = 0 } = usage.features.find(({ feature }) => feature === 'all') ?? {};
  const packets = metrics.find(({ metric }) => metric === 'packets')?.value ?? 0;
  const got = [checks, used, viewed, packets];
  const requests = counted(/./) + ofPeople;
  const want = [requests, requests, requests, counted(/^(packets|named|keys)-/) + ofPeople];
  if (String(got) !== String(want))
    round.journal.violation(
      `${node.name} counted packets partially: the sums of "all" and "packets" are ${got}, not ${want}`,
    );
}

/** Checks that the number of users equals the number of people, within the 2 % error of the sketch. */
function checkUsers(round: Round, { node, usage }: Reports): void {
  const outcomes = round.people.map(({ sender }) =>
    sender.totals.flatMap(({ digits }) => digits.requests.map(({ outcome }) => outcome)),
  );
  const least = outcomes.filter((each) => each.includes('accepted')).length;
  const most = outcomes.filter((each) => each.some((outcome) => outcome !== 'refused')).length;
  const users = usage.features.find(({ feature }) => feature === 'people')?.uniqueUsers ?? 0;
  // After midnight UTC, the report counts only the users of complete days.
  const isWhole = usage.to.startsWith(usage.userDays.to);
  const isTooFew = isWhole && !round.isLossy && users < least * 0.98 - 1;
  if (isTooFew || users > most * 1.02 + 1)
    round.journal.violation(`${node.name} reports ${users} users; it must report ${least} to ${most}`);
}

/** Describes the first difference of two texts. */
function difference(a: string, b: string): string {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const from = Math.max(0, at - 60);
  const to = at + 60;
  return `${a.slice(from, to)} against ${b.slice(from, to)}`;
}
