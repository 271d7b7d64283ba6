import { afterAll, beforeAll, expect, vi } from 'vitest';
import { type Binary, startBinary, stop } from '../support/binary.ts';
import { freePorts } from '../support/free-ports.ts';
import { needing } from '../support/needing.ts';
import { PostgresPair } from '../support/postgres-pair.ts';
import { preparePostgres } from '../support/prepare-postgres.ts';
import { runBinary } from '../support/run-binary.ts';

/** Tests of the reasons that a node reports if it cannot use PostgreSQL. */

const often = { interval: 100 };

let pair: PostgresPair;
let postgresUrl: string;
let node: Binary;

const { describe, test } = needing('postgresql');

describe('a node that cannot use its PostgreSQL', () => {
  beforeAll(async () => {
    pair = await PostgresPair.start();
    postgresUrl = await pair.database();
    await preparePostgres(postgresUrl);
    node = await startBinary({ args: ['--postgres', postgresUrl] });
  });

  afterAll(() => stop(node, 'SIGKILL'));

  async function expectReason(reason: string): Promise<void> {
    await vi.waitFor(async () => {
      const response = await fetch(`http://${node.http}/readyz?for=managing`);
      const { managing, counting } = (await response.json()) as Record<string, { reason: string }>;
      expect([counting?.reason, managing?.reason]).toEqual(['', expect.stringContaining(reason)]);
    }, often);
  }

  const expectReady = () =>
    vi.waitFor(async () => {
      expect((await fetch(`http://${node.http}/readyz?for=managing`)).status).toBe(200);
    }, often);

  const name = () => new URL(postgresUrl.replace(/,[^/]+/, '')).pathname.slice(1);

  async function rename(from: string, to: string): Promise<void> {
    const { primary } = pair;
    await primary.query(`ALTER DATABASE ${from} ALLOW_CONNECTIONS false`);
    await primary.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [from]);
    await primary.query(`ALTER DATABASE ${from} RENAME TO ${to}`);
    await primary.query(`ALTER DATABASE ${to} ALLOW_CONNECTIONS true`);
  }

  const restarted = () => runBinary(['serve', '--data', node.data, '--postgres', postgresUrl, ...freePorts]);

  test('the readiness of a node reports a standby that does not respond', async () => {
    pair.standby.pause();
    await expectReason('PostgreSQL does not confirm commits; a synchronous standby might not respond');
    pair.standby.resume();
    await expectReady();
  });

  test('the readiness of a node reports an unreachable PostgreSQL', async () => {
    await pair.primary.stop();
    await expectReason('PostgreSQL is unreachable');
    await pair.primary.start();
    await expectReady();
  });

  test.each([
    ['an empty database', 'The database has no tables of flagmeter', false],
    ['another database', 'The database is not the database that this node has used', true],
  ])('the readiness of a node reports %s, and the directory is unchanged', async (_, reason, isPrepared) => {
    await rename(name(), 'kept');
    await pair.primary.query(`CREATE DATABASE ${name()} TEMPLATE template0`);
    if (isPrepared) await preparePostgres(postgresUrl);
    await expectReason(reason);
    await stop(node, 'SIGKILL');
    const { code, stderr } = await restarted();
    expect(code).toBe(1);
    expect(stderr).toContain('Keep the directory');
    expect(stderr).not.toMatch(/postgres init|empty --data|empty directory/);
    await pair.primary.query(`DROP DATABASE ${name()} WITH (FORCE)`);
    await rename('kept', name());
    node = await startBinary({ data: node.data, args: ['--postgres', postgresUrl] });
    await expectReady();
  });
});
