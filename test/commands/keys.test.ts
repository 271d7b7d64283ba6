import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { prepareStore } from '../../src/accounts/prepare.ts';
import { storedKeys } from '../../src/accounts/signing-keys.ts';
import { UsageError } from '../../src/cli/options.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { openAccountTables } from '../../src/storage/lmdb/accounts.ts';
import type { SigningAlgorithm } from '../../src/storage/lmdb/auth-records.ts';
import { testContext } from '../cli/fixture.ts';
import { cheapHash } from '../support/cheap-hash.ts';
import { runCommand } from '../support/run-command.ts';
import { temporaryDirectory } from '../support/temporary.ts';

async function run(argv: readonly string[], env = {}, command = 'signing-keys'): Promise<string> {
  let out = '';
  const readFile = () => {
    throw new Error('ENOENT: no such file');
  };
  const code = await runCommand([command, ...argv], {
    out: (text) => {
      out += text;
    },
    interactive: false,
    err: () => {},
    env,
    readFile,
  });
  expect(code).toBe(0);
  return out;
}

async function prepared(signingAlg: SigningAlgorithm): Promise<string> {
  const data = temporaryDirectory();
  const store = openAccountTables(data);
  const wanted = { adminEmail: 'a@b', signingAlg, clock: systemClock, randomBytes, hash: cheapHash };
  await prepareStore(store, wanted);
  await store.lmdb.close();
  return data;
}

async function openKeys(data: string) {
  const store = openAccountTables(data);
  const found = storedKeys(store);
  await store.lmdb.close();
  return found;
}

test.each<SigningAlgorithm>(['ES256', 'RS256', 'EdDSA'])('signing-keys rotate creates a new %s key', async (alg) => {
  const data = await prepared(alg);
  const [first] = await openKeys(data);
  const printed = JSON.parse(await run(['rotate', '--data', data, '--json']));
  const [current, retired] = await openKeys(data);
  expect(printed).toEqual({ kid: current?.kid, alg, retired: [first?.kid] });
  expect(current).toMatchObject({ alg, privateJwk: { d: expect.any(String) } });
  expect(retired).toMatchObject({ kid: first?.kid, alg });
});

test('signing-keys rotate lists the ids of the current keys without key material', async () => {
  const data = await prepared('ES256');
  const [first] = await openKeys(data);
  const out = await run(['rotate'], { FLAGMETER_DATA: data });
  const found = await openKeys(data);
  for (const { kid } of found) expect(out).toContain(kid);
  expect(found[1]?.kid).toBe(first?.kid);
  for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  expect(out).not.toContain(JSON.stringify(found[0]).match(/"d":"([^"]+)"/)?.[1]);
});

test('signing-keys rotate refuses an unprepared directory, and creates no files in it', async () => {
  const data = temporaryDirectory();
  await expect(run(['rotate', '--data', data])).rejects.toThrow(
    `Cannot use ${data}: it is not a prepared data directory`,
  );
  expect(readdirSync(data)).toEqual([]);
});

const bothCommands = /keys rotate KEY replaces it; flagmeter signing-keys rotate rotates/;

test.each<[string[], string | RegExp]>([
  [[], 'Cannot use keys alone: use one of list, show, create, rotate, delete, adopt'],
  [['rotat'], 'Unknown command keys rotat; the nearest known one is keys rotate'],
  [['constructor'], 'Unknown command keys constructor'],
  [['rotate'], bothCommands],
  [['rotate', '--json'], bothCommands],
  [['rotate', '--data', 'somewhere'], bothCommands],
  [['rotate', '--engine', 'postgres://localhost/flagmeter', '--engine-key-file', 'key'], bothCommands],
])('keys refuses the arguments %j', async (argv, message) => {
  await expect(async () => run(argv, {}, 'keys')).rejects.toThrow(UsageError);
  await expect(async () => run(argv, {}, 'keys')).rejects.toThrow(message);
});

test.each<[string[], string]>([
  [[], 'Cannot use signing-keys alone: use one of rotate'],
  [['rotate', 'now'], "Cannot use the argument 'now'"],
  [['rotate', '--jason'], 'the nearest known one is --json'],
  [['rotate', '--signing-alg', 'RS256'], 'Unknown option --signing-alg'],
])('signing-keys refuses the arguments %j', async (argv, message) => {
  await expect(async () => run(argv)).rejects.toThrow(UsageError);
  await expect(async () => run(argv)).rejects.toThrow(message);
});

test('signing-keys rotate asks for confirmation, and describes its effect', async () => {
  const data = await prepared('ES256');
  const asked: string[] = [];
  const rotate = async (answer: string, ...more: string[]) => {
    const context = testContext({ answers: [answer] });
    const argv = ['signing-keys', 'rotate', '--data', data, ...more];
    return runCommand(argv, context).finally(() => asked.push(...context.questions));
  };
  await expect(rotate('n')).rejects.toThrow('Nothing was rotated');
  expect(asked).toEqual([expect.stringMatching(/signs all tokens\? Tokens of the current key stay valid/)]);
  expect(await openKeys(data)).toHaveLength(1);
  expect(await rotate('y')).toBe(0);
  expect(await rotate('', '--yes')).toBe(0);
  expect(asked).toHaveLength(2);
  expect(await openKeys(data)).toHaveLength(3);
});
