import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { prepareStore } from '../../src/accounts/prepare.ts';
import { storedKeys } from '../../src/accounts/signing-keys.ts';
import { UsageError } from '../../src/cli/flags.ts';
import { keys } from '../../src/commands/subcommands.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { openAccountTables } from '../../src/storage/lmdb/accounts.ts';
import type { SigningAlgorithm } from '../../src/storage/lmdb/auth-records.ts';
import { temporaryDirectory } from '../support/temporary.ts';

async function run(argv: readonly string[], env = {}): Promise<string> {
  let out = '';
  const readFile = () => {
    throw new Error('ENOENT: no such file');
  };
  const code = await keys(argv, {
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
  await prepareStore(store, { adminEmail: 'a@b', signingAlg, clock: systemClock, randomBytes });
  await store.lmdb.close();
  return data;
}

async function keysOf(data: string) {
  const store = openAccountTables(data);
  const found = storedKeys(store);
  await store.lmdb.close();
  return found;
}

test.each<SigningAlgorithm>(['ES256', 'RS256', 'EdDSA'])('keys rotate creates a new %s key', async (alg) => {
  const data = await prepared(alg);
  const [first] = await keysOf(data);
  const printed = JSON.parse(await run(['rotate', '--data', data, '--json']));
  const [current, retired] = await keysOf(data);
  expect(printed).toEqual({ kid: current?.kid, alg, retired: [first?.kid] });
  expect(current).toMatchObject({ alg, privateJwk: { d: expect.any(String) } });
  expect(retired).toMatchObject({ kid: first?.kid, alg });
});

test('keys rotate lists the ids of the current keys without key material', async () => {
  const data = await prepared('ES256');
  const [first] = await keysOf(data);
  const out = await run(['rotate'], { FLAGMETER_DATA: data });
  const found = await keysOf(data);
  for (const { kid } of found) expect(out).toContain(kid);
  expect(found[1]?.kid).toBe(first?.kid);
  for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  expect(out).not.toContain(JSON.stringify(found[0]).match(/"d":"([^"]+)"/)?.[1]);
});

test('keys rotate does not prepare a directory', async () => {
  const data = temporaryDirectory();
  await expect(run(['rotate', '--data', data])).rejects.toThrow(
    `Cannot use ${data}: it is not a prepared data directory`,
  );
  expect(readdirSync(data)).toEqual([]);
});

test.each<[string[], string]>([
  [[], 'Cannot use keys alone: use one of list, show, create, delete, adopt, rotate'],
  [['rotat'], 'Unknown command keys rotat; the nearest known one is keys rotate'],
  [['constructor'], 'Unknown command keys constructor'],
  [['rotate', 'now'], "Cannot use the argument 'now'"],
  [['rotate', '--jason'], 'the nearest known one is --json'],
  [['rotate', '--signing-alg', 'RS256'], 'Unknown flag --signing-alg'],
])('keys refuses %j', async (argv, message) => {
  await expect(async () => run(argv)).rejects.toThrow(UsageError);
  await expect(async () => run(argv)).rejects.toThrow(message);
});
