import { join } from 'node:path';
import { patienceMs } from '../../test/support/patience.ts';
import { pause, within } from '../pause.ts';
import { SmallDisk } from '../scene/small-disk.ts';
import { type Fault, hold, requireDatabase } from './fault.ts';

/**
 * The disk of a node is full for some time. When the disk has space again, the node must count without an operator's
 * help.
 */
const diskFull: Fault = {
  claims: ['node'],
  weight: 2,
  async run({ node, dice, journal }) {
    await node.end(dice.pick(['SIGKILL', 'SIGTERM']));
    const disk = await SmallDisk.putIn(join(node.data, '..'));
    try {
      await node.start();
      await pause(dice.between(0, 1_500));
      disk.fill();
      journal.note(`the disk of ${node.name} is full`);
      await pause(dice.between(1_000, 7_000));
      journal.note(`the disk of ${node.name} has space again; before: ${(await node.whyNot('counting')) ?? 'ready'}`);
      disk.free();
      if (!(await within(patienceMs, async () => (await node.whyNot('counting')) === undefined)))
        journal.violation(`${node.name} does not count although its disk has space`);
      await node.end(dice.pick(['SIGKILL', 'SIGTERM']));
    } finally {
      await node.end('SIGKILL');
      await disk.takeOut();
    }
    await node.start();
  },
};

/**
 * The disk of the primary is full for some time. Commits fail, or the server ends. Sometimes the standby is promoted.
 */
const primaryDiskFull: Fault = {
  claims: ['database'],
  weight: 2,
  async run(stage) {
    const { dice, journal } = stage;
    const database = requireDatabase(stage);
    const server = database.primary;
    await server.stop();
    const disk = await SmallDisk.putIn(server.folder);
    try {
      await server.start();
      await pause(dice.between(500, 2_000));
      disk.fill();
      journal.note('the disk of the primary is full');
      await hold(dice);
      const errors = server.log.match(/No space left on device/g)?.length ?? 0;
      journal.note(
        `the primary, which is ${server.isRunning ? 'up' : 'down'}, logged ${errors} times that its disk is full`,
      );
      if (dice.chance(0.3)) await database.promote();
      disk.free();
      await pause(dice.between(0, 2_000));
      await server.kill();
    } finally {
      await server.kill();
      await disk.takeOut();
    }
    await database.makeWell();
  },
};

export const faultsOfDisks = { diskFull, primaryDiskFull };
