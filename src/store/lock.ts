import { accessSync, constants, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { askClaim, type Claim, type Claimant, claimName, showClaim } from './claim.ts';

/** The right to be the one process that uses a data directory. */
export interface DataLock {
  /** Gives the directory free for the next process. */
  release(): Promise<void>;
}

/**
 * Locks a data directory for this process, and makes the directory when it is missing. A process that died, however
 * it died, locks nobody out.
 *
 * Each process first shows its own claim and only then looks at the others', so of two that start at once at least
 * one sees the other. A decided claim always wins. Of two undecided ones that see each other the one with the larger
 * name gives up at once; the one with the smaller name waits for what becomes of the other, which may have looked
 * before the smaller one came. So of any number exactly one wins, and only the larger is ever waited for.
 *
 * @throws {Error} that names the directory and the process that has it, or says why it cannot be locked
 */
export async function lockDataDirectory(directory: string): Promise<DataLock> {
  let claim: Claim | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    claim = await showClaim(directory);
    const winner = await findWinner(directory, claim.name);
    if (winner !== undefined) throw new Error(`${nameOf(winner)} is using it`);
    claim.decide();
    return { release: claim.withdraw };
  } catch (error) {
    await claim?.withdraw();
    throw new Error(`Cannot use the data directory ${directory}: ${reasonOf(error)}`, { cause: error });
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there; give it the directory, or choose another with --data',
  EPERM: 'this user may not write there; give it the directory, or choose another with --data',
  EROFS: 'its file system is read-only; choose a directory that can be written with --data',
  ENOTDIR: 'a part of its path is not a directory',
  EEXIST: 'it is not a directory',
};

function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return reasons[code] ?? message;
}

/** The living claim that beats the one named `own`, once no other can. Claims of the dead are removed. */
async function findWinner(directory: string, own: string): Promise<Claimant | undefined> {
  for (const name of readdirSync(directory)) {
    if (!claimName.test(name) || name === own) continue;
    const claimant = await askClaim(directory, name, name > own);
    if (claimant !== undefined) return claimant;
    rmSync(`${directory}/${name}`, { force: true });
  }
  return undefined;
}

function nameOf({ pid }: Claimant): string {
  return pid === undefined ? 'another process' : `process ${pid}`;
}
