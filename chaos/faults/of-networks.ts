import { pause } from '../pause.ts';
import { databaseOf, type Fault, hold } from './fault.ts';

/** A node is cut off from the primary only, or from both servers. */
const nodeCutOff: Fault = {
  claims: ['node'],
  weight: 3,
  async run(stage) {
    const { scene, node, dice, journal } = stage;
    const { primary, standby } = databaseOf(stage);
    const servers = (dice.chance(0.5) ? [primary, standby] : [primary]).map(({ host }) => host);
    journal.note(`${node.name} is cut off from ${servers.join(' and ')}`);
    for (const server of servers) await scene.cutFromServer(node, server);
    await hold(dice);
    for (const server of servers) await scene.joinToServer(node, server);
    journal.note(`${node.name} is joined again`);
  },
};

/** The primary and the standby do not reach each other: no commit is confirmed. */
const serversCutOff: Fault = {
  claims: ['database'],
  weight: 2,
  async run(stage) {
    const { scene, dice, journal } = stage;
    const { primary, standby } = databaseOf(stage);
    journal.note('the primary is cut off from the standby');
    await scene.network.cut(primary.host, standby.host);
    await hold(dice);
    await scene.network.join(primary.host, standby.host);
  },
};

/**
 * A commit is late: it waits for the standby, and its node, which is cut off, gives up and asks again before it ends. What the node is
 * told then was true before the commit.
 */
const lateCommit: Fault = {
  claims: ['node', 'database'],
  weight: 2,
  async run(stage) {
    const { scene, node, dice, journal } = stage;
    const { primary, standby } = databaseOf(stage);
    journal.note(`commits of ${node.name} are late`);
    await scene.network.cut(primary.host, standby.host);
    await pause(dice.between(300, 1_500));
    await scene.cutFromServer(node, primary.host);
    await pause(dice.between(5_500, 7_000));
    await scene.joinToServer(node, primary.host);
    await pause(dice.between(500, 4_000));
    await scene.network.join(primary.host, standby.host);
  },
};

/** The way of the last node to the engine is slow, stands still, or breaks. */
const badLink: Fault = {
  claims: ['links'],
  weight: 3,
  async run({ scene: { links }, dice, journal }) {
    const end = performance.now() + dice.between(2_000, 6_000);
    while (performance.now() < end) {
      const how = dice.pick(['slow', 'slow', 'silent', 'broken'] as const);
      journal.note(`the link is ${how}`);
      for (const link of links) {
        if (how === 'slow') link.delayMs = dice.between(5, 400);
        if (how === 'silent') link.isSilent = true;
        if (how === 'broken') link.cut();
      }
      await pause(dice.between(100, 2_000));
      for (const link of links) {
        link.delayMs = 0;
        link.isSilent = false;
      }
    }
  },
};

export const faultsOfNetworks = { nodeCutOff, serversCutOff, lateCommit, badLink };
