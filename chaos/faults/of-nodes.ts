import { sendPacketsUntil } from '../clients/packets.ts';
import { watchReport } from '../clients/watch-reports.ts';
import { pause } from '../pause.ts';
import { databaseOf, type Fault, type Stage } from './fault.ts';

/** Killed some times, at any moment; it comes back at once or after a while. */
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

/** Stopped in order, and started again. */
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

/** It finds no engine when it starts, and has to count nevertheless. */
const startCutOff: Fault = {
  claims: ['node'],
  run: (stage) => startWithoutPostgres(stage, 'SIGKILL'),
};

/**
 * The same after a stop in order: as far as the engine knows the node has left. The reports of others must name it among the nodes
 * that may be counting, or not be complete through a time at which it takes packets.
 */
const stopThenCutOff: Fault = {
  claims: ['node'],
  weight: 2,
  run: (stage) => startWithoutPostgres(stage, 'SIGTERM'),
};

async function startWithoutPostgres(stage: Stage, how: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const { scene, round, node, dice, journal } = stage;
  await node.end(how);
  await cutOff(stage);
  journal.note(`${node.name} starts without the engine after ${how}`);
  await node.start();
  const end = performance.now() + dice.between(1_000, 4_000);
  const sent = sendPacketsUntil(round, node.http, () => performance.now() > end);
  while (performance.now() < end) {
    for (const other of scene.nodes) if (other !== node) await watchReport(round, other);
    await pause(100);
  }
  await sent;
  journal.note(`${node.name} is joined to the engine`);
  await joinAgain(stage);
}

/** Its spool is small and the engine away, until the spool is full. */
const fullSpool: Fault = {
  claims: ['node'],
  async run(stage) {
    const { node, dice, journal } = stage;
    await node.end('SIGTERM');
    await node.start(['--spool-max', '2MiB']);
    await cutOff(stage);
    journal.note(`${node.name} has a small spool and no engine`);
    await pause(dice.between(2_000, 5_000));
    await joinAgain(stage);
    await pause(dice.between(0, 2_000));
    await node.end(dice.pick(['SIGTERM', 'SIGKILL']));
    await node.start();
  },
};

async function cutOff(stage: Stage): Promise<void> {
  const { primary, standby } = databaseOf(stage);
  for (const { host } of [primary, standby]) await stage.scene.cutFromServer(stage.node, host);
}

async function joinAgain(stage: Stage): Promise<void> {
  const { primary, standby } = databaseOf(stage);
  for (const { host } of [primary, standby]) await stage.scene.joinToServer(stage.node, host);
}

export const faultsOfNodes = { kill, restart, freeze, startCutOff, stopThenCutOff, fullSpool };
