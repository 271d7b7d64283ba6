import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeAll, describe, expect, test } from 'vitest';
import { authDescription, authHost, pageTokens } from '../../src/auth/auth-host.ts';
import type { Group } from '../../src/http/endpoint.ts';
import { token } from '../support/binary.ts';
import { read } from '../support/conformance.ts';
import { brokenReferences, checkExamples } from '../support/openapi.ts';
import { opened } from '../support/opened.ts';
import { closed, departures, expectDocumented, openapi } from './conformance.ts';
import { openSignIn } from './sign-in-fixture.ts';
import type { Parameters } from './test-browser.ts';

const groups: readonly Group[] = [pageTokens, ...authHost, authDescription];
const declared = groups.flatMap(({ endpoints }) => endpoints);

describe('GET /connect/openapi.json', () => {
  test('the document of the auth host is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(openapi) as Record<string, unknown>);
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
  });

  test('the OpenAPI document of the auth host contains every endpoint except the preflight', () => {
    const routes = declared.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
    expect([...closed.operations.keys(), 'OPTIONS /connect/userinfo'].sort()).toEqual(routes.sort());
  });

  test('the OpenAPI document of the auth host has no dangling references', () => {
    expect(brokenReferences(openapi)).toEqual([]);
  });

  test('the OpenAPI document of the auth host contains examples that match the schemas', () => {
    const { wrong, seen } = checkExamples(closed);
    expect(wrong).toEqual([]);
    expect(seen).toBeGreaterThan(30);
  });

  test('the OpenAPI document of the auth host gives every operation a unique id', () => {
    const names = [...closed.operations.values()].map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(closed.operations.size);
  });
});

describe('expectDocumented', () => {
  const response = { status: 200, headers: { 'content-type': 'application/json', 'cache-control': 'no-store' } };

  test.each([
    ['a missing field', { ...response, text: '{"device_code":"x"}' }],
    ['an undocumented field', { ...response, text: '{"active":false,"why":"x"}' }],
    ['an undocumented status', { ...response, status: 418, text: '' }],
    ['a missing header', { ...response, headers: {}, text: '{"active":false}' }],
  ])('expectDocumented fails for a response with %s', (_, wrong) => {
    expect(departures('POST /connect/introspect', wrong)).not.toEqual([]);
  });
});

const fixture = opened(openSignIn);
let credentials: Parameters;
let access: string;
beforeAll(async () => {
  const { clientId: client_id, clientSecret: client_secret } = fixture.service.credentials;
  credentials = { client_id, client_secret };
  access = await token(fixture.service.http, fixture.service.credentials);
});

interface SentRequest {
  readonly form?: Parameters;
  readonly headers?: Record<string, string>;
}

const cli = { client_id: 'flagmeter-cli' };
const grant = { grant_type: 'client_credentials', scope: 'openid flagmeter' };
const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

describe('the auth host', () => {
  /** Covers responses over HTTP. The tests of the client endpoints check other responses against the document. */
  test.each<[status: number, name: string, sent: () => SentRequest]>([
    [200, 'POST /connect/token', () => ({ form: { ...grant, ...credentials } })],
    [400, 'POST /connect/token', () => ({ form: { scope: 'openid' } })],
    [401, 'POST /connect/token', () => ({ form: { ...grant, ...credentials, client_secret: 'wrong' } })],
    [401, 'POST /connect/token', () => ({ form: grant, headers: { authorization: 'Basic eDp5' } })],
    [413, 'POST /connect/token', () => ({ form: { ...grant, scope: 'x'.repeat(20_000) } })],
    [200, 'POST /connect/revocation', () => ({ form: { ...credentials, token: 'unknown' } })],
    [400, 'POST /connect/revocation', () => ({ form: credentials })],
    [200, 'POST /connect/introspect', () => ({ form: { ...credentials, token: access } })],
    [200, 'POST /connect/introspect', () => ({ form: { ...credentials, token: 'unknown' } })],
    [401, 'POST /connect/introspect', () => ({ form: { ...cli, token: access } })],
    [200, 'POST /connect/deviceauthorization', () => ({ form: { ...cli, scope: 'openid' } })],
    [400, 'POST /connect/deviceauthorization', () => ({ form: { ...cli, scope: 'email' } })],
    [401, 'GET /connect/userinfo', () => ({ headers: bearer('rubbish') })],
    [403, 'GET /connect/userinfo', () => ({ headers: bearer(access) })],
    [400, 'POST /connect/userinfo', () => ({ form: { access_token: access }, headers: bearer(access) })],
    [403, 'POST /connect/userinfo', () => ({ form: { access_token: access } })],
    [200, 'GET /.well-known/openid-configuration', () => ({})],
    [200, 'GET /.well-known/oauth-authorization-server', () => ({})],
    [200, 'GET /.well-known/jwks.json', () => ({})],
    [304, 'GET /.well-known/jwks.json', () => ({ headers: { 'if-none-match': '*' } })],
    [400, 'GET /connect/authorize', () => ({})],
    [400, 'POST /connect/authorize', () => ({ headers: { 'content-type': 'text/plain' } })],
    [303, 'POST /connect/authorize', () => ({ form: { client_id: 'x' } })],
    [200, 'GET /connect/invitation', () => ({})],
    [403, 'POST /connect/invitation', () => ({ form: { token: 'x' } })],
    [200, 'GET /connect/device', () => ({})],
    [404, 'GET /connect/device?user_code=BCDF-GHJK', () => ({})],
    [404, 'POST /connect/device?user_code=BCDF-GHJK', () => ({ form: {} })],
    [200, 'GET /connect/endsession', () => ({})],
    [400, 'GET /connect/endsession?id_token_hint=x', () => ({})],
    [401, 'GET /connect/endsession', () => ({ headers: bearer('rubbish') })],
    [204, 'POST /connect/endsession', () => ({ headers: bearer(access) })],
    [200, 'GET /connect/openapi.json', () => ({})],
  ])('the auth host responds with %i to %s as documented', async (status, name, sent) => {
    const [method = '', target = ''] = name.split(' ');
    const { form, headers = {} } = sent();
    const body = form && new URLSearchParams(form as Record<string, string>);
    const response = await fetch(`http://${fixture.service.http}${target}`, {
      method,
      headers,
      redirect: 'manual',
      ...(body && { body }),
    });
    const answered = await read(response);
    expect(answered.status, answered.text).toBe(status);
    expectDocumented(name.split('?')[0]!, answered);
  });

  test('the auth host responds with 200 and 303 to GET /connect/authorize as documented', async () => {
    for (const parameters of [{}, { prompt: 'none' }]) {
      const url = `http://${fixture.service.http}${fixture.target(parameters)}`;
      expectDocumented('GET /connect/authorize', await read(await fetch(url, { redirect: 'manual' })));
    }
  });
});
