import { patienceMs } from '../../test/support/patience.ts';
import type { ServiceResponse } from '../clients/ask.ts';
import { sendPacketsUntil } from '../clients/packets.ts';
import { pause, within } from '../pause.ts';
import { runCommand } from '../run-command.ts';
import { type Fault, requireDatabase, type Stage } from './fault.ts';

/** An operator forgets a running node with `--force`. Packets that the node acknowledges after that must be counted. */
const forgetLiving: Fault = {
  claims: ['everything'],
  weight: 2,
  async run(stage) {
    const { scene, node, dice, journal } = stage;
    if (await isForgotten(stage, node.name))
      journal.violation(`${node.name} is running, and was forgotten without --force`);
    await scene.withdraw(node);
    await pause(300);
    const now = Date.now();
    // The node ships its counts first, because counts that are not shipped can be lost.
    if (!(await within(patienceMs, () => hasShipped(stage, now)))) journal.violation(`${node.name} does not ship`);
    if (!(await isForgotten(stage, node.name, '--force'))) journal.violation(`${node.name} cannot be forgotten`);
    journal.note(`${node.name} is forgotten while it is running`);
    await noticesIt(stage);
    await node.end(dice.pick(['SIGTERM', 'SIGKILL']));
    await node.start();
    await scene.readmit(node);
  },
};

/** Forgets a node. @param which name of a node, or id of its directory @returns true if the command succeeded */
export async function isForgotten(stage: Stage, which: string, ...more: string[]): Promise<boolean> {
  const { scene, journal } = stage;
  const database = requireDatabase(stage);
  const url = database.url(database.hosts);
  const args = ['postgres', 'forget-node', which, '--postgres', url, '--yes', ...more];
  return runCommand(scene.options.binary, args).then(
    () => true,
    ({ message }: Error) => {
      journal.note(message.trim());
      return false;
    },
  );
}

/**
 * Checks that a forgotten node notices this. Until then, it accepts packets. After that, it responds with 503 and
 * reports the reason.
 */
async function noticesIt({ round, node, journal }: Stage): Promise<void> {
  const end = performance.now() + patienceMs;
  const isLast = ({ status }: ServiceResponse) => status === 503 || performance.now() > end;
  await sendPacketsUntil(round, node.metrics, isLast, { isGivenUp: true });
  const reason = await node.whyNot('counting');
  journal.note(`${node.name} reports: ${reason}`);
  if (!reason?.startsWith('503 ')) journal.violation(`${node.name} was forgotten, and does not report it`);
}

/** True if all packets that the node acknowledged before a time are in the log. */
async function hasShipped(stage: Stage, before: number): Promise<boolean> {
  const rows = await requireDatabase(stage).query<{ through: string }>(
    `SELECT s.through FROM fm_node n JOIN fm_stream s USING (stream) WHERE n.name = '${stage.node.name}'`,
  );
  return rows.length > 0 && rows.every(({ through }) => Number(through) >= before);
}

/**
 * An operator restores a dump that is some seconds old. Counts recover. Changes of accounts since the dump are lost.
 */
const restoredDump: Fault = {
  claims: ['everything'],
  async run(stage) {
    const { round, dice, journal } = stage;
    const database = requireDatabase(stage);
    round.isLossy = true;
    await database.dump();
    await pause(dice.between(500, 4_000));
    await database.replace('dump');
    await database.dropReplaced();
    journal.note('the database is replaced by an old dump');
    await pause(dice.between(1_000, 4_000));
  },
};

/**
 * An empty database replaces the real one, as after the loss of a disk. Nodes must continue to count, and must keep
 * their data. After the real database is back, all data must be there.
 */
const emptyDatabase: Fault = {
  claims: ['everything'],
  async run(stage) {
    const { dice, journal } = stage;
    const database = requireDatabase(stage);
    await database.replace('empty');
    journal.note('an empty database has replaced the real one');
    await pause(dice.between(1_000, 5_000));
    await database.putBack();
    journal.note('the real database is back');
    await pause(dice.between(0, 2_000));
  },
};

/**
 * Restores a lost database from the replica on one node. No count is lost. The latest changes of accounts can be lost.
 */
const replicaAdopted: Fault = {
  claims: ['everything'],
  weight: 2,
  async run(stage) {
    const { scene, round, node, dice, journal } = stage;
    const database = requireDatabase(stage);
    round.isLossy = true;
    await database.replace('empty');
    journal.note('the database is lost');
    await pause(dice.between(500, 4_000));
    await node.end(dice.pick(['SIGTERM', 'SIGKILL']));
    const args = ['--from-replica', '--data', node.data, '--postgres', database.url(database.hosts)];
    await runCommand(scene.options.binary, ['postgres', 'adopt', ...args]);
    journal.note(`the database is restored from the replica of ${node.name}`);
    await node.start();
    await database.dropReplaced();
    await pause(dice.between(500, 3_000));
  },
};

export const faultsOfOperators = { forgetLiving, restoredDump, emptyDatabase, replicaAdopted };
