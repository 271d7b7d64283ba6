import { expect, onTestFinished } from 'vitest';
import { Connection } from '../../src/replication/postgres/connection.ts';
import { type Condition, logSession } from '../../src/replication/postgres/postgres-report.ts';
import { parsePostgresUrl } from '../../src/replication/postgres/postgres-url.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createLog } from '../../src/runtime/log.ts';
import { needing } from '../support/needing.ts';
import { statusDatabases } from './postgres-nodes.ts';

const { describe, it } = needing('postgresql');

const { init, run, status, node, current } = statusDatabases();

/** Opens a session with the name that the log session of a running node has. */
async function openLogSession(directory: string, condition?: Condition): Promise<void> {
  const name = logSession({ directory, name: 'north' }, condition);
  const log = createLog('error', () => {}, systemClock);
  const session = new Connection(parsePostgresUrl(current().url), { name, log, clock: systemClock, deadlineMs: 5000 });
  onTestFinished(() => session.close());
  await session.query({ text: 'SELECT 1' });
}

describe('the conditions of nodes in postgres status', () => {
  it('postgres status warns of a forgotten node that is running, and of copies of a data directory', async () => {
    await init();
    await node({ name: 'north', directory: 'directory-of-the-north' });
    await node({ name: 'south', state: 'forgotten' });
    await node({ name: 'west', state: 'forgotten', silent: 60 });
    const beat = () => openLogSession('directory-of-the-north');
    const refusals = async () => (await status()).nodes.map(({ name, refuses }) => [name, refuses]);
    await beat();
    expect(await refusals()).toEqual([
      ['north', null],
      ['south', 'closed'],
      ['west', null],
    ]);
    await beat();
    expect((await refusals())[0]).toEqual(['north', 'copied']);
    const { out } = await run('status');
    expect(out).toMatch(/^north +up, copy refuses /m);
    expect(out).toMatch(/^south +forgotten, refuses /m);
    expect(out).toMatch(/^Warning: Several processes use the data directory of node north or copies of it/m);
    expect(out).toMatch(/^Warning: Node south was forgotten but is running: it responds to packets with 503 until/m);
  });

  it.each<[Condition, string, string | undefined]>([
    ['ok', 'up', undefined],
    ['full', 'up, spool full', 'Node north refuses packets: its spool is full'],
    ['store', 'up, store fails', 'Node north refuses packets: its store cannot take data'],
    ['copied', 'up, copy refuses', 'Several processes use the data directory of node north'],
    ['closed', 'up, refuses', 'Node north was forgotten but is running'],
    ['behind', 'up, ships nothing', 'Node north counts but ships nothing: PostgreSQL is older'],
  ])('postgres status shows the condition %s of a node', async (condition, state, warning) => {
    await init();
    await node({ name: 'north', through: Date.now() });
    await openLogSession('directory-north', condition);
    const { warnings } = await status();
    expect(warnings.slice(1)).toEqual(warning === undefined ? [] : [expect.stringContaining(warning)]);
    expect((await run('status')).out).toMatch(new RegExp(`^north +${state}  `, 'm'));
  });
});
