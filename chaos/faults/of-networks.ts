import { pause, within } from '../pause.ts';
import { type Fault, hold, requireDatabase, type Stage } from './fault.ts';

/** Cuts a node off from the primary, or from both servers. */
const nodeCutOff: Fault = {
  claims: ['node'],
  weight: 3,
  async run(stage) {
    const { scene, node, dice, journal } = stage;
    const { primary, standby } = requireDatabase(stage);
    const servers = (dice.chance(0.5) ? [primary, standby] : [primary]).map(({ host }) => host);
    journal.note(`${node.name} is cut off from ${servers.join(' and ')}`);
    for (const server of servers) await scene.cutFromServer(node, server);
    await hold(dice);
    for (const server of servers) await scene.joinToServer(node, server);
    journal.note(`${node.name} is connected again`);
  },
};

/** Cuts the primary off from the standby, so that no commit is confirmed. */
const serversCutOff: Fault = {
  claims: ['database'],
  weight: 2,
  async run(stage) {
    const { scene, dice, journal } = stage;
    const { primary, standby } = requireDatabase(stage);
    journal.note('the primary is cut off from the standby');
    await scene.network.cut(primary.host, standby.host);
    await hold(dice);
    await scene.network.join(primary.host, standby.host);
  },
};

/**
 * Delays the commit of a delta, which waits for the standby. The node is cut off, gives up the commit, and queries the
 * state of its stream before the commit ends. The response to that query is outdated.
 */
const lateCommit: Fault = {
  claims: ['node', 'database'],
  weight: 2,
  async run(stage) {
    const { scene, node, dice, journal } = stage;
    const { primary, standby } = requireDatabase(stage);
    const first = await cutInCommit(stage);
    await scene.cutFromServer(node, primary.host);
    // The node waits for 5 s, and then tries for 2 s to cancel the commit.
    await pause(dice.between(8_000, 9_500));
    for (const link of scene.links) link.cut();
    await scene.joinToServer(node, primary.host);
    const asksAgain = async () => (await waiting(stage, 'true')).some((pid) => !first.includes(pid));
    const hasAsked = await within(8_000, asksAgain);
    journal.note(
      `${first.length} commits of ${node.name} are late, and it has ${hasAsked ? '' : 'not '}queried the stream again`,
    );
    await pause(dice.between(0, 500));
    await scene.network.join(primary.host, standby.host);
  },
};

/** Cuts the servers off from each other during the commit of a node's delta. @returns the waiting sessions */
async function cutInCommit(stage: Stage): Promise<number[]> {
  const { network } = stage.scene;
  const database = requireDatabase(stage);
  const { primary, standby } = database;
  const row = `SELECT FROM fm_stream WHERE stream IN (SELECT stream FROM fm_node WHERE name = '${stage.node.name}')`;
  for (let tries = 0; tries < mostTries; tries++) {
    // The network is cut later, so that heartbeats pass until then. A heartbeat that waits for the standby would
    // prevent the node from shipping.
    const unlock = await database.lock(row);
    const isShipping = await within(
      3_000,
      async () => (await waiting(stage, "query LIKE '%SET seq =%'")).length > 0,
      20,
    );
    await network.cut(primary.host, standby.host);
    await unlock();
    const isLate = isShipping && (await within(500, async () => (await late(stage)).length > 0, 20));
    if (isLate) return late(stage);
    await network.join(primary.host, standby.host);
    await pause(500);
  }
  return [];
}

const late = (stage: Stage) => waiting(stage, "wait_event = 'SyncRep' AND query ILIKE 'commit%'");

const mostTries = 5;

/** Returns the sessions that ship deltas of the node, and wait for the standby or for a lock. */
async function waiting(stage: Stage, which: string): Promise<number[]> {
  const rows = await requireDatabase(stage).query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'flagmeter log % ${stage.node.name}'
     AND (wait_event = 'SyncRep' OR wait_event_type = 'Lock') AND ${which}`,
  );
  return rows.map(({ pid }) => pid);
}

/** The link of the last node to PostgreSQL is slow, stalls, or breaks. */
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
