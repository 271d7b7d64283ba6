import type { AccountDraft } from '../../../accounts/account-draft.ts';
import { addPasskey, passkeysOf } from '../../../accounts/passkeys.ts';
import type { Reader } from '../../../accounts/store/account-store.ts';
import { ApiError } from '../../../contract/errors.ts';
import { isName } from '../../../contract/names.ts';
import { relyingPartyId } from '../../../contract/passkeys.ts';
import type { Passkey } from '../../../storage/lmdb/auth-records.ts';
import type { User } from '../../../storage/lmdb/records.ts';
import type { Browser } from '../../sign-in/browser.ts';
import { userAgentOf } from '../../sign-in/draft-sign-in.ts';
import { missingStep } from '../../sign-in/missing-step.ts';
import type { PostedForm } from '../../sign-in/posted-form.ts';
import type { CurrentSignIn } from '../../sign-in/sign-ins.ts';
import type { PasskeySettings } from './accept-passkey.ts';
import { challengeExpiry } from './challenge.ts';
import { suggestedName } from './names.ts';
import { algorithms } from './options.ts';
import {
  answeredChallenge,
  isFramed,
  loadWebAuthn,
  readAttestation,
  responseJson,
  type SentAttestation,
} from './web-authn.ts';

/** A new credential of an authenticator. */
export interface NewPasskey {
  readonly attestation: SentAttestation;
  /** As typed; empty for a suggested one. */
  readonly name: string;
  /** The address of the peer. */
  readonly address: string;
  readonly browser: Browser;
  readonly userAgent: string;
}

export type AddedPasskey<Drafted> =
  | { readonly outcome: 'added'; readonly drafted: Drafted }
  /** `fault` is for the user. */
  | { readonly outcome: 'refused'; readonly fault: string };

/**
 * Reads the form of a page.
 * @throws {OAuthError} `invalid_request` if it is malformed
 */
export function readNewPasskey({
  request,
  form,
  browser,
}: Pick<PostedForm, 'request' | 'form' | 'browser'>): NewPasskey {
  return {
    attestation: readAttestation(form),
    name: (form.get('name') ?? '').trim(),
    address: request.remoteAddress,
    browser,
    userAgent: userAgentOf(request),
  };
}

/**
 * Adds a passkey to the signed-in user of a browser; resolves when it is on disk.
 * @param draftMore drafts what else follows
 * @throws {ApiError} `store_unavailable`
 */
export async function registerPasskey<Drafted>(
  settings: PasskeySettings,
  { key, user, authentication, missing }: CurrentSignIn,
  made: NewPasskey,
  draftMore: (draft: AccountDraft, user: User) => Drafted,
): Promise<AddedPasskey<Drafted>> {
  const { attestation, name, address, browser } = made;
  const challenge = answeredChallenge(attestation);
  const expiresAt = challengeExpiry(settings, browser, challenge);
  if (expiresAt === undefined) return refused(outOfDate);
  if (name !== '' && !isName(name)) return refused('The name is too long, or contains control characters.');
  const credential = await verify(settings.issuer, attestation, challenge);
  if (credential === undefined)
    return refused('The device sent a passkey that is not valid here. Try another device.');
  const { transports } = attestation;
  const passkey: Passkey = {
    ...credential,
    userId: user.id,
    transports,
    name: name || suggestedName(credential.aaguid, made.userAgent),
    createdAt: settings.clock.now(),
    lastUsedAt: null,
    answered: [{ challenge, expiresAt }],
  };
  try {
    return await settings.directory.under({ id: user.id, address }).change((draft) => {
      const current = draft.users.get(user.id);
      if (current === undefined || !draft.has('signIns', key)) return refused(outOfDate);
      // In another browser, the user may have added a factor since, which this one has not proven.
      if (missingStep(draft, current, authentication) !== missing) return refused(outOfDate);
      if (hasAnswered(draft, current, challenge)) return refused(outOfDate);
      addPasskey(draft, current, passkey);
      return { outcome: 'added', drafted: draftMore(draft, current) };
    });
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return refused(`${error.message}.`);
    throw error;
  }
}

/** True if a passkey of the user has answered a challenge. */
function hasAnswered(reader: Pick<Reader, 'get' | 'keys'>, { id }: User, challenge: string): boolean {
  return passkeysOf(reader, id).some(([, { answered }]) =>
    answered.some((each) => each.challenge === challenge),
  );
}

const outOfDate = 'This page is out of date. Try again.';

function refused(fault: string): AddedPasskey<never> {
  return { outcome: 'refused', fault };
}

type Credential = Pick<Passkey, 'credentialId' | 'publicKey' | 'counter' | 'aaguid' | 'backedUp'>;

/** The credential of a valid response. */
async function verify(
  issuer: string,
  attestation: SentAttestation,
  expectedChallenge: string,
): Promise<Credential | undefined> {
  if (isFramed(attestation)) return undefined;
  const { verifyRegistrationResponse } = await loadWebAuthn();
  try {
    const { verified, registrationInfo: info } = await verifyRegistrationResponse({
      response: responseJson(attestation, { attestationObject: attestation.attestation }),
      expectedChallenge,
      expectedOrigin: new URL(issuer).origin,
      expectedRPID: relyingPartyId(issuer) ?? '',
      requireUserVerification: false, // A key that cannot verify its user is a second factor.
      supportedAlgorithmIDs: [...algorithms],
    });
    if (!verified || info.credential.id !== attestation.id) return undefined;
    return {
      credentialId: info.credential.id,
      publicKey: Buffer.from(info.credential.publicKey).toString('base64url'),
      counter: info.credential.counter,
      aaguid: info.aaguid,
      backedUp: info.credentialBackedUp,
    };
  } catch {
    return undefined; // The library throws for each check that fails, with texts for developers.
  }
}
