import { randomBytes } from 'node:crypto';
import { type FirstCredentials, openPrepared, type Preparation, prepareData } from '../../accounts/prepare.ts';
import type { Arguments, Terminal } from '../../cli/command.ts';
import { systemClock } from '../../runtime/clock.ts';
import { lockDataDirectory } from '../../storage/lmdb/lock.ts';
import { credentialsText, readAdministrator } from './administrator.ts';
import { readConfig } from './server-options.ts';

/**
 * @throws {UsageError} for wrong options, e-mail address or password
 * @throws {Error} when the directory is in use, cannot be written or is already prepared; nothing has changed then
 */
export async function init(given: Arguments, terminal: Terminal): Promise<number> {
  const administrator = await readAdministrator(given, terminal);
  const { data, signingAlg } = readConfig(given, terminal);
  const made = await prepare(data, { ...administrator, signingAlg, clock: systemClock, randomBytes });
  terminal.out(given.has('json') ? `${JSON.stringify(made)}\n` : credentialsText(made, data));
  return 0;
}

async function prepare(data: string, wanted: Preparation): Promise<FirstCredentials> {
  const lock = lockDataDirectory(data);
  try {
    const prepared = await openPrepared(data);
    await prepared?.lmdb.close();
    if (prepared !== undefined) throw new Error(`Cannot prepare ${data}: it is already prepared; nothing was changed`);
    return await prepareData(data, wanted);
  } finally {
    lock.release();
  }
}
