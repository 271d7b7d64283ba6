import { checkAccounts } from './checks/accounts.ts';
import { checkResponses } from './checks/answers.ts';
import { checkLedger } from './checks/ledger.ts';
import { checkNodes } from './checks/nodes.ts';
import { checkPeople } from './checks/people.ts';
import { checkPostgres } from './checks/postgres.ts';
import { checkUsage } from './checks/usage.ts';
import { startClients } from './clients/start-clients.ts';
import type { Dice } from './dice.ts';
import type { RoundFault } from './faults/draw.ts';
import { pause } from './pause.ts';
import type { Round } from './round.ts';

/** Runs clients and injects faults. Then ends all faults, and compares the reports with the received responses. */
export async function runRound(
  round: Round,
  dice: Dice,
  {
    drawn,
    clientId,
    answersKnown: knownResponses,
  }: { drawn: readonly RoundFault[]; clientId: string; answersKnown: Set<string> },
): Promise<void> {
  const began = Date.now() - 5_000;
  const clients = startClients(round, dice.fork(), clientId);
  await Promise.all(drawn.map((each) => happen(round, dice.fork(), each)));
  await pause(dice.between(200, 1_000));
  round.isOver = true;
  await clients;
  round.journal.note('all faults have ended');
  await round.scene.makeWell();
  round.journal.note('all reports were compared');
  await check(round, dice, began).catch((error: Error) => {
    round.journal.violation(`the round cannot be checked: ${error.message}`);
  });
  checkResponses(round.journal, knownResponses);
}

async function happen(round: Round, dice: Dice, { name, fault, node }: RoundFault): Promise<void> {
  await pause(dice.between(100, 1_500));
  round.journal.count(`fault: ${name}`);
  const { scene, journal } = round;
  await fault.run({ scene, round, dice, journal, node }).catch((error: Error) => {
    journal.violation(`${name} could not be carried out: ${error.message}`);
  });
}

async function check(round: Round, dice: Dice, began: number): Promise<void> {
  const { database } = round.scene;
  await checkNodes(round);
  await checkUsage(round, Date.now());
  await checkPeople(round, dice);
  await checkLedger(round);
  await checkAccounts(round, began);
  if (database !== undefined) await checkPostgres(database, round.journal);
}
