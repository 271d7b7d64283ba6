import { passkeysOf } from '../../../accounts/passkeys.ts';
import { maxPasskeys, relyingPartyId } from '../../../contract/sign-in.ts';
import type { Reply } from '../../../http/types.ts';
import { registerPasskey } from '../../factors/passkeys/add-passkey.ts';
import type { CurrentSignIn } from '../../oauth/sign-ins.ts';
import { pageEndpoints } from '../forms/page-endpoints.ts';
import { readNewPasskey } from '../forms/passkey-form.ts';
import type { PageServices, PostedForm } from '../forms/posted-form.ts';
import { failurePage } from '../pages/failure-page.ts';
import type { FormError, FormPage } from '../pages/form-page.ts';
import { addPasskeyPage } from '../pages/passkey-pages.ts';
import { type AccountPage, accountPageHandler, backToConsole } from './account-page.ts';

const access = { credential: 'None; the cookie of the sign-in page', who: 'The signed-in user' };

const answers = {
  200: 'The page, or the sign-in page if the sign-in is older than 15 minutes.',
  400: 'A page: browsers allow no passkeys at this URL, or the form is malformed.',
};

/**
 * `GET` and `POST /connect/passkey`: where users add a passkey. The page is on the auth host, because browsers bind passkeys to the
 * host of the sign-in page. The console may have another one.
 */
export const passkeyPageEndpoints = pageEndpoints<PageServices>('/connect/passkey', access, {
  GET: {
    operationId: 'showPasskeyPage',
    summary: 'Show the page for adding a passkey',
    answers,
    bind: (deps) => accountPageHandler(deps, page),
  },
  POST: {
    operationId: 'addPasskey',
    summary: 'Add a passkey',
    description: 'The body is the form of the page.',
    answers: {
      ...answers,
      303: 'To the console, which lists the passkeys.',
      403: 'The page again: the form is not valid.',
      429: 'The page again: too many attempts have failed.',
      503: 'The page again: the service is busy.',
    },
    bind: (deps) => accountPageHandler(deps, page),
  },
});

const impossible =
  'Browsers allow passkeys only at an https URL with a host name, or on localhost. Set --auth-url to such a URL';

const page: AccountPage = {
  refuse: ({ issuer }) => (relyingPartyId(issuer) === undefined ? failurePage(400, impossible) : undefined),
  completes: true,
  show: (deps, page, signIn) => pageFor(deps, page, signIn),
  actions: { 'add-passkey': add },
};

function pageFor(
  { accountStore }: PageServices,
  page: FormPage,
  { user }: CurrentSignIn,
  error?: FormError,
): Reply {
  const isFull = passkeysOf(accountStore, user.id).length >= maxPasskeys;
  return addPasskeyPage(page, user, isFull, error);
}

async function add(
  deps: PageServices,
  posted: PostedForm,
  signIn: CurrentSignIn,
  page: FormPage,
): Promise<Reply> {
  const result = await registerPasskey(deps, signIn, readNewPasskey(posted), () => undefined);
  if (result.outcome === 'added') return backToConsole(posted.purpose);
  return pageFor(deps, page, signIn, { status: 400, text: result.fault });
}
