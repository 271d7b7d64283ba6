import { Refusal } from '../../../contract/errors.ts';
import type { HttpResponse, Request } from '../../../http/types.ts';
import type { IdentityProvider } from '../../../storage/lmdb/auth-records.ts';
import { BrowserCookie } from '../../cookies/browser.ts';
import { type CountedAttempt, countAddress, uncountAttempt } from '../../factors/login-throttle.ts';
import { consoleClientId, findClient } from '../../oauth/clients.ts';
import { parseForm } from '../../oauth/forms.ts';
import { readUserAgent } from '../../oauth/record-sign-in.ts';
import { currentSignIn } from '../../oauth/sign-ins.ts';
import { type Attempt, attemptCookie, startLink } from '../../sso/attempt.ts';
import { type ProviderIdentity, readIdentity } from '../../sso/claims.ts';
import { enter, linkAccount } from '../../sso/enter.ts';
import { ProviderRefusal } from '../../sso/provider-refusal.ts';
import { buildProviderUrls } from '../../sso/providers.ts';
import type { SsoServices } from '../../sso/services.ts';
import { providerFailurePage, staleAttemptPage } from '../pages/provider-pages.ts';
import { continuation } from './start.ts';

/** Maximum number of providers' responses that are checked concurrently. Each check waits for the provider. */
const mostAtOnce = 50;
let checking = 0;

/**
 * Handles the return of a browser from a provider (OpenID Connect Core §3.1.2.5).
 * @throws {Refusal} `backpressure`, `store_unavailable`, `postgres_unavailable`
 */
export async function finishSso(
  services: SsoServices,
  request: Request,
  provider: IdentityProvider,
): Promise<HttpResponse> {
  const cookie = attemptCookie(services);
  const state = parseForm(request.query).get('state') ?? '';
  const attempt = cookie.read(request, state, services.clock.now());
  // Refuses a sign-in that this browser has not started, or has started with another provider (RFC 9700 §4.4).
  if (attempt === undefined || attempt.provider !== provider.id) return staleAttemptPage();
  if (checking >= mostAtOnce) throw new Refusal('backpressure', 'Many users are signing in', 1);
  checking += 1;
  try {
    const response = await handleCallback(services, request, provider, attempt);
    return { ...response, cookies: [...(response.cookies ?? []), cookie.remove(state)] };
  } finally {
    checking -= 1;
  }
}

async function handleCallback(
  services: SsoServices,
  request: Request,
  provider: IdentityProvider,
  attempt: Attempt,
): Promise<HttpResponse> {
  let email: string | null = null;
  try {
    const { identity, idToken, counted } = await prove(services, request, provider, attempt);
    ({ email } = identity);
    const response = await signInAs(services, request, { provider, attempt, identity, idToken });
    await uncountAttempt(services, counted);
    return response;
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error;
    return refuse(services, request, { provider, attempt, email, refusal: error });
  }
}

/**
 * Checks a provider's response. Counts failures per address, because each failure costs a request and an audit log
 * entry.
 */
async function prove(
  services: SsoServices,
  request: Request,
  provider: IdentityProvider,
  attempt: Attempt,
): Promise<Pick<Proven, 'identity' | 'idToken'> & { readonly counted: CountedAttempt }> {
  const { redirectUri } = buildProviderUrls(services.issuer, provider);
  const counted = await countAddress(services, request.remoteAddress);
  if (counted.wait > 0)
    throw new Refusal('rate_limited', 'Too many sign-ins from this network have failed', counted.wait);
  const checked = await services.providerClient.exchange(provider, { ...attempt, redirectUri }, request.query);
  const identity = await readIdentity(provider, checked);
  return { identity, idToken: checked.idToken, counted };
}

interface Proven {
  readonly provider: IdentityProvider;
  readonly attempt: Attempt;
  readonly identity: ProviderIdentity;
  readonly idToken: string;
}

async function signInAs(services: SsoServices, request: Request, proven: Proven): Promise<HttpResponse> {
  const { attempt, ...account } = proven;
  const cookie = new BrowserCookie(services.issuer);
  const browser = cookie.read(request);
  const address = request.remoteAddress;
  const headers = {
    location: destination(services, attempt),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  };
  if (attempt.linkTo !== undefined) {
    const signIn = await currentSignIn(services, browser);
    // Only the sign-in that requested the link can complete it.
    if (signIn?.key !== attempt.linkTo) throw new ProviderRefusal('sign_in_over');
    await linkAccount(services, signIn, { ...account, address });
    return { status: 303, headers };
  }
  const renewed = await enter(services, {
    ...account,
    browser,
    address,
    link: attempt.link,
    // The console is passed instead of the requested client. The next page checks if the user may use that client.
    client: findClient(services.directory, consoleClientId)!,
    userAgent: readUserAgent(request),
  });
  return { status: 303, headers, cookies: [cookie.write(renewed)] };
}

function destination({ audience }: SsoServices, attempt: Attempt): string {
  if (attempt.link !== undefined) return `${audience}/console/sign-in`;
  return attempt.linkTo === undefined ? continuation(attempt) : `${audience}/settings/you`;
}

interface RefusedAttempt extends Pick<Proven, 'provider' | 'attempt'> {
  /** The e-mail address from the provider; `null` if the refusal came before the address was known. */
  readonly email: string | null;
  readonly refusal: ProviderRefusal;
}

async function refuse(
  { directory }: SsoServices,
  { remoteAddress: address }: Request,
  { provider, attempt, email, refusal }: RefusedAttempt,
): Promise<HttpResponse> {
  const proof = { factors: ['provider'], provider: provider.name, reason: refusal.code } as const;
  const target = { type: 'user', id: '', name: email ?? '' };
  await directory.under({ address }).change((tx) => tx.note('sign-in.refused', null, target, proof));
  const isLink = (attempt.link ?? attempt.linkTo) !== undefined;
  const again = isLink ? attempt.page : startLink(provider, attempt.page, attempt.query);
  return providerFailurePage(provider.name, refusal, `../../${again}`);
}
