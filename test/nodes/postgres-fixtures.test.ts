import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import { postgresLayout } from '../../src/replication/postgres/schema.ts';
import { emptyTables, shapeOf } from '../fixtures/engines/engine-tables.ts';
import { dumpOf, postgresFixtures } from '../fixtures/engines/load.ts';
import { readStore, refresh } from '../fixtures/stores/fill.ts';
import { expectMore, urls } from '../fixtures/stores/fill-more.ts';
import { binaryPath, freshDirectory, startProcess } from '../support/binary.ts';
import { freePorts } from '../support/free-ports.ts';
import { lasting } from '../support/lasting.ts';
import { needing } from '../support/needing.ts';
import { opened } from '../support/opened.ts';
import { Postgres } from '../support/postgres.ts';
import { preparePostgres } from '../support/prepare-postgres.ts';
import { runBinary } from '../support/run-binary.ts';
import { steadyResponses } from '../support/steady-responses.ts';

/** Dumps of every former layout of the database are migrated, and a node then gives the same reports. */

const { describe, test } = needing('postgresql', 'faketime');
const fixtures = postgresFixtures();

describe.each(fixtures)('the database of $name', ({ name, stored }) => {
  /** Server and nodes run at the time of the fixture; otherwise most of its data would be past retention. */
  const seconds = Math.round((stored.filledAt - Date.now()) / 1000) + 60;
  const shift = `${seconds < 0 ? '' : '+'}${seconds}s`;
  const server = opened(() => Postgres.start({ prefix: ['faketime', '-f', shift] }));
  let url: string;

  beforeAll(async () => {
    url = await server.database();
    await server.query(dumpOf(name), [], url);
  });

  test('a migration creates the tables of this version', async () => {
    const { code, stdout } = await runBinary(['postgres', 'migrate', '--postgres', url, '--json']);
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ to: postgresLayout })]);
    const fresh = await server.database();
    await preparePostgres(fresh);
    expect(await shapeOf(server, url)).toEqual(await shapeOf(server, fresh));
  });

  test('a node that joins the migrated database gives the same reports', async () => {
    const key = join(freshDirectory(), 'key');
    writeFileSync(key, stored.key, { mode: 0o600 });
    const postgres = ['--postgres', url, '--postgres-key-file', key];
    const serve = ['serve', '--data', join(freshDirectory(), 'data'), ...postgres, ...freePorts, ...urls];
    const node = await startProcess('faketime', ['-f', shift, binaryPath, ...serve], {
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    });
    const responses = (await readStore(node.http, stored)) as Record<string, object>;
    for (const [path, answer] of Object.entries(stored.answers))
      expect(steadyResponses(responses[path]), path).toMatchObject(lasting(path, steadyResponses(answer) as object));
    expect(await refresh(node.http, stored)).toBe(200);
    await expectMore(node.http, stored);
    // The started process is faketime, which forwards no signals, so send the signal to its child.
    const [child] = readFileSync(`/proc/${node.pid}/task/${node.pid}/children`, 'utf8').trim().split(' ');
    process.kill(Number(child), 'SIGTERM');
    expect(await node.exit).toMatchObject({ code: 0 });
  });
});

describe('the latest dump of a database', () => {
  test('each table of the latest dump of a database contains rows', async () => {
    const server = await Postgres.start();
    const url = await server.database();
    await server.query(dumpOf(fixtures.at(-1)!.name), [], url);
    const empty = await emptyTables(server, url);
    await server.close();
    expect(empty, 'make a fixture that fills these tables: see src/storage/lmdb/README.md').toEqual([]);
  });
});
