import type { Dice } from '../dice.ts';
import type { Person, Round } from '../round.ts';
import type { ServiceNode } from '../scene/service-node.ts';

const mostAsked = 12;

/** Checks that each node shows all packets with the id of a person, even if another node minted the id just before. */
export async function checkPeople(round: Round, dice: Dice): Promise<void> {
  const asked = dice.shuffled(round.people).slice(0, mostAsked);
  for (const node of round.scene.nodes) for (const person of asked) await checkPerson(round, node, person);
}

async function checkPerson(round: Round, node: ServiceNode, { identity, sender }: Person): Promise<void> {
  const { application, environment } = round.shop;
  const of = `/api/v2/applications/${application}/identities/${identity}`;
  const path = `${of}/exposures?environment=${environment}`;
  const response = (await round.tokens.insist(node.http, { kind: 'exposures read', path })) as {
    exposures: { feature: string; checks: number }[];
  };
  const checks = response.exposures.find(({ feature }) => feature === 'people')?.checks ?? 0;
  // A lossy failover of PostgreSQL can lose the id. The packets with this id may then be missing.
  const through = round.isLossy ? 0 : undefined;
  for (const fault of sender.totals.flatMap(({ digits }) => digits.faults(checks, through)))
    round.journal.violation(`${node.name}, exposures of ${identity}: ${fault}`);
}
