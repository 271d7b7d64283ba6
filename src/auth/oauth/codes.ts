import { createHash, timingSafeEqual } from 'node:crypto';
import type { AccountTransaction } from '../../accounts/account-transaction.ts';
import { hashSecret } from '../../accounts/secrets.ts';
import type { AuthorizationCode } from '../../storage/lmdb/auth-records.ts';
import type { User } from '../../storage/lmdb/records.ts';
import { signedInUser } from './clients.ts';
import type { Services } from './services.ts';
import { endSession, type IssuedSession, noteReuse } from './sessions.ts';
import { isValidFor } from './sign-ins.ts';

/** Lifetime of a code (RFC 6749 §4.1.2 recommends at most ten minutes). */
const codeLifetimeMs = 60_000;
/** Time for which an exchanged code is remembered, so that a replay ends its session. */
const usedCodeLifetimeMs = 3_600_000;

/**
 * Creates an authorization code: 256 random bits, valid once, for a minute. Resolves when the code is on disk.
 * @param granted the request and its user; `redirectUri` exactly as sent
 * @throws {Refusal} `store_unavailable`
 */
export async function issueCode(
  { accountStore, clock, randomBytes }: Services,
  granted: Omit<AuthorizationCode, 'expiresAt' | 'session'>,
): Promise<string> {
  const code = Buffer.from(randomBytes(32)).toString('base64url');
  const record = { ...granted, expiresAt: clock.now() + codeLifetimeMs, session: null };
  await accountStore.change((tx) => tx.put('codes', hashSecret(code), record));
  return code;
}

/** A code as a client sends it (RFC 6749 §4.1.3, RFC 7636 §4.5). */
interface PresentedCode {
  readonly code: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly verifier: string;
}

/** The result of an exchange. If the code was `replayed`, its session has ended. */
type Redemption<Begun = IssuedSession> =
  | { readonly outcome: 'exchanged'; readonly issued: Begun; readonly user: User; readonly nonce: string | null }
  | { readonly outcome: 'refused' | 'replayed' };

const refused = { outcome: 'refused' } as const;

type Begin<Begun> = (services: Services, tx: AccountTransaction, code: AuthorizationCode) => Begun;

/**
 * Exchanges a code for a session; resolves when the session is on disk. Of concurrent requests, only one succeeds.
 * @param address the address of the peer
 * @param begin `startSession`, or the function that starts another kind of session
 * @throws {Refusal} `store_unavailable`
 */
export function redeemCode<Begun extends Pick<IssuedSession, 'key'>>(
  services: Services,
  presented: PresentedCode,
  address: string,
  begin: Begin<Begun>,
): Promise<Redemption<Begun>> {
  return services.directory.under({ address }).change((tx) => redeem(services, tx, presented, begin));
}

function redeem<Begun extends Pick<IssuedSession, 'key'>>(
  services: Services,
  tx: AccountTransaction,
  presented: PresentedCode,
  begin: Begin<Begun>,
): Redemption<Begun> {
  const now = services.clock.now();
  const key = hashSecret(presented.code);
  const code = tx.get('codes', key);
  if (code === undefined || now >= code.expiresAt) return refused;
  if (code.session !== null) {
    if (endSession(services, tx, code.session) === undefined) return refused;
    noteReuse(tx, 'authorization-code.reused', code.userId);
    return { outcome: 'replayed' };
  }
  const user = signedInUser(tx, code);
  const signIn = tx.get('signIns', code.signIn);
  // Refuses users who have signed out or changed the password since the code was issued.
  if (user === undefined || signIn === undefined || !isValidFor(signIn, user)) return refused;
  if (!isBoundTo(code, presented)) return refused;
  const issued = begin(services, tx, code);
  tx.put('codes', key, { ...code, expiresAt: now + usedCodeLifetimeMs, session: issued.key });
  return { outcome: 'exchanged', issued, user, nonce: code.nonce };
}

/** True if the client, the redirect URI and the PKCE verifier match the code. */
function isBoundTo(code: AuthorizationCode, { clientId, redirectUri, verifier }: PresentedCode): boolean {
  return code.clientId === clientId && code.redirectUri === redirectUri && matchesChallenge(verifier, code.challenge);
}

/** Compares a PKCE verifier with its challenge by method S256 (RFC 7636 §4.6), in constant time. */
function matchesChallenge(verifier: string, challenge: string): boolean {
  const found = createHash('sha256').update(verifier).digest();
  const wanted = Buffer.from(challenge, 'base64url');
  return found.length === wanted.length && timingSafeEqual(found, wanted);
}
