import { invalidate, mustBeRefused } from '../clients/invalidations.ts';
import { pause, within } from '../pause.ts';
import type { ServiceNode } from '../scene/service-node.ts';
import { type Fault, hold, requireDatabase, type Stage } from './fault.ts';

/** Kills the primary and promotes the standby. The former primary later becomes the standby. */
const failover: Fault = {
  claims: ['database'],
  weight: 4,
  async run(stage) {
    const { dice, journal } = stage;
    const database = requireDatabase(stage);
    journal.note('the primary was killed');
    await database.primary.kill();
    await pause(dice.between(0, 1_500));
    await database.promote();
    await pause(dice.between(0, 3_000));
    await database.makeWell();
  },
};

/** Kills the primary and restarts it. After the restart, the primary shows commits that no standby has confirmed. */
const primaryKilled: Fault = {
  claims: ['database'],
  weight: 2,
  async run(stage) {
    const database = requireDatabase(stage);
    stage.journal.note('the primary was killed and restarted');
    await database.primary.kill();
    await pause(stage.dice.between(0, 2_000));
    await database.primary.start();
  },
};

const primaryFrozen: Fault = {
  claims: ['database'],
  async run(stage) {
    const { primary } = requireDatabase(stage);
    stage.journal.note('the primary is frozen');
    primary.pause();
    await hold(stage.dice);
    primary.resume();
  },
};

const standbyFrozen: Fault = {
  claims: ['database'],
  async run(stage) {
    const { standby } = requireDatabase(stage);
    stage.journal.note('the standby is frozen');
    standby.pause();
    await hold(stage.dice);
    standby.resume();
  },
};

/**
 * Cuts the primary off from its standby, and cancels commits that wait for the standby. These commits seem to succeed,
 * but are only on the primary. After that, the primary can be lost.
 */
const cancelledWaits: Fault = {
  claims: ['database'],
  weight: 3,
  async run(stage) {
    const { scene, dice, journal } = stage;
    const database = requireDatabase(stage);
    const { primary, standby } = database;
    await scene.network.cut(primary.host, standby.host);
    const end = performance.now() + dice.between(500, 3_000);
    let cancelled = 0;
    while (performance.now() < end) {
      cancelled += await database.signal('cancel', "wait_event = 'SyncRep'");
      await pause(dice.between(5, 50));
    }
    const isLost = dice.chance(0.7);
    journal.note(`${cancelled} commits no longer wait for the standby; the primary is ${isLost ? 'lost' : 'kept'}`);
    if (isLost) {
      await primary.kill();
      await database.promote();
    }
    await scene.network.join(primary.host, standby.host);
    await database.makeWell();
  },
};

/**
 * Terminates sessions whose commits wait for the standby. The standby confirms the commits later. The node gets no
 * response to a change that was made, and must not make the change again.
 */
const answersLost: Fault = {
  claims: ['database'],
  weight: 2,
  async run(stage) {
    const { scene, dice, journal } = stage;
    const database = requireDatabase(stage);
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
      journal.note(`${ended} commits were made without a response`);
      await pause(dice.between(500, 2_000));
    }
  },
};

/** Promotes the standby while the old primary continues. Some nodes can reach only the old primary. */
const splitBrain: Fault = {
  claims: ['everything'],
  weight: 3,
  async run(stage) {
    const { scene, round, node, dice, journal } = stage;
    const database = requireDatabase(stage);
    const old = database.primary;
    const next = database.standby;
    journal.note(`${old.host} and ${node.name} are cut off from the other machines`);
    await scene.network.cut(old.host, next.host);
    for (const each of scene.nodes) await scene.cutFromServer(each, each === node ? next.host : old.host);
    await pause(dice.between(0, 1_000));
    await database.promote();
    const others = scene.nodes.filter((each) => each !== node);
    const manage = async () =>
      (await Promise.all(others.map(({ http }) => round.tokens.fresh(http)))).every((token) => token !== undefined);
    const doManage = await within(15_000, manage);
    journal.note(`the other nodes ${doManage ? '' : 'do not '}follow the new primary`);
    const end = performance.now() + dice.between(3_000, 6_000);
    while (performance.now() < end) await invalidateFor(stage, others);
    journal.note('the network is whole again, and the old primary follows');
    await old.kill();
    await scene.joinAll();
    await database.makeWell();
  },
};

/** Invalidates a token on some nodes. The others cannot know this, but must not accept the token either. */
async function invalidateFor({ round, dice }: Stage, nodes: readonly ServiceNode[]): Promise<void> {
  const { length } = round.invalidated;
  await invalidate(round, () => dice.pick(nodes).http);
  const [made] = round.invalidated.slice(length);
  if (made !== undefined) await mustBeRefused(round, made);
}

/** Stops both servers for some time. */
const postgresDown: Fault = {
  claims: ['database'],
  weight: 2,
  async run(stage) {
    const { dice, journal } = stage;
    const { primary, standby } = requireDatabase(stage);
    journal.note('PostgreSQL is down');
    await Promise.all([primary.kill(), standby.kill()]);
    await pause(dice.between(500, 6_000));
    await primary.start();
    await pause(dice.between(0, 500));
    await standby.start();
    journal.note('PostgreSQL is up');
  },
};

/** Terminates the backends of the nodes, as an operator would. */
const sessionsEnded: Fault = {
  claims: ['database'],
  async run(stage) {
    for (let times = stage.dice.between(1, 5); times > 0; times--) {
      const ended = await requireDatabase(stage).signal('terminate', 'true');
      stage.journal.note(`${ended} sessions are ended`);
      await pause(stage.dice.between(50, 800));
    }
  },
};

/**
 * An operator lets commits succeed without the standby. Then the primary is lost, so PostgreSQL loses some seconds of
 * commits. Counts recover, but changes of accounts are lost. The nodes must agree on the remaining accounts.
 */
const lossyFailover: Fault = {
  claims: ['everything'],
  weight: 2,
  async run(stage) {
    const { scene, round, dice, journal } = stage;
    const database = requireDatabase(stage);
    const { primary, standby } = database;
    round.isLossy = true;
    journal.note('the primary confirms commits without its standby');
    await database.beAlone();
    await scene.network.cut(primary.host, standby.host);
    await pause(dice.between(1_000, 4_000));
    await primary.kill();
    journal.note('the primary is lost with the commits that only it has confirmed');
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
