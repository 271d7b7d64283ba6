import type { AccountTransaction } from '../../../accounts/account-transaction.ts';
import { notePasskey, passkeyId, passkeyKey } from '../../../accounts/passkeys.ts';
import { relyingPartyId } from '../../../contract/sign-in.ts';
import type { Passkey } from '../../../storage/lmdb/auth-records.ts';
import type { User } from '../../../storage/lmdb/records.ts';
import type { Browser } from '../../cookies/browser.ts';
import { noteSignIn } from '../../oauth/record-sign-in.ts';
import type { Services } from '../../oauth/services.ts';
import { type CountedAttempt, countAttempt, forgiveAttempt, verifyCounted } from '../login-throttle.ts';
import { challengeExpiry } from './options.ts';
import { isFramed, loadWebAuthn, readChallenge, responseJson, type SentAssertion } from './web-authn.ts';

interface PasskeyProof {
  readonly assertion: SentAssertion;
  readonly address: string;
  readonly browser: Browser;
  /** The user who has already typed the password. If present, the device need not verify the user. */
  readonly user?: User;
}

export type PasskeyFailure =
  | { readonly outcome: 'wrong' }
  /** Too many attempts have failed; `wait` in seconds. */
  | { readonly outcome: 'throttled'; readonly wait: number }
  /** The challenge has expired, was answered before, or is for another browser. */
  | { readonly outcome: 'stale' }
  /** The signature counter has not increased: the passkey might have been cloned. */
  | { readonly outcome: 'cloned' };

interface VerifiedAssertion {
  readonly id: string;
  readonly challenge: string;
  readonly expiresAt: number;
  readonly counter: number;
  readonly backedUp: boolean;
}

/** Maximum number of stored challenges that a passkey has answered, and that have not expired. */
const mostAnswered = 50;

/**
 * Checks the response of a passkey, and records the result. Resolves when all changes are on disk. Attempts are
 * throttled in the same way as passwords, but separately.
 * @param accept records the sign-in of the user in the transaction
 * @throws {Refusal} `store_unavailable`
 */
export async function acceptPasskey<Accepted>(
  services: Services,
  proof: PasskeyProof,
  accept: (tx: AccountTransaction, user: User) => Accepted,
): Promise<Accepted | PasskeyFailure> {
  const { directory } = services;
  const { assertion, address, browser } = proof;
  const challenge = readChallenge(assertion);
  // Checked first, so that an attempt without a challenge from our pages uses no disk space.
  const expiresAt = challengeExpiry(services, browser, challenge);
  if (expiresAt === undefined) return { outcome: 'stale' };
  const id = passkeyId(assertion.id);
  const owner = proof.user ?? directory.users.get(assertion.userHandle ?? '');
  const passkey = owner && services.accountStore.get('passkeys', passkeyKey(owner.id, id));
  const attempt = { email: `passkey of ${owner?.id ?? id}`, address, browser };
  const counted = await countAttempt(services, attempt);
  if (counted.wait > 0) return { outcome: 'throttled', wait: counted.wait };
  const signed = await verifySigned(services, counted, proof, passkey);
  const verified = signed && { ...signed, id, challenge, expiresAt };
  const authority = verified && owner ? { id: owner.id, address } : { address };
  const result = await directory.under(authority).change((tx) => {
    const user = tx.users.get(owner?.id ?? '');
    const failure = verified && user ? drawOn(tx, user, verified, services.clock.now()) : wrong;
    if (failure === undefined) return { accepted: accept(tx, user!) };
    noteSignIn(tx, 'sign-in.failed', user, { factors: ['passkey'] });
    return failure;
  });
  if (!('accepted' in result)) return result;
  await forgiveAttempt(services, attempt, counted);
  return result.accepted;
}

const wrong: PasskeyFailure = { outcome: 'wrong' };

type AuthenticatorState = Pick<VerifiedAssertion, 'counter' | 'backedUp'>;

async function verifySigned(
  services: Services,
  counted: CountedAttempt,
  proof: PasskeyProof,
  passkey: Passkey | undefined,
): Promise<AuthenticatorState | undefined> {
  let signed: AuthenticatorState | undefined;
  await verifyCounted(services, counted, async () => {
    signed = passkey && (await verify(services.issuer, proof, passkey));
    return signed !== undefined;
  });
  return signed;
}

/** Verifies everything in a response except the challenge and the counter. */
async function verify(
  issuer: string,
  { assertion, user }: PasskeyProof,
  passkey: Passkey,
): Promise<AuthenticatorState | undefined> {
  const { authenticatorData, signature, userHandle } = assertion;
  if (userHandle !== undefined && userHandle !== passkey.userId) return undefined;
  if (isFramed(assertion)) return undefined;
  const { verifyAuthenticationResponse } = await loadWebAuthn();
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: responseJson(assertion, { authenticatorData, signature }),
      expectedChallenge: readChallenge(assertion),
      expectedOrigin: new URL(issuer).origin,
      expectedRPID: relyingPartyId(issuer) ?? '',
      requireUserVerification: user === undefined,
      // Counter 0 disables the library's check, because the transaction compares the counter with the latest state.
      credential: { id: passkey.credentialId, publicKey: Buffer.from(passkey.publicKey, 'base64url'), counter: 0 },
    });
    const { newCounter: counter, credentialBackedUp: backedUp } = authenticationInfo;
    return verified ? { counter, backedUp } : undefined;
  } catch {
    return undefined; // The library throws an error if a check fails. Its message is for developers.
  }
}

function drawOn(
  tx: AccountTransaction,
  user: User,
  { id, challenge, expiresAt, counter, backedUp }: VerifiedAssertion,
  now: number,
): PasskeyFailure | undefined {
  const key = passkeyKey(user.id, id);
  const passkey = tx.get('passkeys', key);
  if (passkey === undefined) return wrong;
  const answered = passkey.answered.filter((each) => each.expiresAt > now);
  const isReplay = answered.some((each) => each.challenge === challenge);
  if (isReplay || answered.length >= mostAnswered) return { outcome: 'stale' };
  if ((counter > 0 || passkey.counter > 0) && counter <= passkey.counter) {
    notePasskey(tx, 'passkey.refused', user, id, passkey);
    return { outcome: 'cloned' };
  }
  tx.put('passkeys', key, {
    ...passkey,
    counter,
    backedUp,
    lastUsedAt: now,
    answered: [...answered, { challenge, expiresAt }],
  });
  return undefined;
}
