import Type from 'typebox';
import { text } from '../../../contract/shapes/fields.ts';
import type { Endpoint } from '../../../http/endpoint.ts';
import type { Handler, HttpResponse, Request } from '../../../http/types.ts';
import type { IdentityProvider } from '../../../storage/lmdb/auth-records.ts';
import { AuthorizationError, UnknownReturnAddress } from '../../oauth/authorization-request.ts';
import { OAuthError, oauthErrorResponse, oauthRefusal } from '../../oauth/oauth-error.ts';
import { ProviderRefusal } from '../../sso/provider-refusal.ts';
import type { SsoServices } from '../../sso/services.ts';
import { pageEndpoint } from '../forms/page-endpoints.ts';
import { failurePage, refusalPage } from '../pages/failure-page.ts';
import { providerFailurePage, unknownProviderPage } from '../pages/provider-pages.ts';
import { finishSso } from './callback.ts';
import { handleSignedOut, logOutFromProvider } from './logout.ts';
import { startParameters, startSso } from './start.ts';

const access = { credential: 'No credentials, or the cookie of the attempt', who: 'Anyone with a browser' };

const responses = {
  400: 'An error page: the request is malformed, or this browser has not started the sign-in.',
  403: 'An error page with the reason code: the provider or this service refuses the sign-in.',
  404: 'An error page: there is no such provider, or it is disabled.',
  503: 'An error page: the provider cannot be reached.',
};

/** The endpoints that a browser visits on the way to a provider and back. */
export const ssoPages: readonly Endpoint<SsoServices>[] = [
  pageEndpoint('GET /connect/providers/:id/start', access, {
    operationId: 'startProviderSignIn',
    summary: 'Sign in a user with an identity provider',
    query: startParameters,
    responses: { ...responses, 303: 'Redirect to the provider.' },
    bind: (services) => withProvider(services, startSso),
  }),
  pageEndpoint('GET /connect/providers/:id/callback', access, {
    operationId: 'finishProviderSignIn',
    summary: 'Receive the response of an identity provider',
    description: 'The redirect URI of the provider (OpenID Connect Core §3.1.2.5).',
    query: Type.Object({
      state: Type.Optional(text('The state of the attempt.')),
      code: Type.Optional(text('The authorization code.')),
      iss: Type.Optional(text('The issuer of the response (RFC 9207).')),
      error: Type.Optional(text('The error code, if the provider refuses.')),
    }),
    responses: {
      ...responses,
      303: 'Redirect to the page that started the sign-in.',
      429: 'An error page: too many sign-ins have failed.',
    },
    bind: (services) => withProvider(services, finishSso),
  }),
  pageEndpoint('GET /connect/signed-out', access, {
    operationId: 'finishProviderSignOut',
    summary: 'Receive a user who has signed out of an identity provider',
    query: Type.Object({ state: Type.Optional(text('The state of the sign-out.')) }),
    responses: {
      200: 'A page that confirms the sign-out.',
      303: 'Redirect to the client that requested the sign-out.',
      400: 'An error page: the request is malformed.',
    },
    bind: (services) => async (request) => {
      try {
        return handleSignedOut(services, request);
      } catch (error) {
        return refusalPage(error);
      }
    },
  }),
];

const logoutForm = Type.Object({ logout_token: text('The logout token.') });

/** `POST /connect/providers/{id}/logout`: a provider ends sign-ins (OpenID Connect Back-Channel Logout 1.0 §2.5). */
export const backChannelLogout: Endpoint<SsoServices> = {
  method: 'POST',
  path: '/connect/providers/:id/logout',
  access: { credential: 'Logout token', who: 'The identity provider' },
  operation: {
    operationId: 'endProviderSignIns',
    summary: 'End the sign-ins of a session at an identity provider',
    security: [],
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
    body: { 'application/x-www-form-urlencoded': { schema: logoutForm } },
    responses: {
      200: { description: 'The sign-ins and their sessions are ended.', headers: {} },
      400: oauthRefusal('The logout token is not valid.', { invalid_request: 'The logout token was used before' }),
    },
  },
  bind: (services) => async (request, params) => {
    const provider = enabledProvider(services, params['id']);
    try {
      if (provider === undefined) throw new OAuthError('invalid_request', 'There is no such identity provider');
      return await logOutFromProvider(services, request, provider);
    } catch (error) {
      if (error instanceof OAuthError) return oauthErrorResponse(error);
      throw error;
    }
  },
};

function enabledProvider({ providers }: SsoServices, id = ''): IdentityProvider | undefined {
  const provider = providers.find(id);
  return provider?.enabled ? provider : undefined;
}

function withProvider(
  services: SsoServices,
  handle: (services: SsoServices, request: Request, provider: IdentityProvider) => Promise<HttpResponse>,
): Handler {
  return async (request, params) => {
    const provider = enabledProvider(services, params['id']);
    if (provider === undefined) return unknownProviderPage();
    try {
      return await handle(services, request, provider);
    } catch (error) {
      if (error instanceof ProviderRefusal) return providerFailurePage(provider.name, error, `?${request.query}`);
      if (error instanceof AuthorizationError || error instanceof UnknownReturnAddress)
        return failurePage(400, error.message);
      return refusalPage(error);
    }
  };
}
