import type { AccountTransaction } from '../../../accounts/account-transaction.ts';
import { addPasskey, listPasskeys } from '../../../accounts/passkeys.ts';
import type { Reader } from '../../../accounts/store/account-store.ts';
import { Refusal } from '../../../contract/errors.ts';
import { isName } from '../../../contract/names.ts';
import { relyingPartyId } from '../../../contract/sign-in.ts';
import type { Passkey } from '../../../storage/lmdb/auth-records.ts';
import type { User } from '../../../storage/lmdb/records.ts';
import type { Browser } from '../../cookies/browser.ts';
import type { Services } from '../../oauth/services.ts';
import { type CurrentSignIn, missingStep } from '../../oauth/sign-ins.ts';
import { findPlatform } from './device-name.ts';
import { algorithms, challengeExpiry } from './options.ts';
import { isFramed, loadWebAuthn, readChallenge, responseJson, type SentAttestation } from './web-authn.ts';

export interface NewPasskey {
  readonly attestation: SentAttestation;
  /** Name as typed; empty for a suggested name. */
  readonly name: string;
  readonly address: string;
  readonly browser: Browser;
  readonly userAgent: string;
}

type AddedPasskey<Drafted> =
  | { readonly outcome: 'added'; readonly drafted: Drafted }
  | { readonly outcome: 'refused'; readonly fault: string };

/**
 * Adds a passkey to the signed-in user of a browser; resolves when it is on disk.
 * @param writeMore records further changes in the same transaction
 * @throws {Refusal} `store_unavailable`
 */
export async function registerPasskey<Drafted>(
  services: Services,
  { key, user, authentication, missing }: CurrentSignIn,
  made: NewPasskey,
  writeMore: (tx: AccountTransaction, user: User) => Drafted,
): Promise<AddedPasskey<Drafted>> {
  const { attestation, name, address, browser } = made;
  const challenge = readChallenge(attestation);
  const expiresAt = challengeExpiry(services, browser, challenge);
  if (expiresAt === undefined) return refused(outOfDate);
  if (name !== '' && !isName(name)) return refused('The name is too long, or contains control characters.');
  const credential = await verify(services.issuer, attestation, challenge);
  if (credential === undefined) return refused('The device sent a passkey that is not valid here. Try another device.');
  const { transports } = attestation;
  const passkey: Passkey = {
    ...credential,
    userId: user.id,
    transports,
    name: name || suggestedName(credential.aaguid, made.userAgent),
    createdAt: services.clock.now(),
    lastUsedAt: null,
    answered: [{ challenge, expiresAt }],
  };
  try {
    return await services.directory.under({ id: user.id, address }).change((tx) => {
      const current = tx.users.get(user.id);
      if (current === undefined || !tx.has('signIns', key)) return refused(outOfDate);
      // In another browser, the user might have added a factor that this browser has not proven.
      if (missingStep(tx, current, authentication) !== missing) return refused(outOfDate);
      if (hasAnswered(tx, current, challenge)) return refused(outOfDate);
      addPasskey(tx, current, passkey);
      return { outcome: 'added', drafted: writeMore(tx, current) };
    });
  } catch (error) {
    if (error instanceof Refusal && error.status < 500) return refused(`${error.message}.`);
    throw error;
  }
}

function hasAnswered(reader: Pick<Reader, 'get' | 'keys'>, { id }: User, challenge: string): boolean {
  return listPasskeys(reader, id).some(([, { answered }]) => answered.some((each) => each.challenge === challenge));
}

const outOfDate = 'This page is out of date. Try again.';

function refused(fault: string): AddedPasskey<never> {
  return { outcome: 'refused', fault };
}

async function verify(
  issuer: string,
  attestation: SentAttestation,
  expectedChallenge: string,
): Promise<Pick<Passkey, 'credentialId' | 'publicKey' | 'counter' | 'aaguid' | 'backedUp'> | undefined> {
  if (isFramed(attestation)) return undefined;
  const { verifyRegistrationResponse } = await loadWebAuthn();
  try {
    const { verified, registrationInfo: info } = await verifyRegistrationResponse({
      response: responseJson(attestation, { attestationObject: attestation.attestation }),
      expectedChallenge,
      expectedOrigin: new URL(issuer).origin,
      expectedRPID: relyingPartyId(issuer) ?? '',
      requireUserVerification: false, // A key that cannot verify its user can still be a second factor.
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
    return undefined; // The library throws an error if a check fails. Its message is for developers.
  }
}

/** Names of passkey providers, by the AAGUID of their authenticators. */
const providers: ReadonlyMap<string, string> = new Map([
  ['fbfc3007-154e-4ecc-8c0b-6e020557d7bd', 'iCloud Keychain'],
  ['dd4ec289-e01d-41c9-bb89-70fa845d4bf2', 'iCloud Keychain (managed)'],
  ['ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4', 'Google Password Manager'],
  ['adce0002-35bc-c60a-648b-0b25f1f05503', 'Chrome on Mac'],
  ['08987058-cadc-4b81-b6e1-30de50dcbe96', 'Windows Hello'],
  ['9ddd1817-af5a-4672-a2b9-3e3dd95000a9', 'Windows Hello'],
  ['6028b017-b1d4-4c02-b4b3-afcdafc96bb2', 'Windows Hello'],
  ['53414d53-554e-4700-0000-000000000000', 'Samsung Pass'],
  ['bada5566-a7aa-401f-bd96-45619a55120d', '1Password'],
  ['d548826e-79b4-db40-a3d8-11116f7e8349', 'Bitwarden'],
  ['531126d6-e717-415c-9320-3d9aa6981239', 'Dashlane'],
  ['fdb141b2-5d84-443e-8a35-4698c205a502', 'KeePassXC'],
  ['50726f74-6f6e-5061-7373-50726f746f6e', 'Proton Pass'],
]);

/** Suggests a name for a new passkey: the name of its provider, or the platform of the browser. */
function suggestedName(aaguid: string, userAgent: string): string {
  const provider = providers.get(aaguid);
  if (provider !== undefined) return provider;
  const platform = findPlatform(userAgent);
  return platform === undefined ? 'Passkey' : `Passkey on ${platform}`;
}
