import type { Context } from './context.ts';
import { notUnderstood, send } from './send.ts';
import { revoke } from './token-host.ts';
import type { StoredSession } from './token-store.ts';

/**
 * Invalidates the tokens of a session.
 * @throws {Failure} when the server cannot be reached, or refuses
 */
export async function endSession(context: Context, url: string, session: StoredSession): Promise<void> {
  if (session.refreshToken !== undefined) {
    await revoke(context, session, session.refreshToken);
  } else if (session.expiresAt > context.clock.now()) {
    const target = `${url}/api/account/invalidate-token`;
    const headers = { authorization: `Bearer ${session.accessToken}` };
    const { status } = await send(context, target, { method: 'POST', headers });
    // 401: it is invalid already.
    if (status !== 200 && status !== 401) throw notUnderstood(target, status);
  }
}
