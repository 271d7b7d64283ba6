import { hashSecret, matchesHash, type RandomBytes } from '../../../accounts/secrets.ts';
import type { Session } from '../../../storage/lmdb/auth-records.ts';

/** The content of a refresh token: its session, and a secret that changes with each refresh. */
interface RefreshToken {
  /** The session's key in the store. */
  readonly session: string;
  readonly secret: string;
}

/** Session id and secret: 128 and 256 random bits. */
const form = /^fm_refresh_([\w-]{22})\.([\w-]{43})$/;

/** A session's id. Only its refresh tokens contain it; the store has only its hash. */
export function newSessionId(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(16)).toString('base64url');
}

/** The key that a session is stored under. */
export function sessionKey(sessionId: string): string {
  return hashSecret(sessionId);
}

/** A new refresh token of a session, and the hash that the session keeps of its secret. */
export function newRefreshToken(
  sessionId: string,
  randomBytes: RandomBytes,
): { readonly text: string; readonly hash: string } {
  const secret = Buffer.from(randomBytes(32)).toString('base64url');
  return { text: `fm_refresh_${sessionId}.${secret}`, hash: hashSecret(secret) };
}

/** Parses a refresh token; `undefined` if malformed. */
export function readRefreshToken(text: string): (RefreshToken & { readonly sessionId: string }) | undefined {
  const [, sessionId, secret] = form.exec(text) ?? [];
  if (sessionId === undefined || secret === undefined) return undefined;
  return { sessionId, session: sessionKey(sessionId), secret };
}

/** Whether a token is the current one of its session. Any other is spent or forged. */
export function isCurrent({ secret }: RefreshToken, { refreshHash }: Session): boolean {
  return matchesHash(secret, refreshHash);
}
