import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { verifyPassword } from '../../src/accounts/passwords.ts';
import { storedKeys } from '../../src/accounts/signing-keys.ts';
import { initPostgres } from '../../src/replication/accounts/init-postgres.ts';
import { joinPostgres } from '../../src/replication/accounts/join-postgres.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import {
  connect,
  newDatabase,
  openNode,
  sharedServer,
  type TestNode,
  testLog,
} from '../accounts/store/postgres-fixture.ts';
import { cheapHash } from '../support/cheap-hash.ts';
import { needing } from '../support/needing.ts';
import { runCommand } from '../support/run-command.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const { describe, test } = needing('postgresql');

const email = 'ada@example.com';

async function running(): Promise<{ url: string; node: TestNode }> {
  const url = await (await sharedServer()).database();
  const wanted = { adminEmail: email, clock: systemClock, randomBytes, hash: cheapHash };
  await initPostgres(connect(url), { key: undefined, wanted });
  const joining = { connection: connect(url), key: undefined, log: testLog(), pause: async () => false };
  const store = (await joinPostgres(temporaryDirectory(), joining))!;
  return { url, node: openNode(url, { store }) };
}

async function run(command: string, argv: readonly string[]): Promise<Record<string, unknown>> {
  let out = '';
  const code = await runCommand([command, ...argv, '--json'], {
    out: (text) => {
      out += text;
    },
    err: () => {},
    interactive: false,
    env: {},
    readFile: () => '',
  });
  expect(code).toBe(0);
  return JSON.parse(out);
}

describe('commands next to running nodes', () => {
  test('a rotation of the signing keys next to running nodes creates a key for all nodes', async () => {
    const { url, node } = await running();
    const [before] = storedKeys(node.store);
    const { kid, retired } = await run('signing-keys', ['rotate', '--postgres', url]);
    expect(retired).toEqual([before!.kid]);
    await node.accountStore.current();
    expect(storedKeys(node.store).map((key) => key.kid)).toEqual([kid, before!.kid]);
  });

  test('a password reset next to running nodes sets a password, and deletes failed sign-ins', async () => {
    const { url, node } = await running();
    const { accountStore } = node;
    await accountStore.throttles.change(['pair.x'], (tx) => tx.put('pair.x', { failures: 9, lastAt: 1 }));
    const { password } = await run('admin', ['reset-password', '--postgres', url, '--email', email]);
    await accountStore.current();
    const [user] = accountStore.records('users').values();
    expect(await verifyPassword(password as string, user!.passwordHash)).toBe(true);
    expect(await accountStore.throttles.list('', 10)).toEqual([]);
  });

  test('signing-keys rotate and admin reset-password are not listed as nodes', async () => {
    const { url } = await running();
    await run('signing-keys', ['rotate', '--postgres', url]);
    const rows = await (await sharedServer()).query('SELECT directory FROM fm_node', [], url);
    expect(rows).toEqual([]);
  });
});

test('commands report a database without accounts, and a PostgreSQL that does not respond', async () => {
  const url = await newDatabase(await sharedServer());
  await expect(run('signing-keys', ['rotate', '--postgres', url])).rejects.toThrow('flagmeter postgres init');
  const away = url.replace(/:\d+\//, ':1/');
  await expect(run('signing-keys', ['rotate', '--postgres', away])).rejects.toThrow('127.0.0.1:1');
});
