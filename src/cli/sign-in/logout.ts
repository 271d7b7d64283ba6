import { clientCommand } from '../client-command.ts';
import type { Given } from '../command.ts';
import { urlFlag } from '../common-flags.ts';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { notUnderstood, send } from '../send.ts';
import { serverUrlOf } from '../session.ts';
import { openTokenStore, type StoredSession, withSession } from '../token-store.ts';

export const logout = clientCommand({
  name: 'logout',
  summary: 'Sign out: delete the tokens, and invalidate them on the server',
  flags: [urlFlag],
  run: signOut,
});

/**
 * Ends the session at a server and deletes its tokens here.
 * @throws {UsageError} for wrong flags
 * @throws {Failure} if the server cannot be reached; the tokens are deleted all the same
 */
async function signOut(given: Given, context: Context): Promise<number> {
  const url = serverUrlOf(context, given.value('url'));
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

/**
 * Invalidates the tokens of a session.
 * @throws {Failure} if the server cannot be reached, or refuses
 */
export async function endSession(context: Context, url: string, session: StoredSession): Promise<void> {
  if (session.refreshToken !== undefined) {
    const { revoke } = await import('../token-host.ts');
    await revoke(context, session, session.refreshToken);
  } else if (session.expiresAt > context.clock.now()) {
    const target = `${url}/api/account/invalidate-token`;
    const headers = { authorization: `Bearer ${session.accessToken}` };
    const { status } = await send(context, target, { method: 'POST', headers });
    // 401: it is already invalid.
    if (status !== 200 && status !== 401) throw notUnderstood(target, status);
  }
}
