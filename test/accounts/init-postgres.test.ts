import { randomBytes } from 'node:crypto';
import { beforeEach, expect } from 'vitest';
import { initPostgres } from '../../src/replication/accounts/init-postgres.ts';
import type { Connection } from '../../src/replication/postgres/connection.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { connect } from '../replication/postgres/fixture.ts';
import { cuttingRelay, relayTo } from '../replication/postgres/relay.ts';
import { cheapHash } from '../support/cheap-hash.ts';
import { needing } from '../support/needing.ts';
import { opened } from '../support/opened.ts';
import { Postgres } from '../support/postgres.ts';
import { primaryAndStandby } from '../support/postgres-pair.ts';

const { it } = needing('postgresql');

const postgres = opened(() => Postgres.shared());
let url: string;
beforeEach(async () => {
  url = await postgres.database();
});

const wanted = { adminEmail: 'a@example.com', clock: systemClock, randomBytes, hash: cheapHash };
const init = (connection: Connection) => initPostgres(connection, { key: undefined, wanted });
const readDatabaseIds = () => postgres.query<{ id: string }>('SELECT id FROM fm_engine', [], url);

it('initialising PostgreSQL succeeds if the commit succeeds but its response is lost', async () => {
  const relay = await cuttingRelay(postgres, url);
  relay.loseNextCommit();
  const { engine } = await init(connect(relay.url));
  expect(relay.lost).toBe(1);
  expect(await readDatabaseIds()).toEqual([{ id: engine }]);
});

it('initialising PostgreSQL can be repeated if the commit did not arrive', async () => {
  let isCut = false;
  const relayed = await relayTo(postgres, url, () => ({
    fromClient: (data, pass, cut) => {
      if (isCut || !data.includes('COMMIT')) return pass();
      isCut = true;
      cut();
    },
    fromServer: (_, pass) => pass(),
  }));
  const connection = connect(relayed);
  await expect(init(connection)).rejects.toMatchObject({ code: 'unreachable' });
  const { engine } = await init(connection);
  expect(await readDatabaseIds()).toEqual([{ id: engine }]);
});

it('initialising PostgreSQL reports an unknown result if the standby does not respond', async () => {
  const pair = await primaryAndStandby();
  try {
    const frozen = await pair.primary.database();
    pair.standby.pause();
    await expect(init(connect(frozen, { deadlineMs: 8000 }))).rejects.toMatchObject({
      code: 'unknown_outcome',
      message: expect.stringContaining('Cannot tell whether the database was initialised'),
    });
  } finally {
    pair.standby.resume();
    await pair.close();
  }
});
