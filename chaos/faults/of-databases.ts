import { invalidate, mustBeRefused } from '../clients/invalidations.ts';
import { pause, within } from '../pause.ts';
import type { ServiceNode } from '../scene/service-node.ts';
import { databaseOf, type Fault, hold, type Stage } from './fault.ts';

/** The primary is killed, the standby takes its place, and the old primary comes back as its standby. */
const failover: Fault = {
  claims: ['database'],
  weight: 4,
  async run(stage) {
    const { dice, journal } = stage;
    const database = databaseOf(stage);
    journal.note('the primary is killed');
    await database.primary.kill();
    await pause(dice.between(0, 1_500));
    await database.promote();
    await pause(dice.between(0, 3_000));
    await database.makeWell();
  },
};

/** The primary is killed and comes back as it is: it shows commits that no standby has confirmed. */
const primaryKilled: Fault = {
  claims: ['database'],
  weight: 2,
  async run(stage) {
    const database = databaseOf(stage);
    stage.journal.note('the primary is killed and comes back');
    await database.primary.kill();
    await pause(stage.dice.between(0, 2_000));
    await database.primary.start();
  },
};

const primaryFrozen: Fault = {
  claims: ['database'],
  async run(stage) {
    const { primary } = databaseOf(stage);
    stage.journal.note('the primary is frozen');
    primary.pause();
    await hold(stage.dice);
    primary.resume();
  },
};

const standbyFrozen: Fault = {
  claims: ['database'],
  async run(stage) {
    const { standby } = databaseOf(stage);
    stage.journal.note('the standby is frozen');
    standby.pause();
    await hold(stage.dice);
    standby.resume();
  },
};

/**
 * The primary is cut off from its standby, and who waits for it is told to wait no longer: so commits seem to succeed that are on
 * one machine only. Then that machine is lost.
 */
const cancelledWaits: Fault = {
  claims: ['database'],
  weight: 3,
  async run(stage) {
    const { scene, dice, journal } = stage;
    const database = databaseOf(stage);
    const { primary, standby } = database;
    await scene.network.cut(primary.host, standby.host);
    const end = performance.now() + dice.between(500, 3_000);
    let cancelled = 0;
    while (performance.now() < end) {
      cancelled += await database.signal('cancel', "wait_event = 'SyncRep'");
      await pause(dice.between(5, 50));
    }
    const isLost = dice.chance(0.7);
    journal.note(
      `${cancelled} waits for the standby were cancelled; the primary is ${isLost ? 'lost' : 'kept'}`,
    );
    if (isLost) {
      await primary.kill();
      await database.promote();
    }
    await scene.network.join(primary.host, standby.host);
    await database.makeWell();
  },
};

/**
 * Sessions are ended whose commits wait for the standby, which then gets them: what a node has no answer to was made, and it must
 * not make it again.
 */
const answersLost: Fault = {
  claims: ['database'],
  weight: 2,
  async run(stage) {
    const { scene, dice, journal } = stage;
    const database = databaseOf(stage);
    const { primary, standby } = database;
    for (let times = dice.between(3, 5); times > 0; times--) {
      await scene.network.cut(primary.host, standby.host);
      let ended = 0;
      const endChange = async () => {
        const changes = await database.signal(
          'terminate',
          "wait_event = 'SyncRep' AND application_name LIKE '% changes'",
        );
        ended += changes + (await database.signal('terminate', "wait_event = 'SyncRep'"));
        return changes > 0;
      };
      await within(2_000, endChange, 200);
      await scene.network.join(primary.host, standby.host);
      journal.note(`${ended} commits were made without an answer`);
      await pause(dice.between(500, 2_000));
    }
  },
};

/**
 * The old primary lives on, cut off from its standby and with some nodes on its side, and the standby takes its place for the
 * others.
 */
const splitBrain: Fault = {
  claims: ['everything'],
  weight: 3,
  async run(stage) {
    const { scene, round, node, dice, journal } = stage;
    const database = databaseOf(stage);
    const [old, next] = [database.primary, database.standby];
    journal.note(`${old.host} and ${node.name} are cut off from the rest`);
    await scene.network.cut(old.host, next.host);
    for (const each of scene.nodes) await scene.cutFromServer(each, each === node ? next.host : old.host);
    await pause(dice.between(0, 1_000));
    await database.promote();
    const others = scene.nodes.filter((each) => each !== node);
    const manage = async () =>
      (await Promise.all(others.map(({ http }) => round.tokens.fresh(http)))).every(
        (token) => token !== undefined,
      );
    const doManage = await within(15_000, manage);
    journal.note(`the others ${doManage ? '' : 'do not '}follow the new primary`);
    const end = performance.now() + dice.between(3_000, 6_000);
    while (performance.now() < end) await invalidateFor(stage, others);
    journal.note('the rest is joined, and the old primary follows');
    await old.kill();
    await scene.joinAll();
    await database.makeWell();
  },
};

/** A token is invalidated on one side: the other, which cannot hear of it, must not accept it. */
async function invalidateFor({ round, dice }: Stage, nodes: readonly ServiceNode[]): Promise<void> {
  const { length } = round.invalidated;
  await invalidate(round, () => dice.pick(nodes).http);
  const [made] = round.invalidated.slice(length);
  if (made !== undefined) await mustBeRefused(round, made);
}

/** Both servers are gone for a while. */
const postgresDown: Fault = {
  claims: ['database'],
  weight: 2,
  async run(stage) {
    const { dice, journal } = stage;
    const { primary, standby } = databaseOf(stage);
    journal.note('the engine is down');
    await Promise.all([primary.kill(), standby.kill()]);
    await pause(dice.between(500, 6_000));
    await primary.start();
    await pause(dice.between(0, 500));
    await standby.start();
    journal.note('the engine is up');
  },
};

/** The backends of the nodes are ended, as an operator does it. */
const sessionsEnded: Fault = {
  claims: ['database'],
  async run(stage) {
    for (let times = stage.dice.between(1, 5); times > 0; times--) {
      const ended = await databaseOf(stage).signal('terminate', 'true');
      stage.journal.note(`${ended} sessions are ended`);
      await pause(stage.dice.between(50, 800));
    }
  },
};

/**
 * An operator lets commits succeed without the standby, and then the primary is lost: the engine goes back by some seconds. Counts
 * heal; the accounts do not, and the nodes have to agree on what is left of them.
 */
const lossyFailover: Fault = {
  claims: ['everything'],
  weight: 2,
  async run(stage) {
    const { scene, round, dice, journal } = stage;
    const database = databaseOf(stage);
    const { primary, standby } = database;
    round.isLossy = true;
    journal.note('the primary confirms without its standby');
    await database.beAlone();
    await scene.network.cut(primary.host, standby.host);
    await pause(dice.between(1_000, 4_000));
    await primary.kill();
    journal.note('the primary is lost with what it confirmed');
    await database.promote();
    await scene.network.join(primary.host, standby.host);
    await database.makeWell();
  },
};

export const faultsOfDatabases = {
  failover,
  primaryKilled,
  primaryFrozen,
  standbyFrozen,
  cancelledWaits,
  answersLost,
  splitBrain,
  postgresDown,
  sessionsEnded,
  lossyFailover,
};
