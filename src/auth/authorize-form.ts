import type { Reply, Request } from '../http/types.ts';
import { AuthorizationError, type AuthorizationRequest } from './authorization-request.ts';
import { errorReply } from './authorization-response.ts';
import { type AuthorizeSettings, answerWithCode, meantUser, standingOf } from './authorize.ts';
import { loginPage } from './pages/login-page.ts';
import { newPasswordPage } from './pages/new-password-page.ts';
import { formPage, type PostedForm, readPostedForm, signInByForm } from './sign-in-form.ts';
import { currentSignIn } from './sign-ins.ts';

/**
 * Answers the form of a page. It is posted to the address of the authorization request.
 * @throws {AuthorizationError}
 * @throws {OAuthError} `invalid_request` if the form cannot be read
 */
export async function answerForm(
  settings: AuthorizeSettings,
  request: Request,
  asked: AuthorizationRequest,
): Promise<Reply> {
  const posted = await readPostedForm(settings, request, asked);
  if ('reply' in posted) return posted.reply;
  switch (posted.form.get('action')) {
    case 'cancel':
      throw new AuthorizationError('access_denied', 'The user cancelled the sign-in', asked);
    case 'switch':
      return loginPage(formPage(settings, request, asked), '');
    case 'continue':
      return answerContinue(settings, posted, asked);
    default:
      return answerSignIn(settings, posted, asked);
  }
}

/** The sign-in may have ended since the page was shown. */
async function answerContinue(
  settings: AuthorizeSettings,
  { request, browser }: PostedForm,
  asked: AuthorizationRequest,
): Promise<Reply> {
  const standing = await standingOf(settings, asked, await currentSignIn(settings, browser));
  if (standing.next === 'new-password')
    return newPasswordPage(formPage(settings, request, asked), standing.signIn.user.email);
  if ('signIn' in standing) return answerWithCode(settings, asked, standing.signIn);
  return loginPage(formPage(settings, request, asked), asked.loginHint ?? '');
}

async function answerSignIn(
  settings: AuthorizeSettings,
  posted: PostedForm,
  asked: AuthorizationRequest,
): Promise<Reply> {
  const result = await signInByForm(settings, posted);
  if ('reply' in result) return result.reply;
  const meant = await meantUser(settings, asked);
  // The client requested the user of its id_token_hint, and accepts no other (OpenID Connect Core §3.1.2.1).
  const reply =
    meant === undefined || meant === result.signIn.user.id
      ? await answerWithCode(settings, asked, result.signIn)
      : errorReply(
          new AuthorizationError('login_required', 'The user is not the one in id_token_hint', asked),
          settings.issuer,
        );
  return { ...reply, headers: { ...reply.headers, 'set-cookie': result.cookie } };
}
