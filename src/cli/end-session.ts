import { notUnderstood, send } from './send.ts';
import type { Surroundings } from './surroundings.ts';
import type { StoredSession } from './token-store.ts';

/**
 * Makes the tokens of a session invalid, from their server's next request on.
 * @throws {Failure} when the server cannot be told
 */
export async function endSession(
  surroundings: Surroundings,
  url: string,
  { accessToken, refreshToken, expiresAt, authUrl, clientId }: StoredSession,
): Promise<void> {
  if (refreshToken !== undefined) {
    // RFC 7009: with the refresh token the whole session ends, its access token too.
    const target = `${authUrl}/connect/revocation`;
    const body = new URLSearchParams({ token: refreshToken, client_id: clientId });
    const { status } = await send(surroundings, target, { method: 'POST', body });
    if (status !== 200) throw notUnderstood(target, status);
  } else if (expiresAt > surroundings.clock.now()) {
    const target = `${url}/api/account/invalidate-token`;
    const headers = { authorization: `Bearer ${accessToken}` };
    const { status } = await send(surroundings, target, { method: 'POST', headers });
    // 401: it is invalid already.
    if (status !== 200 && status !== 401) throw notUnderstood(target, status);
  }
}
