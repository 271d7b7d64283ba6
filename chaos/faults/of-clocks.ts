import { readFileSync } from 'node:fs';
import { pause, within } from '../pause.ts';
import type { ServiceNode } from '../scene/service-node.ts';
import type { Fault, Stage } from './fault.ts';

/** A header of an answer tells whole seconds, and is made anew once a second. */
const headerMs = 2_500;
const withinMs = 5_000;

/** Its clock jumps some times, as far as two clocks may differ; now and then it starts with such a clock. */
const clockSkewed: Fault = {
  claims: ['node'],
  weight: 2,
  async run(stage) {
    const { node, dice, journal } = stage;
    for (let times = dice.between(1, 4); times > 0; times--) {
      node.clock.aheadMs = dice.between(-mostMs, mostMs);
      journal.note(`the clock of ${node.name} is ${node.clock.aheadMs} ms ahead`);
      if (dice.chance(0.3)) {
        await node.end('SIGKILL');
        await node.start();
      }
      await pause(dice.between(500, 3_000));
      await checkTime(stage);
    }
  },
};

/** It must not join with a clock that is too far from the engine's. */
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
    if (!isRefused) journal.violation(`${node.name} runs with a clock that is wrong`);
    if (isRefused && !lastLine(node).includes('The clock of this machine is'))
      journal.violation(`${node.name} ended and said: ${lastLine(node)}`);
    await node.end('SIGKILL');
    node.clock.aheadMs = 0;
    await node.start();
  },
};

/** Less than the five seconds that are allowed: they are measured with the way to the engine. */
const mostMs = 4_500;

/** The time of day of the node becomes what it was set to. */
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

export const faultsOfClocks = { clockSkewed, clockRefused };
