import { renewRecoveryCodes } from '../../../accounts/second-factors.ts';
import { ApiError } from '../../../contract/errors.ts';
import type { Reply } from '../../../http/types.ts';
import { addAuthenticator } from '../../factors/second-factor.ts';
import type { CurrentSignIn } from '../../oauth/sign-ins.ts';
import { pageEndpoints } from '../forms/page-endpoints.ts';
import type { PageServices, PostedForm } from '../forms/posted-form.ts';
import { enrolmentPageOf, enrolmentSecretIn, wrongCode } from '../forms/second-factor-form.ts';
import type { FormPage } from '../pages/form-page.ts';
import { authenticatorPage, recoveryCodesPage } from '../pages/second-factor-pages.ts';
import { type AccountPage, accountPageHandler, backToConsole } from './account-page.ts';

const access = { credential: 'None; the cookie of the sign-in page', who: 'The signed-in user' };

const answers = { 200: 'The page, or the sign-in page if the sign-in is older than 15 minutes.' };

/** `GET` and `POST /connect/authenticator`: where users set up an authenticator app, and get new recovery codes. */
export const authenticatorPageEndpoints = pageEndpoints<PageServices>('/connect/authenticator', access, {
  GET: {
    operationId: 'showAuthenticatorPage',
    summary: 'Show the page for two-step verification',
    answers,
    bind: (deps) => accountPageHandler(deps, page),
  },
  POST: {
    operationId: 'changeAuthenticator',
    summary: 'Set up an authenticator app, or get new recovery codes',
    description: 'The body is the form of the page.',
    answers: {
      ...answers,
      303: 'To the console.',
      403: 'The page again: the code is wrong, or the form is not valid.',
      429: 'The page again: too many attempts have failed.',
      503: 'The page again: the service is busy.',
    },
    bind: (deps) => accountPageHandler(deps, page),
  },
});

const page: AccountPage = {
  show,
  actions: {
    enrol,
    'recovery-codes': newCodes,
    enrolled: async (_deps, { purpose }) => backToConsole(purpose),
  },
};

function show(deps: PageServices, page: FormPage, { user }: CurrentSignIn): Reply | Promise<Reply> {
  const totp = deps.accountStore.get('totp', user.id);
  return totp === undefined
    ? enrolmentPageOf(deps, page, user.email)
    : authenticatorPage(page, user.email, totp.recoveryCodes.length);
}

async function enrol(
  deps: PageServices,
  posted: PostedForm,
  signIn: CurrentSignIn,
  page: FormPage,
): Promise<Reply> {
  const { request, form } = posted;
  const secret = enrolmentSecretIn(deps, posted);
  if (secret === undefined || deps.accountStore.get('totp', signIn.user.id)) return show(deps, page, signIn);
  const enrolment = { secret, code: form.get('code') ?? '' };
  const codes = await addAuthenticator(deps, signIn, request.remoteAddress, enrolment);
  if (codes !== undefined) return recoveryCodesPage(page, codes);
  return enrolmentPageOf(deps, page, signIn.user.email, { secret, error: wrongCode });
}

async function newCodes(
  deps: PageServices,
  { request }: PostedForm,
  signIn: CurrentSignIn,
  page: FormPage,
): Promise<Reply> {
  const { id } = signIn.user;
  const directory = deps.directory.under({ id, address: request.remoteAddress });
  try {
    const codes = await directory.change((draft) => renewRecoveryCodes(draft, id, deps.randomBytes));
    return recoveryCodesPage(page, codes);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return show(deps, page, signIn);
    throw error;
  }
}
