import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../src/contract/errors.ts';
import { RequestIds } from '../../src/http/request-ids.ts';
import { createRouter } from '../../src/http/router.ts';
import { DisconnectError, type Handler, type HttpResponse, type Route } from '../../src/http/types.ts';
import { fakeRequest } from './support/fake-request.ts';

const respond =
  (name: string): Handler =>
  (_, params) => ({ status: 200, body: JSON.stringify({ name, ...params }) });

const route = (method: Route['method'], path: string): Route => ({
  method,
  path,
  handle: respond(`${method} ${path}`),
});

const routes = [
  route('POST', '/api/telemetry'),
  route('GET', '/users/me'),
  route('GET', '/users/:id'),
  route('PATCH', '/users/:user'),
  route('GET', '/users/:id/keys'),
  route('GET', '/users/:id/keys/:key'),
  route('DELETE', '/:any/fixed/:last'),
  route('GET', '/'),
];
const dispatch = createRouter(routes);
const ask = (method: string, path: string) => dispatch(fakeRequest({ method, path })) as HttpResponse;
const parseBody = (response: HttpResponse) => JSON.parse(response.body as string);

describe('createRouter', () => {
  it.each([
    ['GET', '/', { name: 'GET /' }],
    ['POST', '/api/telemetry', { name: 'POST /api/telemetry' }],
    ['GET', '/users/me', { name: 'GET /users/me' }],
    ['GET', '/users/you', { name: 'GET /users/:id', id: 'you' }],
    ['HEAD', '/users/you', { name: 'GET /users/:id', id: 'you' }],
    ['PATCH', '/users/you', { name: 'PATCH /users/:user', user: 'you' }],
    ['GET', '/users/a/keys', { name: 'GET /users/:id/keys', id: 'a' }],
    ['GET', '/users/me/keys/k', { name: 'GET /users/:id/keys/:key', id: 'me', key: 'k' }],
    ['DELETE', '/users/fixed/x', { name: 'DELETE /:any/fixed/:last', any: 'users', last: 'x' }],
  ])('createRouter finds the route for %s %s', (method, path, expected) => {
    expect(parseBody(ask(method, path))).toEqual(expected);
  });

  it.each(['', '/users', '/users/', '/users//keys', '/users/a/keys/', '//', '/api/telemetry/', '/__proto__'])(
    'createRouter finds no route for %j',
    (path) => {
      const response = ask('GET', path);
      expect([response.status, parseBody(response).code]).toEqual([404, 'not_found']);
    },
  );

  it.each([
    ['GET', '/api/telemetry', 'POST, OPTIONS'],
    ['DELETE', '/users/me', 'GET, HEAD, OPTIONS'],
    ['POST', '/users/you', 'GET, PATCH, HEAD, OPTIONS'],
    ['get', '/users/you', 'GET, PATCH, HEAD, OPTIONS'],
    ['__proto__', '/', 'GET, HEAD, OPTIONS'],
  ])('createRouter refuses %s %s and returns the allowed methods', (method, path, allow) => {
    const response = ask(method, path);
    expect([response.status, parseBody(response).code, response.headers?.['allow']]).toEqual([
      405,
      'method_not_allowed',
      allow,
    ]);
  });

  it('createRouter responds to OPTIONS with the allowed methods', () => {
    expect(ask('OPTIONS', '/users/you')).toEqual({ status: 204, headers: { allow: 'GET, PATCH, HEAD, OPTIONS' } });
  });

  it('createRouter passes an OPTIONS request to an OPTIONS route', () => {
    const own = createRouter([route('POST', '/x'), route('OPTIONS', '/x')]);
    expect(parseBody(own(fakeRequest({ method: 'OPTIONS', path: '/x' })) as HttpResponse)).toEqual({
      name: 'OPTIONS /x',
    });
    expect((own(fakeRequest({ method: 'GET', path: '/x' })) as HttpResponse).headers?.['allow']).toBe('POST, OPTIONS');
  });

  it('createRouter refuses OPTIONS for a route with noOptions', () => {
    const none = createRouter([{ ...route('POST', '/x'), noOptions: true }]);
    const response = none(fakeRequest({ method: 'OPTIONS', path: '/x' })) as HttpResponse;
    expect([response.status, response.headers?.['allow']]).toEqual([405, 'POST']);
  });

  it('createRouter decodes any percent-encoded path parameter', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (id) => {
        expect(parseBody(ask('GET', `/users/${encodeURIComponent(id)}/keys`))).toMatchObject({ id });
      }),
    );
  });

  it.each(['%', '%4', '%zz', '%ff', '%c3', '%ed%a0%80'])('createRouter refuses the path parameter %s', (id) => {
    const response = ask('GET', `/users/${id}`);
    expect([response.status, parseBody(response).code]).toEqual([400, 'invalid_path']);
  });

  it('createRouter rejects two routes for one method and path', () => {
    const twice = [route('GET', '/users/:id'), route('GET', '/users/:user')];
    expect(() => createRouter(twice)).toThrow('Cannot route GET /users/:user: already routed');
  });
});

describe('handler', () => {
  const failures: unknown[] = [];
  const run = (handle: Handler) => {
    failures.length = 0;
    const router = createRouter([{ method: 'GET', path: '/', handle }], { failed: (error) => failures.push(error) });
    return router(fakeRequest({ method: 'GET', path: '/' }));
  };
  const failing = (error: unknown): [string, Handler][] => [
    [
      'throws',
      () => {
        throw error;
      },
    ],
    ['rejects', () => Promise.reject(error)],
  ];

  it('the router returns the response of a synchronous handler synchronously', () => {
    const response = { status: 202 };
    expect(run(() => response)).toBe(response);
  });

  it.each(failing(new Refusal('rate_limited', 'Wait', 1.2)))(
    'a handler that %s with a refusal causes a response with a problem document',
    async (_, handle) => {
      const response = await run(handle);
      expect(response.headers).toEqual({ 'content-type': 'application/problem+json', 'retry-after': '2' });
      expect([response.status, parseBody(response)]).toMatchObject([429, { code: 'rate_limited', detail: 'Wait' }]);
      expect(failures).toEqual([]);
    },
  );

  it.each(failing(new Error('cause')))(
    'a handler that %s with any other error causes a 500 response, and the error is reported',
    async (_, handle) => {
      const response = await run(handle);
      expect([response.status, parseBody(response).code]).toEqual([500, 'internal']);
      expect(response.body).not.toContain('cause:');
      expect(failures).toEqual([new Error('cause')]);
    },
  );

  it.each(failing(new DisconnectError()))(
    'a handler that %s because the client disconnected causes no error report',
    async (_, handle) => {
      await run(handle);
      expect(failures).toEqual([]);
    },
  );
});

it('a failed request is reported with its route and the request id that the client gets', async () => {
  const told: unknown[] = [];
  const router = createRouter([{ method: 'GET', path: '/users/:id', handle: () => Promise.reject(new Error('x')) }], {
    ids: new RequestIds((length) => Buffer.alloc(length, 7)),
    failed: (error, about) => told.push([(error as Error).message, about]),
  });
  const response = await router(fakeRequest({ method: 'GET', path: '/users/ann' }));
  expect([response.status, response.headers?.['x-request-id']]).toEqual([500, '070707070707-1']);
  expect(told).toEqual([['x', { requestId: '070707070707-1', route: '/users/:id' }]]);
});
