import { type Credentials, freshDirectory } from './binary.ts';
import { givenPassword } from './given-password.ts';
import type { Postgres } from './postgres.ts';
import { runBinary } from './run-binary.ts';

/**
 * Prepares a PostgreSQL database with the compiled executable. Uses no key file, unless `flags` contain one.
 * @returns the first credentials
 */
export async function preparePostgres(url: string, flags: readonly string[] = []): Promise<Credentials> {
  const args = [
    'postgres',
    'init',
    '--postgres',
    url,
    '--admin-email',
    'ada@example.com',
    '--json',
    ...(flags.includes('--postgres-key-file') ? flags : ['--without-key-file', ...flags]),
    ...givenPassword(freshDirectory()),
  ];
  const { code, stdout, stderr } = await runBinary(args);
  if (code !== 0) throw new Error(`postgres init ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as Credentials;
}

/** Creates a prepared database on a server. All prepared databases of a server have the same id and credentials. */
export async function preparedDatabase(server: Postgres): Promise<{ url: string; credentials: Credentials }> {
  const { url, result } = await server.copyOf(prepareWithDefaults);
  return { url, credentials: result };
}

const prepareWithDefaults = (url: string) => preparePostgres(url);
