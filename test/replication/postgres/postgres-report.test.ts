import { expect, it } from 'vitest';
import {
  type PostgresReport,
  postgresWarnings,
  type ServerFacts,
} from '../../../src/replication/postgres/postgres-report.ts';

it.each<[Partial<ServerFacts>, string]>([
  [{ major: 14, version: '14.2' }, 'The server is PostgreSQL 14.2; use 15 or later'],
  [{ fsync: 'off' }, 'fsync is off'],
  [{ fullPageWrites: 'off' }, 'full_page_writes is off'],
  [{ synchronousCommit: 'off' }, 'synchronous_commit is off by default'],
  [{ synchronousStandbys: 'ANY 1 (a, b)' }, 'needs 1 of 2 standbys'],
  [{ synchronousStandbys: '' }, 'no commit waits for the standbys (a, b)'],
  [{ synchronousStandbys: '', standbys: [] }, 'PostgreSQL has no standby'],
  [{ standbys: [{ name: 'c', state: 'async' }] }, 'Too few standbys of synchronous_standby_names'],
  [{ standbys: [{ name: 'a', state: 'quorum' }] }, 'Too few standbys of synchronous_standby_names'],
  [{ synchronousStandbys: 'b', standbys: [{ name: 'a', state: null }] }, 'Too few standbys'],
])('a server with %j causes the warning: %s', (facts, warning) => {
  const good: ServerFacts = {
    version: '15.4',
    major: 15,
    now: new Date(0),
    user: 'u',
    fsync: 'on',
    fullPageWrites: 'on',
    synchronousCommit: 'on',
    synchronousStandbys: 'ANY 2 (a, b)',
    clusterName: '',
    standbys: [
      { name: 'a', state: 'quorum' },
      { name: 'b', state: null },
    ],
    missingRights: [],
  };
  const warnings = (server: ServerFacts) =>
    postgresWarnings(
      {
        engine: { encrypted: true },
        server,
        nodes: [],
        snapshots: [],
        log: { since: null, first: null },
      } as unknown as PostgresReport,
      0,
    );
  expect(warnings(good)).toEqual([]);
  expect(warnings({ ...good, ...facts })).toEqual([expect.stringContaining(warning)]);
});
