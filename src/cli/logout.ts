import { readGiven } from './command.ts';
import type { Context } from './context.ts';
import { endSession } from './end-session.ts';
import { Failure } from './failure.ts';
import { serverUrlOf } from './session.ts';
import { logoutCommand } from './session-commands.ts';
import { openTokenStore, withSession } from './token-store.ts';

/**
 * Ends the session at a server and deletes its tokens here.
 * @throws {UsageError} for wrong flags
 * @throws {Failure} when the server cannot be reached; the tokens are deleted all the same
 */
export async function logout(argv: readonly string[], context: Context): Promise<number> {
  const url = serverUrlOf(context, readGiven(logoutCommand, argv).value('url'));
  const store = openTokenStore(context);
  const session = await store.exclusively(async () => {
    const stored = store.read();
    const current = stored.current === url ? null : stored.current;
    if (stored.servers[url] !== undefined) store.write({ ...withSession(stored, url, undefined), current });
    return stored.servers[url];
  });
  if (session === undefined) {
    context.err(`Not signed in to ${url}\n`);
    return 0;
  }
  await endSession(context, url, session).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    throw new Failure('failed', `The tokens were deleted here, but may still be valid: ${error.message}`);
  });
  context.err(`Signed out of ${url}\n`);
  return 0;
}
