import { sendPacketsUntil } from '../clients/packets.ts';
import { watchReport } from '../clients/watch-reports.ts';
import { pause } from '../pause.ts';
import { type Fault, requireDatabase, type Stage } from './fault.ts';

/** Kills a node several times, and restarts it immediately or later. */
const kill: Fault = {
  claims: ['node'],
  weight: 4,
  async run({ node, dice, journal }) {
    for (let times = dice.between(1, 3); times > 0; times--) {
      await node.end('SIGKILL');
      journal.note(`${node.name} is killed`);
      await pause(dice.chance(0.5) ? 0 : dice.between(0, 2_000));
      await node.start();
      journal.note(`${node.name} is back`);
      await pause(dice.between(20, 1_500));
    }
  },
};

/** Stops a node cleanly, and restarts it. */
const restart: Fault = {
  claims: ['node'],
  async run({ node, dice, journal }) {
    const how = await node.end('SIGTERM');
    journal.note(`${node.name} is stopped: ${how}`);
    if (how !== 0) journal.violation(`${node.name} ended with ${how} after SIGTERM`);
    await pause(dice.between(0, 1_000));
    await node.start();
  },
};

const freeze: Fault = {
  claims: ['node'],
  weight: 2,
  async run({ node, dice, journal }) {
    node.freeze();
    journal.note(`${node.name} is frozen`);
    await pause(dice.between(300, 6_000));
    node.thaw();
    journal.note(`${node.name} is thawed`);
  },
};

/** Starts a node that cannot reach PostgreSQL. The node must count. */
const startCutOff: Fault = { claims: ['node'], run: (stage) => startWithoutPostgres(stage, 'SIGKILL') };

/**
 * Starts a node that cannot reach PostgreSQL after a clean stop. Reports of other nodes must list the node in
 * `mayBeCounting`. A report that does not list the node must not be complete through a time at which the node accepts
 * packets.
 */
const stopThenCutOff: Fault = { claims: ['node'], weight: 2, run: (stage) => startWithoutPostgres(stage, 'SIGTERM') };

async function startWithoutPostgres(stage: Stage, how: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const { scene, round, node, dice, journal } = stage;
  await node.end(how);
  await cutOff(stage);
  journal.note(`${node.name} starts without PostgreSQL after ${how}`);
  await node.start();
  const end = performance.now() + dice.between(1_000, 4_000);
  const sent = sendPacketsUntil(round, node.metrics, () => performance.now() > end);
  while (performance.now() < end) {
    for (const other of scene.nodes) if (other !== node) await watchReport(round, other);
    await pause(100);
  }
  await sent;
  journal.note(`${node.name} is connected to PostgreSQL`);
  await joinAgain(stage);
}

/** Cuts a node with a small spool off from PostgreSQL until the spool is full. */
const fullSpool: Fault = {
  claims: ['node'],
  async run(stage) {
    const { node, dice, journal } = stage;
    await node.end('SIGTERM');
    await node.start(['--spool-max', '2MiB']);
    await cutOff(stage);
    journal.note(`${node.name} has a small spool and no PostgreSQL`);
    await pause(dice.between(2_000, 5_000));
    await joinAgain(stage);
    await pause(dice.between(0, 2_000));
    await node.end(dice.pick(['SIGTERM', 'SIGKILL']));
    await node.start();
  },
};

async function cutOff(stage: Stage): Promise<void> {
  const { primary, standby } = requireDatabase(stage);
  for (const { host } of [primary, standby]) await stage.scene.cutFromServer(stage.node, host);
}

async function joinAgain(stage: Stage): Promise<void> {
  const { primary, standby } = requireDatabase(stage);
  for (const { host } of [primary, standby]) await stage.scene.joinToServer(stage.node, host);
}

export const faultsOfNodes = { kill, restart, freeze, startCutOff, stopThenCutOff, fullSpool };
