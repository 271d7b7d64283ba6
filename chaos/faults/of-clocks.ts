import { readFileSync } from 'node:fs';
import type { Dice } from '../dice.ts';
import { pause, within } from '../pause.ts';
import type { ServiceNode } from '../scene/service-node.ts';
import { type Fault, requireDatabase, type Stage } from './fault.ts';

/** Maximum age of the time in a `Date` header. The header has whole seconds, and is updated once a second. */
const headerMs = 2_500;
const withinMs = 5_000;

/** The clock of a node jumps several times within the allowed difference, sometimes while the node is restarted. */
const clockSkewed: Fault = {
  claims: ['node'],
  weight: 2,
  async run(stage) {
    const { node, dice, journal } = stage;
    // A node that wrongly uses its own clock is detected only if that clock is ahead.
    node.clock.aheadMs = dice.between(mostMs / 2, mostMs);
    for (let times = dice.between(1, 4); times > 0; times--) {
      journal.note(`the clock of ${node.name} is ${node.clock.aheadMs} ms ahead`);
      if (dice.chance(0.3)) {
        await node.end('SIGKILL');
        await node.start();
      }
      await pause(dice.between(500, 3_000));
      await checkTime(stage);
      node.clock.aheadMs = dice.between(-mostMs, mostMs);
    }
  },
};

/**
 * The clock of a running node jumps by hours. The node must refuse management requests until the clock is right, and
 * continue to count.
 */
const clockJumps: Fault = {
  claims: ['node'],
  weight: 2,
  async run(stage) {
    const { node, dice, journal } = stage;
    for (let times = dice.between(1, 3); times > 0; times--) {
      node.clock.aheadMs = hours(dice);
      journal.note(`the clock of ${node.name} jumps: it is ${node.clock.aheadMs} ms ahead`);
      await managesNothing(stage, [node]);
      await pause(dice.between(500, 3_000));
      if (dice.chance(0.5)) continue;
      node.clock.aheadMs = 0;
      await pause(dice.between(0, 2_000));
    }
    node.clock.aheadMs = 0;
  },
};

/**
 * The clock of PostgreSQL jumps by hours. All nodes must refuse management requests until the clock is right, and count
 * each packet once.
 */
const databaseClockJumps: Fault = {
  claims: ['everything'],
  weight: 2,
  async run(stage) {
    const { scene, dice, journal } = stage;
    const database = requireDatabase(stage);
    const clock = database.getClock(database.primary);
    for (let times = dice.between(1, 2); times > 0; times--) {
      clock.aheadMs = hours(dice);
      journal.note(`the clock of the primary jumps: it is ${clock.aheadMs} ms ahead`);
      await managesNothing(stage, scene.nodes);
      await pause(dice.between(1_000, 4_000));
    }
    clock.aheadMs = 0;
    journal.note('the clock of the primary is right again');
    await pause(dice.between(1_000, 4_000));
  },
};

/** Returns an offset of some hours, ahead or behind. */
function hours(dice: Dice): number {
  return dice.pick([-1, 1]) * dice.between(3_600_000, 6 * 3_600_000);
}

/** Checks that nodes refuse management requests while their clock differs from PostgreSQL's. */
async function managesNothing({ round, journal }: Stage, nodes: readonly ServiceNode[]): Promise<void> {
  const isRefused = async ({ http }: ServiceNode) => (await round.tokens.fresh(http)) === undefined;
  for (const node of nodes)
    if (!(await within(withinMs, () => isRefused(node))) || !(await isRefused(node)))
      journal.violation(`${node.name} serves management requests although its clock differs from PostgreSQL's`);
}

/** Starts a node whose clock differs too much from PostgreSQL's. The node must not join. */
const clockRefused: Fault = {
  claims: ['node', 'database', 'links'],
  async run({ node, dice, journal }) {
    await node.end('SIGTERM');
    node.clock.aheadMs = dice.pick([-1, 1]) * dice.between(6_000, 120_000);
    journal.note(`${node.name} starts with a clock that is ${node.clock.aheadMs} ms ahead`);
    const isRefused = await node.start().then(
      () => false,
      () => true,
    );
    if (!isRefused) journal.violation(`${node.name} runs with a wrong clock`);
    if (isRefused && !lastLine(node).includes('The clock of this machine is'))
      journal.violation(`${node.name} ended: ${lastLine(node)}`);
    await node.end('SIGKILL');
    node.clock.aheadMs = 0;
    await node.start();
  },
};

/** Maximum clock difference in ms. It is below the allowed 5 s, which include the latency to PostgreSQL. */
const mostMs = 4_500;

/** Checks that the node uses the configured time of day. */
async function checkTime({ node, journal }: Stage): Promise<void> {
  let aheadMs = Number.NaN;
  const isRight = async () => {
    const { headers } = await fetch(`http://${node.http}/healthz`, { keepalive: false });
    aheadMs = Date.parse(headers.get('date') ?? '') + 500 - Date.now();
    return Math.abs(aheadMs - node.clock.aheadMs) <= headerMs;
  };
  if (!(await within(withinMs, isRight)))
    journal.violation(`${node.name} is ${aheadMs} ms ahead, and was set to ${node.clock.aheadMs} ms`);
}

function lastLine({ log }: ServiceNode): string {
  return readFileSync(log, 'utf8').trimEnd().split('\n').at(-1) ?? '';
}

export const faultsOfClocks = { clockSkewed, clockRefused, clockJumps, databaseClockJumps };
