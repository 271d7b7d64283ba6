import { join } from 'node:path';
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
  async run(stage) {
    const { node, dice, journal } = stage;
    await node.end('SIGKILL');
    await cutOff(stage);
    journal.note(`${node.name} starts without the engine`);
    await node.start();
    await pause(dice.between(1_000, 4_000));
    await joinAgain(stage);
  },
};

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

/**
 * Its data directory is replaced by an old copy, as by a restore. What it took since must be in the engine first: with its disk
 * the rest would be lost.
 */
const oldCopy: Fault = {
  claims: ['everything'],
  weight: 2,
  async run(stage) {
    const { scene, node, dice, journal } = stage;
    const copy = join(node.data, '..', 'copy');
    await node.end(dice.pick(['SIGKILL', 'SIGTERM']));
    node.copyData(copy);
    await node.start();
    await pause(dice.between(500, 3_000));
    await scene.withdraw(node);
    await pause(300);
    if ((await node.end('SIGTERM')) === 0 && (await hasShippedAll(stage))) {
      node.replaceData(copy);
      journal.note(`${node.name} starts with an old copy of its directory`);
    }
    await node.start();
    await scene.readmit(node);
    await pause(dice.between(500, 2_000));
  },
};

/** Another process starts with a copy of its directory, while it runs: it must be refused. */
const twin: Fault = {
  claims: ['everything'],
  async run(stage) {
    const { scene, node, dice, journal } = stage;
    await node.end(dice.pick(['SIGKILL', 'SIGTERM']));
    node.copyData(scene.twin.data);
    await node.start();
    await pause(dice.between(0, 2_000));
    journal.note(`a twin of ${node.name} starts`);
    const isRefused = await scene.twin.start().then(
      () => false,
      () => true,
    );
    await pause(isRefused ? 0 : 2_000);
    if (!isRefused && scene.twin.isRunning) journal.violation(`a twin of ${node.name} runs beside it`);
    await scene.twin.end('SIGKILL');
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

/** Whether no stream of a node that was stopped in order has anything left to ship. */
async function hasShippedAll(stage: Stage): Promise<boolean> {
  const rows = await databaseOf(stage).query<{ left: number }>(
    `SELECT count(*)::int AS left FROM fm_node n JOIN fm_stream s USING (directory)
     WHERE n.name = '${stage.node.name}' AND s.state = 'open'`,
  );
  return rows[0]?.left === 0;
}

export const faultsOfNodes = { kill, restart, freeze, startCutOff, fullSpool, oldCopy, twin };
