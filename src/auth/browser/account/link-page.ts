import type { CurrentSignIn } from '../../oauth/sign-ins.ts';
import { pageEndpoints } from '../forms/page-endpoints.ts';
import type { PageServices, PostedForm } from '../forms/posted-form.ts';
import type { FormPage } from '../pages/form-page.ts';
import { linkAccountPage } from '../pages/provider-pages.ts';
import { leadToLink } from '../sso/start.ts';
import { type AccountPage, accountPageHandler } from './account-page.ts';

const access = { credential: 'None; the cookie of the sign-in page', who: 'The signed-in user' };

const answers = { 200: 'The page, or the sign-in page if the sign-in is older than 15 minutes.' };

/** `GET` and `POST /connect/identities`: where users link accounts at identity providers to their own. */
export const linkPageEndpoints = pageEndpoints<PageServices>('/connect/identities', access, {
  GET: {
    operationId: 'showLinkPage',
    summary: 'Show the page for linking an account at an identity provider',
    answers,
    bind: (deps) => accountPageHandler(deps, pageOf(deps)),
  },
  POST: {
    operationId: 'linkAccount',
    summary: 'Link an account at an identity provider',
    description: 'The body is the form of the page.',
    answers: {
      ...answers,
      303: 'To the console.',
      403: 'The page again: the form is not valid.',
      429: 'The page again: too many attempts have failed.',
      503: 'A page: the provider cannot be reached.',
    },
    bind: (deps) => accountPageHandler(deps, pageOf(deps)),
  },
});

function pageOf(deps: PageServices): AccountPage {
  const show = (_: PageServices, page: FormPage, { user }: CurrentSignIn) =>
    linkAccountPage(page, user, deps.providers.linkable(deps.accountStore, user));
  return {
    show,
    actions: {
      async link(_, { form, browser }: PostedForm, signIn, page) {
        const provider = deps.providers
          .linkable(deps.accountStore, signIn.user)
          .find(({ id }) => id === form.get('provider'));
        if (provider === undefined) return show(deps, page, signIn);
        const { key: linkTo, user } = signIn;
        return leadToLink(deps, browser, provider, user, { page: 'identities', linkTo });
      },
    },
  };
}
