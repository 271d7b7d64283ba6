import { isCopy } from '../../accounts/prepare.ts';
import {
  getSigningKey,
  newSigningKey,
  putSigningKey,
  type Rotation,
  rotateSigningKey,
  storedKeys,
} from '../../accounts/signing-keys.ts';
import type { Arguments, Terminal } from '../../cli/command.ts';
import { createContext } from '../../cli/context.ts';
import { confirm } from '../../cli/prompt.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Config } from '../../serve/config/config.ts';
import { withPostgresAccounts } from '../../serve/postgres-accounts.ts';
import { attachAccountTables, readCopyState } from '../../storage/lmdb/accounts.ts';
import { readConfig } from './server-options.ts';

/**
 * Adds a signing key. Each running service publishes the key within seconds, and signs with it a minute later.
 * @throws {UsageError} for wrong options
 * @throws {Failure} without confirmation
 * @throws {Error} when the data directory is not prepared, or cannot be written
 */
export async function rotateSigningKeyNow(given: Arguments, terminal: Terminal): Promise<number> {
  const { person } = createContext(terminal);
  const config = readConfig(given, terminal);
  if (person !== undefined && !given.has('yes')) await confirm(person, question, 'Nothing was rotated');
  const rotation = config.postgres === undefined ? await rotateOn(config.data) : await rotateIn(config);
  terminal.out(given.has('json') ? asJson(rotation) : asText(rotation));
  return 0;
}

const question =
  'Rotate the key that signs all tokens? Tokens of the current key stay valid until they expire; its private part is deleted.';

async function rotateOn(data: string): Promise<Rotation> {
  const accounts = await attachAccountTables(data);
  try {
    if (readCopyState(accounts.lmdb) !== undefined) throw isCopy(data);
    return await rotateSigningKey(accounts, systemClock.now());
  } finally {
    await accounts.lmdb.close();
  }
}

function rotateIn(config: Config): Promise<Rotation> {
  return withPostgresAccounts(config, async ({ accounts, directory }) => {
    const { alg } = getSigningKey(storedKeys(accounts));
    const made = await newSigningKey(systemClock.now(), alg);
    return directory.change((tx) => {
      tx.note('signing-key.rotated', null, { type: 'signing-key', id: made.kid, name: alg });
      return putSigningKey(tx, made, systemClock.now());
    });
  });
}

function asJson({ current: { kid, alg }, retired }: Rotation): string {
  return `${JSON.stringify({ kid, alg, retired: retired.map((key) => key.kid) })}\n`;
}

function asText({ current: { kid, alg }, retired }: Rotation): string {
  const before = retired.map((key) => `  Before      ${key.kid} ${key.alg}\n`);
  return `The signing key is rotated; a running service publishes the new key within seconds, and signs
with it a minute later.

  New         ${kid} ${alg}
${before.join('')}
Tokens of the previous key stay valid until they expire; its private part is deleted.
`;
}
