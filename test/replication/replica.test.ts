import fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultSettings, type ReplicaSettings } from '../../src/replication/entry.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { features, History, type HistoryEvent, happenings, people } from './history.ts';
import { OneMachine } from './one-machine.ts';
import { byName, listExposures, makeReports, TestReplica } from './test-replica.ts';

const hourMs = 3_600_000;

/** Settings with short retention, and with limits that are low enough to be reached. */
const narrow: ReplicaSettings = {
  features: 2,
  variants: 1,
  metrics: 1,
  identities: 2,
  minutesMs: 2 * hourMs,
  hoursMs: 24 * hourMs,
  daysMs: 24 * 20 * hourMs,
  exposureDays: 1,
};
const wide: ReplicaSettings = { ...defaultSettings, minutesMs: 2 * hourMs, hoursMs: 24 * hourMs, exposureDays: 3000 };

/** Actions of a node other than following the log. These actions must not change the content of its replica. */
const doing = fc.record({
  pace: fc.constantFrom(0, 2, 10),
  restart: fc.boolean(),
  upkeep: fc.option(fc.record({ hours: fc.nat({ max: 100 }), steps: fc.nat({ max: 20 }) }), { nil: undefined }),
  ahead: fc.nat({ max: 12 }),
});
const life = fc.array(doing, { maxLength: 4 });
type Life = typeof life extends fc.Arbitrary<infer T> ? T : never;

/** Runs a node through its actions, follows the rest of the log, and does all upkeep. */
async function live(node: TestReplica, history: History, doings: Life): Promise<void> {
  for (const { pace, restart, upkeep, ahead } of doings) {
    node.pace = pace;
    const to = Math.min(history.log.position, node.replica.applied.position + ahead);
    for (let calls = 0; calls < ahead; calls += 1) node.step(history.log, to);
    if (restart) await node.restart();
    if (upkeep !== undefined) node.upkeep(history.now + upkeep.hours * hourMs, upkeep.steps);
  }
  node.follow(history.log);
  node.upkeep(history.now + 200 * hourMs);
}

const runs = { numRuns: 15 };

test('two replicas have the same content for any grouping of entries, and any time of restarts or upkeep', async () => {
  await fc.assert(
    fc.asyncProperty(happenings, life, life, async (happened, one, other) => {
      const history = new History(happened, narrow, 20 * hourMs);
      const nodes = [new TestReplica(temporaryDirectory()), new TestReplica(temporaryDirectory())] as const;
      await live(nodes[0], history, one);
      await live(nodes[1], history, other);
      expect(nodes[1].content()).toEqual(nodes[0].content());
      const reports = nodes.map(({ store }) => makeReports(store, history.now, features));
      expect(reports[1]).toEqual(reports[0]);
      expect(nodes[0].refused).toEqual([]);
      for (const { store } of nodes) await store.lmdb.close();
    }),
    runs,
  );
});

async function likeOneMachine(happened: readonly HistoryEvent[], doings: Life): Promise<void> {
  const history = new History(happened, wide);
  const node = new TestReplica(temporaryDirectory());
  await live(node, history, doings);
  const machine = new OneMachine(temporaryDirectory());
  machine.play(history);
  machine.upkeep(history.now + 200 * hourMs, wide);
  const reports = [node, machine].map(({ store }) => byName(makeReports(store, history.now, features)));
  expect(reports[0]).toEqual(reports[1]);
  expect(listExposures(node.store, people)).toEqual(listExposures(machine.store, people));
  await node.store.lmdb.close();
  await machine.store.lmdb.close();
}

test('a replica has the same reports as a single machine that received each packet once', async () => {
  await fc.assert(fc.asyncProperty(happenings, life, likeOneMachine), runs);
});

test('a snapshot with the rest of the log results in the same content as the whole log', async () => {
  await fc.assert(
    fc.asyncProperty(happenings, life, fc.nat({ max: 60 }), async (happened, doings, at) => {
      const history = new History(happened, narrow, 20 * hourMs);
      const whole = new TestReplica(temporaryDirectory());
      const maker = new TestReplica(temporaryDirectory());
      await live(whole, history, []);
      maker.follow(history.log, Math.min(at, history.log.position));
      const snapshot = maker.replica.snapshot();
      const { applied } = snapshot;
      maker.follow(history.log); // Entries applied during the read are not in the snapshot.
      const joined = new TestReplica(temporaryDirectory());
      joined.follow(history.log, Math.floor(at / 2)); // The node has followed another log before.
      await joined.replica.load(snapshot.parts());
      expect(joined.replica.applied).toEqual(applied);
      await live(joined, history, doings);
      expect(joined.content()).toEqual(whole.content());
      for (const { store } of [whole, maker, joined]) await store.lmdb.close();
    }),
    runs,
  );
});
