import { expect } from 'vitest';
import { lockHistory, writeChange } from '../../../src/replication/accounts/control-statements.ts';
import { needing } from '../../support/needing.ts';
import { connect, newDatabase, sharedServer } from './postgres-fixture.ts';

const { describe, it } = needing('postgresql');

describe('a change', () => {
  it('a change locks the head of the history until its transaction ends', async () => {
    const postgres = await sharedServer();
    const url = await newDatabase(postgres);
    const unlocked = `SELECT log FROM fm_head WHERE log = 'control' FOR UPDATE SKIP LOCKED`;
    await connect(url).transaction(async (run) => {
      await lockHistory(run, 0);
      expect(await postgres.query(unlocked, [], url)).toEqual([]);
    });
    expect(await postgres.query(unlocked, [], url)).toEqual([{ log: 'control' }]);
  });

  it('a change is written only if no other change was written after the change was planned', async () => {
    const session = connect(await newDatabase(await sharedServer()));
    const { head } = await session.transaction((run) => lockHistory(run, 0));
    const write = (after: typeof head, id: string) => session.query(writeChange(after, id, '[]', []));
    await write(head, '7');
    await expect(write(head, '8')).rejects.toMatchObject({ sqlstate: '22012' });
    await expect(write({ ...head, position: 1, id: '8' }, '9')).rejects.toMatchObject({ sqlstate: '22012' });
    await write({ ...head, position: 1, id: '7' }, '9');
    const { head: last } = await session.transaction((run) => lockHistory(run, 0));
    expect(last).toMatchObject({ position: 2, id: '9' });
  });
});
