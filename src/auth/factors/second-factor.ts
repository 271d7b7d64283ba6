import { acceptCode, addTotp, type Enrolment, loadTotps } from '../../accounts/second-factors.ts';
import { Refusal } from '../../contract/errors.ts';
import type { OAuthClient } from '../../storage/lmdb/records.ts';
import type { Browser } from '../cookies/browser.ts';
import { noteSignIn, type RecordedSignIn, recordFurtherFactor } from '../oauth/record-sign-in.ts';
import type { Services } from '../oauth/services.ts';
import { type CurrentSignIn, currentSignIn, isValidFor, missingStep } from '../oauth/sign-ins.ts';
import { countAttempt, forgiveAttempt, verifyCounted } from './login-throttle.ts';
import type { SignInServices } from './sign-in.ts';

/** A browser whose user has proven the first factor. */
interface SecondStep {
  readonly browser: Browser;
  readonly address: string;
  readonly client: OAuthClient;
}

/** The result for a browser that is not signed in, or whose sign-in is not at this step. */
const over = { outcome: 'over' } as const;
const wrong = { outcome: 'wrong' } as const;

type ProvenCode =
  | RecordedSignIn
  | typeof over
  | typeof wrong
  | { readonly outcome: 'throttled'; readonly wait: number };

/**
 * Completes a sign-in with a code of the user's authenticator app, or a recovery code. Wrong codes are throttled
 * separately from wrong passwords, so neither affects the other.
 * @throws {Refusal} `store_unavailable`
 */
export async function proveCode(
  services: SignInServices,
  { browser, address, client }: SecondStep,
  code: string,
): Promise<ProvenCode> {
  const signIn = await currentSignIn(services, browser);
  if (signIn?.missing !== 'second-factor') return over;
  const { user } = signIn;
  const attempt = { email: `code of ${user.id}`, address, browser };
  const counted = await countAttempt(services, attempt);
  if (counted.wait > 0) return { outcome: 'throttled', wait: counted.wait };
  const totps = await loadTotps(services.randomBytes);
  let proven: ProvenCode = over;
  const isRight = await verifyCounted(services, counted, async () => {
    proven = await services.directory.under({ id: user.id, address }).change((tx): ProvenCode => {
      const current = tx.users.get(user.id);
      const started = tx.get('signIns', signIn.key);
      if (current === undefined || started === undefined || !isValidFor(started, current)) return over;
      const factor = acceptCode(services, totps, tx, user.id, code);
      if (factor === undefined) {
        noteSignIn(tx, 'sign-in.failed', current, { factors: ['totp'] });
        return wrong;
      }
      return recordFurtherFactor(services, tx, current, signIn, { client, browser, factor });
    });
    return proven.outcome !== 'wrong';
  });
  if (isRight) await forgiveAttempt(services, attempt, counted);
  return proven;
}

type EnrolmentResult =
  | typeof over
  | typeof wrong
  | { readonly outcome: 'enrolled'; readonly signedIn: RecordedSignIn; readonly recoveryCodes: readonly string[] };

/**
 * Completes a sign-in by adding an authenticator app, if the policy demands a second factor and the user has none yet.
 * @throws {Refusal} `store_unavailable`
 */
export async function enrol(
  services: SignInServices,
  { browser, address, client }: SecondStep,
  enrolment: Enrolment,
): Promise<EnrolmentResult> {
  const signIn = await currentSignIn(services, browser);
  if (signIn?.missing !== 'enrolment') return over;
  const { user, authentication } = signIn;
  const totps = await loadTotps(services.randomBytes);
  try {
    return await services.directory.under({ id: user.id, address }).change((tx): EnrolmentResult => {
      const current = tx.users.get(user.id);
      const started = tx.get('signIns', signIn.key);
      if (current === undefined || started === undefined || !isValidFor(started, current)) return over;
      // In another browser, the user might have added a factor that this browser has not proven.
      if (missingStep(tx, current, authentication) !== 'enrolment') return over;
      const recoveryCodes = addTotp(services, totps, tx, user.id, enrolment);
      if (recoveryCodes === undefined) return wrong;
      const given = { client, browser, factor: 'totp' } as const;
      const signedIn = recordFurtherFactor(services, tx, current, signIn, given);
      return { outcome: 'enrolled', signedIn, recoveryCodes };
    });
  } catch (error) {
    // The user has already added an app in another browser.
    if (error instanceof Refusal && error.code === 'conflict') return over;
    throw error;
  }
}

/**
 * Adds an authenticator app to the user of a complete sign-in. The app then counts as a factor of the sign-in.
 * @returns the recovery codes; `undefined` if the code is wrong, or the sign-in has ended
 * @throws {Refusal} `conflict` if the user already has an app, `store_unavailable`
 */
export async function addAuthenticator(
  services: SignInServices,
  { key, user: { id }, authentication }: CurrentSignIn,
  address: string,
  enrolment: Enrolment,
): Promise<readonly string[] | undefined> {
  const totps = await loadTotps(services.randomBytes);
  return services.directory.under({ id, address }).change((tx) => {
    const started = tx.get('signIns', key);
    if (started === undefined) return undefined;
    const recoveryCodes = addTotp(services, totps, tx, id, enrolment);
    const factors = [...authentication.factors, 'totp'] as const;
    if (recoveryCodes !== undefined)
      tx.put('signIns', key, { ...started, authentication: { ...authentication, factors } });
    return recoveryCodes;
  });
}

/** Time for the user to save the recovery codes, ms. */
const readingMs = 600_000;

const toSeconds = (time: number) => Math.floor(time / 1000);

/** True if the user has just added an authenticator app during the sign-in, and has seen the recovery codes. */
export function hasJustEnrolled(
  { accountStore, clock }: Services,
  { user, startedAt, missing }: CurrentSignIn,
): boolean {
  const added = accountStore.get('totp', user.id)?.createdAt;
  const isNew = clock.now() - startedAt <= readingMs;
  return missing === undefined && isNew && added !== undefined && toSeconds(added) === toSeconds(startedAt);
}
