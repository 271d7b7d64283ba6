import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SnapshotUnreadable } from '../../src/replication/snapshot.ts';
import { openDigestSecret } from '../../src/storage/lmdb/instances.ts';
import { readRollUpState } from '../../src/storage/lmdb/roll-up-state.ts';
import { oldestReader } from '../../src/storage/lmdb/store-health.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { features } from './history.ts';
import { makeReports, TestReplica } from './test-replica.ts';
import { appendMints, createMint, start, TestLog, type TestPacket, TestStream } from './test-streams.ts';

const limits = { features: 100, variants: 100, metrics: 100 };

function openNode(): TestReplica {
  const node = new TestReplica(temporaryDirectory());
  onTestFinished(() => node.store.lmdb.close());
  return node;
}

/** Creates a log with rows for most tables. */
function someLog(packets: number): TestLog {
  const log = new TestLog();
  const stream = new TestStream('one', log, start, limits);
  appendMints(log, createMint('ann', 1, start, 1e9));
  for (let number = 0; number < packets; number += 1) {
    const sent: TestPacket = {
      environment: 1 + (number % 2),
      f: { a: { on: [1, 2, 3] }, b: { [`variant-${number % 50}`]: [1] } },
      m: { load: number },
      ago: number % 100,
      person: `person ${number}`,
      sender: `Sender ${number % 30}`,
    };
    if (number % 7 === 0) stream.sendMessage(sent, Buffer.alloc(16, number), start + number);
    else stream.send(sent, start + number);
    if (number % 100 === 99) stream.ship(log, start);
  }
  stream.ship(log, start);
  return log;
}

async function collectParts(node: TestReplica): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  for await (const part of node.replica.snapshot(100_000).parts()) parts.push(part);
  return parts;
}

async function* each(parts: readonly Uint8Array[]) {
  yield* parts;
}

describe('a snapshot', () => {
  test('loading a snapshot with many parts results in the same replica, which keeps its own secret', async () => {
    const maker = openNode();
    const joining = openNode();
    const log = someLog(1000);
    maker.follow(log);
    maker.upkeep(start + 1e8);
    const secrets = [maker, joining].map(({ store }, index) => {
      return openDigestSecret(store, (length) => new Uint8Array(length).fill(index));
    });
    const parts = await collectParts(maker);
    expect(parts.length).toBeGreaterThan(2);
    await joining.replica.load(each(parts));
    expect(joining.replica.applied).toEqual(maker.replica.applied);
    const reports = [maker, joining].map(({ store }) => makeReports(store, start, features));
    expect(reports[1]).toEqual(reports[0]);
    const withoutSecret = (node: TestReplica) =>
      node.content().filter((row) => !row.includes('identities 736563726574'));
    expect(withoutSecret(joining)).toEqual(withoutSecret(maker));
    expect(joining.store.identities.get(Buffer.from('secret'))).toEqual(secrets[1]);
  });

  test('a snapshot keeps its position even if entries are applied while the snapshot is read', async () => {
    const maker = openNode();
    const joining = openNode();
    const log = someLog(1000);
    maker.follow(log, 6);
    const before = maker.content();
    const snapshot = maker.replica.snapshot(50_000);
    const parts: Buffer[] = [];
    for await (const part of snapshot.parts()) {
      parts.push(part);
      maker.step(log);
    }
    await joining.replica.load(each(parts));
    expect(snapshot.applied.position).toBe(6);
    expect(joining.content()).toEqual(before);
    joining.follow(log);
    maker.follow(log);
    expect(joining.content()).toEqual(maker.content());
  });

  test.each([
    ['before its first part', async () => {}],
    [
      'after its first part',
      async (node: TestReplica) => {
        for await (const _ of node.replica.snapshot(1000).parts()) break;
      },
    ],
    ['at its end', async (node: TestReplica) => void (await collectParts(node))],
  ])('a snapshot that is closed %s leaves no open reader', async (_, leave) => {
    const node = openNode();
    node.follow(someLog(10));
    node.replica.snapshot().close();
    await leave(node);
    node.store.lmdb.resetReadTxn();
    node.replica.maintain({ ...due, now: start });
    node.store.lmdb.resetReadTxn();
    expect(oldestReader(node.store.lmdb)?.lag ?? 0).toBe(0);
  });
});

const due = {
  task: 'retention',
  environment: 1,
  horizons: { minutes: 0, hours: 0, days: 0 },
  exposureDays: 1,
  limit: 1,
} as const;

describe('loading a snapshot', () => {
  /** Parts of a snapshot that cannot be loaded, and the reasons. */
  const damaged: readonly [string, (parts: Buffer[]) => Buffer[], string][] = [
    ['without its last part', (parts) => parts.slice(0, -1), 'its last part is missing'],
    ['with a duplicate part', ([first, ...rest]) => [first!, first!, ...rest], 'its part 1 is missing'],
    ['with an additional part', (parts) => [...parts, parts[0]!], 'something follows'],
    ['with a truncated part', ([first]) => [first!, first!.subarray(0, 900)], 'cannot be inflated'],
    ['with a truncated row', ([first, ...rest]) => [cut(first!), ...rest], 'its part 0 is damaged'],
  ];

  test.each(damaged)(
    'loading a snapshot %s fails with a reason, and the replica stays incomplete',
    async (_, damage, words) => {
      const { node, maker, log, parts } = await makeBoth();
      const load = () => node.replica.load(each(damage([...parts])));
      await expect(load()).rejects.toThrow(SnapshotUnreadable);
      await expect(load()).rejects.toThrow(words);
      expect(node.replica.isLoading).toBe(true);
      await node.restart();
      expect(node.replica.isLoading).toBe(true);
      expect(() => node.replica.apply(log.entries.slice(3))).toThrow('a snapshot must be loaded first');
      expect(() => node.replica.snapshot()).toThrow('a snapshot is being loaded');
      await node.replica.load(each(parts));
      expect(node.replica.isLoading).toBe(false);
      expect(node.content()).toEqual(maker.content());
    },
  );

  const foreign: readonly [string, (parts: Buffer[]) => Buffer[], string][] = [
    ['without its first part', (parts) => parts.slice(1), 'its part 0 is missing'],
    ['without parts', () => [], 'its last part is missing'],
    ['of a newer format', ([first]) => [withFormat(first!, 2)], 'another version of flagmeter wrote it'],
  ];

  test.each(foreign)('loading a snapshot %s fails, and changes nothing', async (_, damage, words) => {
    const { node, log, parts } = await makeBoth();
    const content = node.content();
    await expect(node.replica.load(each(damage(parts)))).rejects.toThrow(words);
    expect(node.content()).toEqual(content);
    expect(node.replica.isLoading).toBe(false);
    node.follow(log);
  });

  /** Creates a node that has applied a log, and a node that has applied only the beginning of the log. */
  async function makeBoth() {
    const maker = openNode();
    const node = openNode();
    const log = someLog(500);
    maker.follow(log);
    node.follow(log, 3);
    return { maker, node, log, parts: await collectParts(maker) };
  }

  test('loading a snapshot invalidates the cached data of reports', async () => {
    const maker = openNode();
    const node = openNode();
    const log = someLog(20);
    for (const each of [maker, node]) {
      each.follow(log);
      each.upkeep(start + 1e8);
    }
    const marks: unknown[] = [readRollUpState(node.store.carried, 1)];
    const parts = await collectParts(maker);
    for (let load = 0; load < 2; load += 1) {
      await node.replica.load(each(parts));
      node.store.lmdb.resetReadTxn();
      const { late, lateUsers } = readRollUpState(node.store.carried, 1);
      marks.push({ late, lateUsers });
    }
    expect(new Set(marks.map((mark) => (mark as { late: number }).late)).size).toBe(3);
    expect(new Set(marks.map((mark) => (mark as { lateUsers: number }).lateUsers)).size).toBe(3);
  });
});

function cut(part: Buffer): Buffer {
  return gzipSync(gunzipSync(part).subarray(0, -3));
}

function withFormat(part: Buffer, format: number): Buffer {
  const raw = gunzipSync(part).toString('latin1').replace('"format":1', `"format":${format}`);
  return gzipSync(Buffer.from(raw, 'latin1'));
}
