import type { AccountTransaction } from '../../../accounts/account-transaction.ts';
import { requiredProvider } from '../../../accounts/sign-in-policy.ts';
import type { User } from '../../../storage/lmdb/records.ts';
import { acceptPasskey, type PasskeyFailure } from '../../factors/passkeys/accept-passkey.ts';
import { type NewPasskey, registerPasskey } from '../../factors/passkeys/add-passkey.ts';
import { readAssertion, readAttestation } from '../../factors/passkeys/web-authn.ts';
import {
  noteSignIn,
  type RecordedSignIn,
  readUserAgent,
  recordFurtherFactor,
  recordSignIn,
} from '../../oauth/record-sign-in.ts';
import { type CurrentSignIn, currentSignIn, isValidFor } from '../../oauth/sign-ins.ts';
import type { FormError } from '../pages/form-page.ts';
import {
  busy,
  type FormResult,
  formPage,
  notAMember,
  type PageServices,
  type PostedForm,
  signInAgain,
  staleForm,
  throttled,
} from './posted-form.ts';
import { entered, stepPage } from './second-factor-form.ts';

/** Signs in the user of a passkey. The device has verified the user, so the passkey counts as two factors. */
export async function enterByPasskey(services: PageServices, posted: PostedForm): Promise<FormResult> {
  const { request, purpose, form, browser } = posted;
  const { client } = purpose;
  const assertion = readAssertion(form);
  const authentication = { factors: ['passkey'] as const, userAgent: readUserAgent(request) };
  const again = (error: FormError) => signInAgain(services, posted, error);
  try {
    const proof = { assertion, address: request.remoteAddress, browser };
    const result = await acceptPasskey(services, proof, (tx, user) => {
      const { email } = user;
      if (requiredProvider(tx, user) === undefined)
        return { ...recordSignIn(services, tx, user, { client, browser, authentication }), email };
      noteSignIn(tx, 'sign-in.refused', user, authentication);
      return { outcome: 'provider-only', email } as const;
    });
    switch (result.outcome) {
      case 'signed-in':
        return await entered(services, posted, result);
      case 'not-a-member':
        return again(notAMember(result.email, purpose));
      case 'provider-only':
        return again({ status: 403, text: `${result.email} must sign in with the identity provider.` });
      default:
        return again(explain(result));
    }
  } catch (error) {
    return again(busy(error));
  }
}

export async function proveByPasskey(services: PageServices, posted: PostedForm): Promise<FormResult> {
  const { request, form, browser } = posted;
  const signIn = await currentSignIn(services, browser);
  if (signIn?.missing !== 'second-factor') return signInAgain(services, posted, staleForm);
  const proof = { assertion: readAssertion(form), address: request.remoteAddress, browser, user: signIn.user };
  const again = async (error: FormError) => ({
    response: await stepPage(services, formPage(services, request, posted.purpose), signIn, error),
  });
  try {
    const result = await acceptPasskey(services, proof, (tx, user) => complete(services, posted, tx, user, signIn));
    switch (result.outcome) {
      case 'signed-in':
      case 'not-a-member':
      case 'over':
        return await continued(services, posted, result, signIn);
      default:
        return await again(explain(result));
    }
  } catch (error) {
    return again(busy(error));
  }
}

/** Completes a sign-in by adding a passkey, if the policy demands a second factor and the user has none yet. */
export async function enrolByPasskey(services: PageServices, posted: PostedForm): Promise<FormResult> {
  const { request, purpose, browser } = posted;
  const signIn = await currentSignIn(services, browser);
  if (signIn?.missing !== 'enrolment') return signInAgain(services, posted, staleForm);
  const again = async (error: FormError) => ({
    response: await stepPage(services, formPage(services, request, purpose), signIn, error),
  });
  try {
    const result = await registerPasskey(services, signIn, readNewPasskey(posted), (tx, user) =>
      complete(services, posted, tx, user, signIn),
    );
    if (result.outcome === 'refused') return await again({ status: 400, text: result.fault });
    return await continued(services, posted, result.drafted, signIn);
  } catch (error) {
    return again(busy(error));
  }
}

type CompletionResult = RecordedSignIn | { readonly outcome: 'over' };

function complete(
  services: PageServices,
  { browser, purpose: { client } }: PostedForm,
  tx: AccountTransaction,
  user: User,
  signIn: CurrentSignIn,
): CompletionResult {
  const started = tx.get('signIns', signIn.key);
  if (started === undefined || !isValidFor(started, user)) return { outcome: 'over' };
  return recordFurtherFactor(services, tx, user, signIn, { client, browser, factor: 'passkey' });
}

async function continued(
  services: PageServices,
  posted: PostedForm,
  result: CompletionResult,
  { user: { email } }: CurrentSignIn,
): Promise<FormResult> {
  if (result.outcome === 'signed-in') return entered(services, posted, result);
  if (result.outcome === 'over') return signInAgain(services, posted, staleForm);
  return signInAgain(services, posted, notAMember(email, posted.purpose));
}

function explain(failure: PasskeyFailure): FormError {
  return failure.outcome === 'throttled' ? throttled(failure.wait) : { status: 403, text: faults[failure.outcome] };
}

const faults = {
  wrong: 'This passkey is unknown here, or was removed. Use another passkey, or sign in another way.',
  stale: 'This page is out of date. Use the passkey again.',
  cloned:
    'This passkey was rejected, because a copy of it might be in use. Sign in another way, and remove the passkey.',
} as const;

/**
 * Reads the form of a page that adds a passkey.
 * @throws {OAuthError} `invalid_request` if the form is malformed
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
    userAgent: readUserAgent(request),
  };
}
