import { expect } from 'vitest';
import { loggedMint } from '../../src/replication/entry.ts';
import { closeStream, LogAppender, register, ship } from '../../src/replication/log.ts';
import type { SealedDelta } from '../../src/replication/spool.ts';
import { findInstance, type Mint } from '../../src/storage/lmdb/instances.ts';
import { needing } from '../support/needing.ts';
import { expectCounts, newDatabase, postgres, start, startPostgres } from './nodes.ts';
import { cuttingRelay } from './postgres/relay.ts';
import { connect } from './test-node.ts';

startPostgres();

const { describe, it } = needing('postgresql');

const createMint = (person: number): Mint => ({
  application: 7,
  instanceId: `fm_in_${person.toString(16).padStart(2, '0').repeat(36)}`,
  high: person,
  low: 1,
  profile: '{}',
  expiresAt: Date.now() + 60_000,
  graceUntil: Date.now(),
});

const kinds = async (url: string) =>
  (await postgres.query<{ kind: string }>('SELECT kind FROM fm_entry ORDER BY position', [], url)).map(
    ({ kind }) => kind,
  );

describe('an entry that is not a delta', () => {
  it('every node finds an instance id that another node has minted', async () => {
    const url = await newDatabase();
    const one = await start(url);
    const two = await start(url);
    const mint = createMint(1);
    await one.node.mint(loggedMint(mint));
    await two.node.freshen();
    expect(findInstance(two.store, 7, mint.instanceId)).toMatchObject({ high: 1, low: 1 });
    expect(findInstance(two.store, 7, createMint(2).instanceId)).toBeUndefined();
  });

  it('minted instance ids that wait for PostgreSQL share a commit', async () => {
    const url = await newDatabase();
    const connection = connect(url);
    const appender = new LogAppender(connection);
    const mint = (person: number) => appender.mint(loggedMint(createMint(person)));
    const first = mint(0);
    await connection.query({ text: 'SELECT 1' }); // The first entry was sent, but not committed.
    const others = await Promise.all(Array.from({ length: 99 }, (_, at) => mint(at + 1)));
    expect(await first).toBe(1);
    expect(new Set(others)).toEqual(new Set([2]));
    await connection.close();
    expect(await kinds(url)).toEqual(['mint', 'mint']);
  });

  it('requests to forget or erase resolve once the requesting node has applied the log entry', async () => {
    const url = await newDatabase();
    const one = await start(url);
    const mint = createMint(3);
    await one.node.mint(loggedMint(mint));
    await one.node.forget({ application: 7, environments: [1], digest: mint.instanceId.slice(6, 38) });
    expect(findInstance(one.store, 7, mint.instanceId)).toBeUndefined();
    one.count('f');
    await one.node.freshen();
    await one.node.erase({ application: 7, environments: [1], whole: true });
    await expectCounts(one, {});
    one.count('f');
    await expectCounts(one, {});
  });

  it('requests to mint or forget fail while PostgreSQL is unreachable', async () => {
    const url = await newDatabase();
    const one = await start(url);
    one.side.fault = () => 'refused';
    await expect(one.node.mint(loggedMint(createMint(4)))).rejects.toMatchObject({ code: 'unreachable' });
    await expect(one.node.forget({ application: 7, environments: [], digest: '00' })).rejects.toMatchObject({
      code: 'unreachable',
    });
  });

  it('a horizon entry with the progress of all streams is logged once for all nodes', async () => {
    const url = await newDatabase();
    const connection = connect(url);
    const appenders = Array.from({ length: 3 }, () => new LogAppender(connection));
    expect(await Promise.all(appenders.map((appender) => appender.horizon(60_000)))).toEqual([true, false, false]);
    await connection.close();
    expect(await kinds(url)).toEqual(['horizon']);
  });
});

describe('a connection that is cut', () => {
  it('each packet counts once, even if a connection is cut after COMMIT was sent', async () => {
    const url = await newDatabase();
    const relay = await cuttingRelay(postgres, url);
    const node = await start(relay.url);
    const other = await start(url);
    const cuts = async () => {
      await node.node.freshen().catch(() => {});
      return relay.lost;
    };
    for (let round = 1; round <= 5; round += 1) {
      relay.loseNextCommit();
      node.count('f', 10 ** round);
      await expect.poll(cuts).toBe(round);
    }
    await expectCounts(node, { f: 111_110 });
    await expectCounts(other, { f: 111_110 });
  });
});

const delta = (seq: number, content = `delta ${seq}`): SealedDelta => ({
  seq,
  through: seq,
  since: 0,
  version: 1,
  body: Buffer.from(content),
});

/** Registers a stream in a new database. */
async function newStream() {
  const url = await newDatabase();
  const session = connect(url);
  await register(session, 'stream', 'directory');
  return {
    session,
    /** @returns true if PostgreSQL appended the deltas */
    ships: async (deltas: readonly SealedDelta[], before?: SealedDelta) =>
      (await ship(session, 'stream', deltas, before)) !== undefined,
    logged: async () => {
      await session.close();
      const rows = await postgres.query<{ seq: string }>('SELECT seq FROM fm_entry ORDER BY position', [], url);
      return rows.map(({ seq }) => Number(seq));
    },
  };
}

describe('the fence of a stream', () => {
  it('the fence of a stream accepts each delta once, and in order', async () => {
    const { ships, logged } = await newStream();
    expect(await ships([delta(2)], delta(1))).toBe(false);
    expect(await ships([delta(1)])).toBe(true);
    expect(await ships([delta(1)])).toBe(false);
    expect(await ships([delta(2), delta(3)], delta(1))).toBe(true);
    expect(await ships([delta(2), delta(3)], delta(1))).toBe(false);
    expect(await ships([delta(5)], delta(4))).toBe(false);
    expect(await logged()).toEqual([1, 2, 3]);
  });

  it('the fence of a stream rejects a delta that follows a delta of a copied directory', async () => {
    const { ships, logged } = await newStream();
    expect(await ships([delta(1)])).toBe(true);
    expect(await ships([delta(2)], delta(1, 'another delta 1'))).toBe(false);
    expect(await logged()).toEqual([1]);
  });

  it('the fence of a stream rejects deltas of a closed stream', async () => {
    const { session, ships, logged } = await newStream();
    expect(await ships([delta(1)])).toBe(true);
    await session.query(closeStream('stream', 0));
    expect(await ships([delta(2)], delta(1))).toBe(true);
    await session.query(closeStream('stream', 2));
    expect(await ships([delta(3)], delta(2))).toBe(false);
    expect(await logged()).toEqual([1, 2]);
  });
});
