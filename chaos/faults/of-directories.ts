import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { patienceMs } from '../../test/support/patience.ts';
import type { ServiceResponse } from '../clients/ask.ts';
import { sendPacketsUntil } from '../clients/packets.ts';
import { pause, within } from '../pause.ts';
import type { ServiceNode } from '../scene/service-node.ts';
import { type Fault, requireDatabase, type Stage } from './fault.ts';
import { isForgotten } from './of-operators.ts';

/**
 * Replaces a data directory by an old copy, as restoring a backup would. PostgreSQL must already have the later counts,
 * because the copy lacks them.
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

/** Starts a second process with a copy of a running node's directory. The nodes must refuse this process. */
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
    if (!isRefused && scene.twin.isRunning) journal.violation(`a twin of ${node.name} runs at the same time`);
    await scene.twin.end('SIGKILL');
  },
};

/**
 * Starts a copy of a frozen node's directory, and then resumes the frozen node. One of the two must refuse packets and
 * report the reason. All packets that the copy acknowledged must be counted. The same is true for packets that the
 * original acknowledged before it was frozen.
 */
const thawed: Fault = {
  claims: ['everything'],
  weight: 2,
  async run(stage) {
    const { scene, node, dice, journal } = stage;
    const { twin } = scene;
    await scene.withdraw(node);
    await pause(dice.between(0, 1_000));
    const [{ directory } = { directory: '' }] = await requireDatabase(stage).query<{ directory: string }>(
      `SELECT directory FROM fm_node WHERE name = '${node.name}' AND state = 'up'`,
    );
    node.freeze();
    node.copyData(twin.data);
    journal.note(`a copy of ${node.name} starts while it is frozen`);
    const isRefused = await twin.start().then(
      () => false,
      () => true,
    );
    const both = isRefused ? [node] : [node, twin];
    const end = performance.now() + dice.between(500, 3_000);
    if (!isRefused) await sendPacketsUntil(stage.round, twin.metrics, () => performance.now() > end);
    node.thaw();
    journal.note(`${node.name} is thawed; its copy was ${isRefused ? 'refused' : 'started'}`);
    if (!isRefused) await oneIsRefused(stage, both);
    await twin.end('SIGTERM');
    await node.end('SIGTERM');
    if (!isRefused) {
      // The node's directory is refused from now on. The node therefore starts with an empty directory.
      rmSync(node.data, { recursive: true });
      await isForgotten(stage, directory, '--force');
    }
    await node.start();
    await scene.readmit(node);
  },
};

/** Sends packets until one of the nodes refuses them and reports why. */
async function oneIsRefused({ round, node, journal }: Stage, all: readonly ServiceNode[]): Promise<void> {
  const end = performance.now() + patienceMs;
  let isOver = false;
  const isLast = ({ status }: ServiceResponse) => {
    isOver ||= status === 503 || performance.now() > end;
    return isOver;
  };
  const sent = all.map((each) =>
    sendPacketsUntil(round, each.metrics, isLast, { isGivenUp: true, isKept: each !== node }),
  );
  await Promise.all(sent);
  const isRefused = async () => {
    const reasons = await Promise.all(all.map((each) => each.whyNot('counting')));
    const [reason] = reasons.filter((each) => each !== undefined);
    if (reason !== undefined) journal.note(`one of two nodes with the same directory is refused: ${reason}`);
    return reason?.startsWith('503 ') === true && reason.length > '503 '.length;
  };
  if (!(await within(patienceMs, isRefused)))
    journal.violation(`${all.map(({ name }) => name).join(' and ')} both accept packets with copies of one directory`);
}

/** True if a cleanly stopped node has shipped all of its counts. */
async function hasShippedAll(stage: Stage): Promise<boolean> {
  const rows = await requireDatabase(stage).query<{ left: number }>(
    `SELECT count(*)::int AS left FROM fm_node n JOIN fm_stream s USING (directory)
     WHERE n.name = '${stage.node.name}' AND s.state = 'open'`,
  );
  return rows[0]?.left === 0;
}

export const faultsOfDirectories = { oldCopy, twin, thawed };
