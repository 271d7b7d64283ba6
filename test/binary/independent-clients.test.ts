import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { beforeAll, describe, expect, test } from 'vitest';
import { TestBrowser } from '../auth/test-browser.ts';
import {
  type Binary,
  type Credentials,
  freshDirectory,
  manage,
  prepare,
  startBinary,
  token,
} from '../support/binary.ts';

/** The auth host of the executable with third-party OAuth clients. Each client is used as its documentation says. */

const redirectUri = 'https://shop.example/callback';
const scope = 'openid email flagmeter';

interface RegisteredClient {
  readonly clientId: string;
  readonly clientSecret: string;
}

let service: Binary;
let issuer: URL;
let first: Credentials;
let shop: RegisteredClient;

beforeAll(async () => {
  const data = `${freshDirectory()}/data`;
  first = await prepare(data);
  service = await startBinary({ data });
  issuer = new URL(`http://${service.http}`);
  const access = await token(service.http, first);
  const body = { name: 'Shop', type: 'confidential', redirectUris: [redirectUri] };
  const path = `/api/v2/teams/${first.teamId}/clients`;
  shop = (await manage(service.http, access, 'POST', path, 201, body)) as RegisteredClient;
});

/** Signs in as the administrator. @returns the address that the browser is redirected to */
async function signIn(authorize: URL): Promise<URL> {
  const browser = new TestBrowser(service.http, '127.0.0.1');
  await browser.open(`${authorize.pathname}${authorize.search}`);
  const page = await browser.submit({ email: first.adminEmail, password: first.adminPassword, action: 'sign-in' });
  if (page.location === undefined) throw new Error(`not signed in: ${page.status} ${page.error}`);
  return page.location;
}

/** Returns the status of a management API request with an access token. */
async function requestStatus(accessToken: string): Promise<number> {
  const headers = { authorization: `Bearer ${accessToken}` };
  const response = await fetch(new URL('/api/v2/applications', issuer), { headers });
  await response.arrayBuffer();
  return response.status;
}

describe('openid-client', () => {
  const discover = (client: RegisteredClient) =>
    openid.discovery(issuer, client.clientId, client.clientSecret, undefined, {
      execute: [openid.allowInsecureRequests],
    });

  test('openid-client obtains a token with client credentials', async () => {
    const tokens = await openid.clientCredentialsGrant(await discover(first), { scope: 'openid flagmeter' });
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'openid flagmeter' });
    expect(tokens.refresh_token).toBeUndefined();
    expect(await requestStatus(tokens.access_token)).toBe(200);
  });

  test('openid-client signs a user in with a code, reads userinfo, and refreshes, introspects and revokes tokens', async () => {
    const config = await discover(shop);
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const expected = { expectedState: openid.randomState(), expectedNonce: openid.randomNonce() };
    const authorize = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expected.expectedState,
      nonce: expected.expectedNonce,
    });
    const back = await signIn(authorize);
    const tokens = await openid.authorizationCodeGrant(config, back, { pkceCodeVerifier, ...expected });
    const claims = tokens.claims();
    expect(claims).toMatchObject({ aud: shop.clientId, email: first.adminEmail });
    expect(claims?.auth_time).toBeTypeOf('number');

    const user = await openid.fetchUserInfo(config, tokens.access_token, claims?.sub ?? '');
    expect(user).toMatchObject({ sub: claims?.sub, email: first.adminEmail });

    const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect([await requestStatus(tokens.access_token), await requestStatus(refreshed.access_token)]).toEqual([401, 200]);

    const introspect = (text: string) => openid.tokenIntrospection(config, text);
    expect(await introspect(refreshed.access_token)).toMatchObject({ active: true, sub: claims?.sub });
    expect(await introspect(tokens.access_token)).toEqual({ active: false });

    await openid.tokenRevocation(config, refreshed.refresh_token ?? '');
    expect(await introspect(refreshed.access_token)).toEqual({ active: false });
    expect(await requestStatus(refreshed.access_token)).toBe(401);
    await expect(openid.refreshTokenGrant(config, refreshed.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });
});

describe('oauth4webapi', () => {
  const insecure = { [oauth.allowInsecureRequests]: true };

  async function discover(algorithm: 'oidc' | 'oauth2'): Promise<oauth.AuthorizationServer> {
    const response = await oauth.discoveryRequest(issuer, { algorithm, ...insecure });
    return oauth.processDiscoveryResponse(issuer, response);
  }

  test.each(['oidc', 'oauth2'] as const)('oauth4webapi gets a client token by %s discovery', async (by) => {
    const server = await discover(by);
    const client = { client_id: first.clientId };
    const response = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      oauth.ClientSecretBasic(first.clientSecret),
      { scope: 'openid flagmeter' },
      insecure,
    );
    const tokens = await oauth.processClientCredentialsResponse(server, client, response);
    expect(await requestStatus(tokens.access_token)).toBe(200);
  });

  test('oauth4webapi validates an access token according to RFC 9068', async () => {
    const server = await discover('oauth2');
    const access = await token(service.http, first);
    const request = new Request('http://resource.example', { headers: { authorization: `Bearer ${access}` } });
    const claims = await oauth.validateJwtAccessToken(server, request, issuer.origin, insecure);
    expect(claims).toMatchObject({ sub: first.clientId, client_id: first.clientId, team: [first.teamId] });
  });

  test('oauth4webapi signs a user in with a code, reads userinfo, and refreshes, introspects and revokes tokens', async () => {
    const server = await discover('oidc');
    const client = { client_id: shop.clientId };
    const secret = oauth.ClientSecretPost(shop.clientSecret);
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const nonce = oauth.generateRandomNonce();
    const authorize = new URL(server.authorization_endpoint ?? '');
    authorize.search = new URLSearchParams({
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: redirectUri,
      scope,
      state,
      nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }).toString();
    const back = oauth.validateAuthResponse(server, client, await signIn(authorize), state);
    const response = await oauth.authorizationCodeGrantRequest(
      ...([server, client, secret, back, redirectUri, verifier, insecure] as const),
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: nonce,
      requireIdToken: true,
    });
    await oauth.validateApplicationLevelSignature(server, response, insecure);
    const { sub = '' } = oauth.getValidatedIdTokenClaims(tokens) ?? {};

    const userinfo = await oauth.userInfoRequest(server, client, tokens.access_token, insecure);
    expect(await oauth.processUserInfoResponse(server, client, sub, userinfo)).toMatchObject({
      email: first.adminEmail,
    });

    const refresh = () => oauth.refreshTokenGrantRequest(server, client, secret, tokens.refresh_token ?? '', insecure);
    const refreshed = await oauth.processRefreshTokenResponse(server, client, await refresh());
    expect([await requestStatus(tokens.access_token), await requestStatus(refreshed.access_token)]).toEqual([401, 200]);

    const introspect = async () => {
      const request = oauth.introspectionRequest(server, client, secret, refreshed.access_token, insecure);
      return oauth.processIntrospectionResponse(server, client, await request);
    };
    expect(await introspect()).toMatchObject({ active: true, client_id: shop.clientId });
    const revocation = await oauth.revocationRequest(
      ...([server, client, secret, refreshed.access_token, insecure] as const),
    );
    await oauth.processRevocationResponse(revocation);
    expect(await introspect()).toEqual({ active: false });
    expect(await requestStatus(refreshed.access_token)).toBe(401);
    await expect(oauth.processRefreshTokenResponse(server, client, await refresh())).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });
});
