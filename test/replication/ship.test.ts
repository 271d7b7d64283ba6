import { expect } from 'vitest';
import { markDone, register, ship } from '../../src/replication/ship.ts';
import type { SealedDelta } from '../../src/replication/spool.ts';
import { needing } from '../support/needing.ts';
import { newDatabase, postgres, startPostgres } from './nodes.ts';
import { connect } from './test-node.ts';

startPostgres();

const { describe, it } = needing('postgresql');

const delta = (seq: number, content = `delta ${seq}`): SealedDelta => ({
  ...{ seq, through: seq, since: 0, version: 1 },
  body: Buffer.from(content),
});

/** A registered stream. */
async function newStream() {
  const url = await newDatabase();
  const session = connect(url);
  await register(session, 'stream', 'directory');
  return {
    session,
    /** @returns whether PostgreSQL appended the deltas */
    ships: async (deltas: readonly SealedDelta[], before?: SealedDelta) =>
      (await ship(session, 'stream', deltas, before)) !== undefined,
    logged: async () => {
      await session.close();
      const rows = await postgres.query<{ seq: string }>(
        'SELECT seq FROM fm_entry ORDER BY position',
        [],
        url,
      );
      return rows.map(({ seq }) => Number(seq));
    },
  };
}

describe('the fence of a stream', () => {
  it('appends each delta once, and in order', async () => {
    const { ships, logged } = await newStream();
    expect(await ships([delta(2)], delta(1))).toBe(false);
    expect(await ships([delta(1)])).toBe(true);
    expect(await ships([delta(1)])).toBe(false);
    expect(await ships([delta(2), delta(3)], delta(1))).toBe(true);
    expect(await ships([delta(2), delta(3)], delta(1))).toBe(false);
    expect(await ships([delta(5)], delta(4))).toBe(false);
    expect(await logged()).toEqual([1, 2, 3]);
  });

  it('appends nothing after a delta of a copied directory', async () => {
    const { ships, logged } = await newStream();
    expect(await ships([delta(1)])).toBe(true);
    expect(await ships([delta(2)], delta(1, 'another delta 1'))).toBe(false);
    expect(await logged()).toEqual([1]);
  });

  it('appends nothing to a closed stream', async () => {
    const { session, ships, logged } = await newStream();
    expect(await ships([delta(1)])).toBe(true);
    await session.query(markDone('stream', 0));
    expect(await ships([delta(2)], delta(1))).toBe(true);
    await session.query(markDone('stream', 2));
    expect(await ships([delta(3)], delta(2))).toBe(false);
    expect(await logged()).toEqual([1, 2]);
  });
});
