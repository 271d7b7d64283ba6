import { type Rotation, rotateSigningKey } from '../accounts/stored-signing-keys.ts';
import { systemClock } from '../clock.ts';
import { readFlags } from '../flags.ts';
import { attachAccountStore } from '../store/accounts.ts';
import type { Terminal } from '../terminal.ts';
import { rotateCommand } from './server-commands.ts';
import { configOf } from './server-flags.ts';

/**
 * Makes a new signing key with the same algorithm. A service that runs on the data directory
 * publishes it within seconds and signs with it a minute later.
 * @throws {UsageError} for wrong flags
 * @throws {Error} when the data directory is not prepared, or cannot be written
 */
export async function rotate(argv: readonly string[], terminal: Terminal): Promise<number> {
  const flags = readFlags(argv, rotateCommand.flags);
  const { data } = configOf(flags, terminal);
  const accounts = attachAccountStore(data);
  try {
    const rotation = await rotateSigningKey(accounts, systemClock.now());
    terminal.out(flags.has('json') ? asJson(rotation) : asText(rotation));
    return 0;
  } finally {
    await accounts.lmdb.close();
  }
}

function asJson({ current: { kid, alg }, retired }: Rotation): string {
  return `${JSON.stringify({ kid, alg, retired: retired.map((key) => key.kid) })}\n`;
}

function asText({ current: { kid, alg }, retired }: Rotation): string {
  const before = retired.map((key) => `  Before      ${key.kid} ${key.alg}\n`);
  return `The signing key is rotated; a running service publishes the new one within seconds, and signs
with it a minute later.

  New         ${kid} ${alg}
${before.join('')}
Tokens of the previous key stay valid until they expire; its private part is deleted.
`;
}
