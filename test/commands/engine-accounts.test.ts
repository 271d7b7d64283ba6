import { randomBytes } from 'node:crypto';
import { afterAll, expect } from 'vitest';
import { verifyPassword } from '../../src/accounts/passwords.ts';
import { storedKeys } from '../../src/accounts/stored-signing-keys.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import { admin } from '../../src/commands/admin.ts';
import { keys } from '../../src/commands/keys.ts';
import { initEngine } from '../../src/replication/accounts/init-engine.ts';
import { joinEngine } from '../../src/replication/accounts/join-engine.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import {
  closeSharedServer,
  connect,
  newEngine,
  openNode,
  sharedServer,
  type TestNode,
  testLog,
} from '../accounts/store/postgres-fixture.ts';
import { needing } from '../support/needing.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const { describe, test } = needing('postgresql');

afterAll(closeSharedServer);

const email = 'ada@example.com';

/** An engine with its first accounts, and a node that runs. */
async function running(): Promise<{ url: string; node: TestNode }> {
  const url = await (await sharedServer()).database();
  const wanted = { adminEmail: email, clock: systemClock, randomBytes };
  await initEngine(connect(url), { key: undefined, wanted });
  const joining = { connection: connect(url), key: undefined, log: testLog(), pause: async () => false };
  const store = (await joinEngine(temporaryDirectory(), joining))!;
  return { url, node: openNode(url, { store }) };
}

async function run(
  command: (argv: readonly string[], terminal: Terminal) => Promise<number>,
  argv: readonly string[],
): Promise<Record<string, unknown>> {
  let out = '';
  const code = await command([...argv, '--json'], {
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

describe('beside running nodes', () => {
  test('keys rotate makes a signing key that all of them have', async () => {
    const { url, node } = await running();
    const [before] = storedKeys(node.store);
    const { kid, retired } = await run(keys, ['rotate', '--engine', url]);
    expect(retired).toEqual([before!.kid]);
    await node.engine.current();
    expect(storedKeys(node.store).map((key) => key.kid)).toEqual([kid, before!.kid]);
  });

  test('admin reset-password gives a user another password, and forgets failed sign-ins', async () => {
    const { url, node } = await running();
    const { engine } = node;
    await engine.throttles.change(['pair.x'], (draft) => draft.put('pair.x', { failures: 9, lastAt: 1 }));
    const { password } = await run(admin, ['reset-password', '--engine', url, '--email', email]);
    await engine.current();
    const [user] = engine.records('users').values();
    expect(await verifyPassword(password as string, user!.passwordHash)).toBe(true);
    expect(await engine.throttles.list('', 10)).toEqual([]);
  });

  test('neither is shown as a node', async () => {
    const { url } = await running();
    await run(keys, ['rotate', '--engine', url]);
    const rows = await (await sharedServer()).query('SELECT directory FROM fm_node', [], url);
    expect(rows).toEqual([]);
  });
});

test('an engine without accounts, or that does not answer, is named', async () => {
  const url = await newEngine(await sharedServer());
  await expect(run(keys, ['rotate', '--engine', url])).rejects.toThrow('flagmeter engine init');
  const away = url.replace(/:\d+\//, ':1/');
  await expect(run(keys, ['rotate', '--engine', away])).rejects.toThrow('127.0.0.1:1');
});
