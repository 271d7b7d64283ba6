import type { LinkPurpose } from '../../../contract/shapes/invitation.ts';
import { passwordLength } from '../../../contract/sign-in.ts';
import type { Reply } from '../../../http/types.ts';
import type { IdentityProvider } from '../../../storage/lmdb/auth-records.ts';
import { errorAttributes, type FormError, type FormPage, formReply } from './form-page.ts';
import { type Html, html } from './html.ts';
import { pageReply, pageScript } from './page.ts';

/** Submits the secret in the fragment of the address, and removes it there. */
const moveSecret = pageScript(`
const secret = location.hash.slice(1);
if (secret !== '') {
  history.replaceState(null, '', location.pathname);
  const field = document.getElementById('token');
  field.value = secret;
  field.form.requestSubmit();
}
`);

/** The longest input that is read. */
const longestLink = 2048;

/** The page that a link opens. Without scripts, the user pastes the link. */
export function linkPage(page: FormPage, error?: FormError): Reply {
  return formReply(page, {
    title: 'Open your link',
    intro: html`<p>Paste the link that an administrator gave you.</p>`,
    error,
    form: html`<label for="token">Link</label>
<input id="token" name="token" type="text" autocomplete="off" autocapitalize="none" autocorrect="off" spellcheck="false"
 maxlength="${longestLink}" required autofocus${errorAttributes(error)}>
<button name="action" value="open">Continue</button>`,
    script: moveSecret,
  });
}

/** Who was invited, and to what. */
export interface Invited {
  readonly purpose: LinkPurpose;
  readonly name: string;
  readonly email: string;
  /** Names of teams. */
  readonly teams: readonly string[];
  /** Whether the sign-in policy allows them a password. */
  readonly mayUsePassword: boolean;
  /** The identity providers with which they may sign in from then on. */
  readonly providers: readonly Pick<IdentityProvider, 'id' | 'name'>[];
}

/** The page on which the user of a link chooses a password. */
export function choosePasswordPage(
  page: FormPage,
  token: string,
  invited: Invited,
  error?: FormError,
): Reply {
  const { purpose, name, email, teams, providers, mayUsePassword } = invited;
  const isNew = purpose === 'invitation';
  const places = teams.map((team, at) => html`${at === 0 ? '' : ', '}<strong>${team}</strong>`);
  const task = mayUsePassword
    ? html`Choose a password for <strong>${email}</strong>.${isNew ? '' : ' It signs you out everywhere else.'}`
    : providers.length > 0
      ? html`Choose how <strong>${email}</strong> signs in.`
      : html`The identity provider of <strong>${email}</strong> is disabled. Ask an administrator to enable it.`;
  return formReply(page, {
    title: isNew ? 'Accept your invitation' : 'Choose a new password',
    intro: html`<p>${isNew ? html`${name}, you are invited to ${places}. ` : undefined}${task}</p>`,
    error,
    form: html`<input type="hidden" name="token" value="${token}">
${mayUsePassword ? passwordFields(email, error) : undefined}
${providers.map(({ id, name }) => html`<button class="other" name="provider" value="${id}" formnovalidate>Continue with ${name}</button>`)}`,
  });
}

function passwordFields(email: string, error: FormError | undefined): Html {
  const wrong = errorAttributes(error);
  const { minCharacters } = passwordLength;
  return html`<input type="text" name="email" value="${email}" autocomplete="username" readonly hidden>
<label for="password">New password, at least ${minCharacters} characters</label>
<input id="password" name="password" type="password" autocomplete="new-password"
 minlength="${minCharacters}" required autofocus${wrong}>
<label for="again">New password again</label>
<input id="again" name="again" type="password" autocomplete="new-password"
 minlength="${minCharacters}" required${wrong}>
<button name="action" value="accept">Save and sign in</button>`;
}

/** The page that leads to a provider. A redirect in answer to a form would be subject to the `form-action` of the page. */
export function continueWithPage(
  provider: Pick<IdentityProvider, 'name'>,
  { email }: Pick<Invited, 'email'>,
  address: string,
  cookie: string,
): Reply {
  const title = `Continue with ${provider.name}`;
  return pageReply({
    status: 200,
    title,
    refresh: address,
    cookie,
    content: html`<h1>${title}</h1>
<p><strong>${email}</strong> will sign in with ${provider.name} from now on.</p>
<p><a class="button" href="${address}">${title}</a></p>`,
  });
}
