import type { Round } from '../round.ts';

/**
 * Checks that the ledger of the environment contains each accepted packet and report. Requests with an unknown outcome
 * can be missing. After a crash, repetitions can also be missing, because a repetition is written with the next counted
 * packet.
 */
export async function checkLedger(round: Round): Promise<void> {
  const { application, environment } = round.shop;
  const path = `/api/v2/applications/${application}/ingest?environment=${environment}`;
  const senders = [...round.senders, ...round.people.map(({ sender }) => sender)];
  const requests = senders.flatMap(({ totals }) => totals.flatMap(({ digits }) => digits.requests));
  const least = requests.filter(({ outcome }) => outcome === 'accepted').length;
  const most = round.taken.accepted + round.taken.unknown;
  for (const node of round.scene.nodes) {
    const { accepted } = (await round.tokens.insist(node.http, { kind: 'ledger read', path })) as { accepted: number };
    if (accepted < least || accepted > most)
      round.journal.violation(
        `${node.name}: the ledger has ${accepted} accepted requests; it must have ${least} to ${most}`,
      );
  }
}
