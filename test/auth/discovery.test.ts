import { createLocalJWKSet, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { discoveryEndpoints, discoveryOfPath, jwksEndpoint } from '../../src/auth/discovery.ts';
import { openSigningKeys } from '../../src/auth/oauth/key-ring.ts';
import { createRouter } from '../../src/http/router.ts';
import { bind } from './bind.ts';
import { send } from './fixture.ts';
import { algorithms, openForgery } from './forgery.ts';

const forgeries = await Promise.all(algorithms.map(openForgery));

test.each(forgeries)(
  'the discovery document of a service that signs with $alg lists all endpoints and features',
  async ({ alg, settings }) => {
    const dispatch = createRouter(bind(discoveryEndpoints, { ...settings, serviceScope: 'flags' }));
    const response = await send(dispatch, '/.well-known/openid-configuration');
    expect(response.status).toBe(200);
    expect(response.headers).toMatchObject({ 'content-type': 'application/json', 'access-control-allow-origin': '*' });
    expect(response.json).toMatchObject({
      issuer: 'https://auth.example',
      token_endpoint: 'https://auth.example/connect/token',
      jwks_uri: 'https://auth.example/.well-known/jwks.json',
      scopes_supported: ['openid', 'email', 'flags'],
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      id_token_signing_alg_values_supported: [alg],
      request_uri_parameter_supported: false,
    });
    for (const [name, value] of Object.entries(response.json)) {
      if (/_endpoint$|_uri$/.test(name)) expect(value).toMatch(/^https:\/\/auth\.example\/[\w./-]+$/);
    }
    expect(await send(dispatch, '/.well-known/oauth-authorization-server')).toEqual(response);
  },
);

test('the discovery document of an issuer with a path is served at every standard location', async () => {
  const [{ settings }] = forgeries as [(typeof forgeries)[0]];
  const issuer = 'https://example.com/auth';
  const deps = { ...settings, issuer, serviceScope: 'flags' };
  const dispatch = createRouter([...bind(discoveryEndpoints, deps), ...discoveryOfPath(deps)]);
  for (const path of ['openid-configuration', 'oauth-authorization-server', 'oauth-authorization-server/auth']) {
    const { status, json } = await send(dispatch, `/.well-known/${path}`);
    expect([status, json.issuer, json.token_endpoint]).toEqual([200, issuer, `${issuer}/connect/token`]);
  }
});

test('the keys in the JWKS verify the tokens of each algorithm, and contain only public parts', async () => {
  const keys = openSigningKeys(forgeries.map(({ key }) => key));
  const dispatch = createRouter(bind([jwksEndpoint], { keys }));
  const { json, headers } = await send(dispatch, '/.well-known/jwks.json');
  expect(headers).toMatchObject({ 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=60' });
  const members: Record<string, string[]> = {
    ES256: ['kty', 'crv', 'x', 'y'],
    RS256: ['kty', 'n', 'e'],
    EdDSA: ['kty', 'crv', 'x'],
  };
  for (const [at, { alg, settings, sign, claims }] of forgeries.entries()) {
    expect(Object.keys(json.keys[at])).toEqual([...members[alg]!, 'kid', 'alg', 'use']);
    const { payload } = await jwtVerify(sign(), createLocalJWKSet(json), {
      algorithms: [alg],
      currentDate: new Date(settings.clock.now()),
    });
    expect(payload).toEqual(claims);
  }
  expect(Buffer.from(json.keys[1].n, 'base64url').length).toBeGreaterThanOrEqual(256);
});

test('a cache with the current JWKS gets 304 until another key is published', async () => {
  const [{ key: first }, { key: second }] = forgeries as [(typeof forgeries)[0], (typeof forgeries)[0]];
  let keys = openSigningKeys([first]);
  const dispatch = createRouter(
    bind([jwksEndpoint], {
      keys: {
        ...keys,
        get published() {
          return keys.published;
        },
      },
    }),
  );
  const ask = (etag = '') => send(dispatch, '/.well-known/jwks.json', { headers: { 'if-none-match': etag } });
  const { etag = '' } = (await ask()).headers;
  for (const tag of [etag, `W/${etag}`, `"x", ${etag}`])
    expect(await ask(tag)).toMatchObject({ status: 304, text: '', headers: { etag } });
  keys = openSigningKeys([second, first]);
  const changed = await ask(etag);
  expect(changed).toMatchObject({ status: 200, json: { keys: [{ kid: second.kid }, { kid: first.kid }] } });
  expect(changed.headers['etag']).not.toBe(etag);
});
