import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

export type Key = Awaited<ReturnType<typeof newKey>>;

export async function newKey(kid: string, alg = 'ES256') {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

type Fields = Readonly<Record<string, unknown>>;

/** Changes to a provider that otherwise responds correctly. */
export interface Behaviour {
  /** Claims of the ID token, which are added to the usual claims or replace them; `null` omits a claim. */
  claims: Fields;
  userInfo: Fields;
  /** Fields of the discovery document. */
  metadata: Fields;
  /** Parameters of the redirect; `undefined` omits a parameter. */
  redirect: Readonly<Record<string, string | undefined>>;
  /** Makes the ID token. By default, the first key signs it. */
  token: ((claims: JWTPayload) => Promise<string> | string) | undefined;
  /** Handlers by path, which respond in place of the provider. */
  responses: Readonly<Record<string, (response: ServerResponse) => void>>;
  /** The published keys. */
  keys: readonly Key[];
}

export interface OwnProvider {
  readonly issuer: string;
  readonly key: Key;
  readonly behaviour: Behaviour;
  /** The paths requested so far, without queries. */
  readonly requested: string[];
  /** The queries of the authorization requests. */
  readonly asked: URLSearchParams[];
  reset(): void;
  /** Signs the usual claims and the given claims. */
  sign(claims: Fields, typ: string, key?: Key): Promise<string>;
  close(): Promise<void>;
}

export const clientId = 'flagmeter';
export const clientSecret = 'a secret of the client';

/** Starts a small OpenID provider, which always signs in the same person. @param now its clock, Unix ms */
export async function startOwnProvider(now: () => number): Promise<OwnProvider> {
  const key = await newKey('first');
  const usual = (): Behaviour => ({
    claims: {},
    userInfo: {},
    metadata: {},
    redirect: {},
    token: undefined,
    responses: {},
    keys: [key],
  });
  const behaviour = usual();
  const requested: string[] = [];
  const asked: URLSearchParams[] = [];
  const codes = new Map<string, URLSearchParams>();
  let count = 0;

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', issuer);
    requested.push(url.pathname);
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const own = behaviour.responses[url.pathname];
    if (own !== undefined) return own(response);
    const json = (value: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return json({ ...createMetadata(issuer), ...behaviour.metadata });
      case '/jwks':
        return json({ keys: behaviour.keys.map(({ publicJwk }) => publicJwk) });
      case '/authorize':
        return response.writeHead(303, { location: authorize(url.searchParams) }).end();
      case '/token': {
        const asked = take(new URLSearchParams(body).get('code') ?? '');
        if (asked === undefined) return json({ error: 'invalid_grant', error_description: '<b>no</b>' }, 400);
        const idToken = await idTokenFor(asked);
        return json({ access_token: 'access', token_type: 'Bearer', expires_in: 60, id_token: idToken });
      }
      case '/userinfo':
        return json({ sub: 'ada', ...behaviour.userInfo });
      default:
        return json({}, 404);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function authorize(query: URLSearchParams): string {
    count += 1;
    const code = `code-${count}`;
    codes.set(code, query);
    asked.push(query);
    const back = new URL(query.get('redirect_uri')!);
    const sent = { code, state: query.get('state')!, iss: issuer, ...behaviour.redirect };
    for (const [name, value] of Object.entries(sent)) if (value !== undefined) back.searchParams.set(name, value);
    return back.href;
  }
  function take(code: string): URLSearchParams | undefined {
    const query = codes.get(code);
    codes.delete(code);
    return query;
  }
  const claimsWith = (claims: Fields): JWTPayload => {
    const seconds = Math.floor(now() / 1000);
    const all = { iss: issuer, aud: clientId, sub: 'ada', iat: seconds, exp: seconds + 300, ...claims };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
  };
  const signed = (claims: JWTPayload, typ: string, { alg, kid, privateKey }: Key) =>
    new SignJWT(claims).setProtectedHeader({ alg, kid, typ }).sign(privateKey);
  function idTokenFor(query: URLSearchParams): Promise<string> | string {
    const usual = { sid: 'session-1', email: 'ada@corp.example', email_verified: true };
    const asked = query.has('max_age') && { auth_time: Math.floor(now() / 1000) };
    const claims = claimsWith({ ...usual, ...asked, nonce: query.get('nonce'), ...behaviour.claims });
    return behaviour.token?.(claims) ?? signed(claims, 'JWT', key);
  }
  return {
    issuer,
    key,
    behaviour,
    requested,
    asked,
    reset: () => void Object.assign(behaviour, usual()),
    sign: (claims, typ, by = key) => signed(claimsWith(claims), typ, by),
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function createMetadata(issuer: string): Fields {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    userinfo_endpoint: `${issuer}/userinfo`,
    end_session_endpoint: `${issuer}/logout`,
    response_types_supported: ['code'],
    id_token_signing_alg_values_supported: ['ES256', 'none', 'HS256'],
    authorization_response_iss_parameter_supported: true,
    backchannel_logout_supported: true,
  };
}
