import { setTimeout as sleep } from 'node:timers/promises';
import { readBody } from '../../../src/http/body.ts';
import { parseQuery } from '../../../src/http/pairs.ts';
import { sharedHeaders, withRequestId } from '../../../src/http/request-ids.ts';
import { createRouter } from '../../../src/http/router.ts';
import {
  DisconnectError,
  type Dispatch,
  type HttpResponse,
  type Request,
  type Route,
} from '../../../src/http/types.ts';
import { LargeBodies } from '../../../src/ingest/admission/large-bodies.ts';

/** Maximum body size of these routes. */
export const bodyLimit = 65_536;

const json = (value: unknown): HttpResponse => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});

const reused: HttpResponse = { status: 200, headers: { 'content-type': 'text/plain' }, body: 'again', isReused: true };

const shared = sharedHeaders({ 'content-type': 'text/plain', 'x-shared': 'yes' });

/** Shared budget for the bodies in flight. */
export const budgetBytes = 20_000;

/** Routes of the conformance suite. `shutDown` receives the grace period of `POST /shut-down`. */
export function testDispatch(shutDown: (graceMs: number) => void): Dispatch {
  /** Dispatched requests in the form `PATH?QUERY`. */
  const received: string[] = [];
  const gone: string[] = [];
  const errors: string[] = [];
  const echo = async (request: Request): Promise<HttpResponse> => {
    try {
      const body = await readBody(request, bodyLimit);
      return { status: 200, headers: { 'content-type': 'application/octet-stream' }, body };
    } catch (error) {
      if (error instanceof DisconnectError) gone.push(request.query);
      throw error;
    }
  };
  let release = () => {};
  const closing = new Promise<void>((resolve) => {
    release = resolve;
  });
  const budgets = new Map<string, LargeBodies>();
  const findBudget = ({ query }: Request) => {
    const budget = budgets.get(query) ?? new LargeBodies(budgetBytes);
    budgets.set(query, budget);
    return budget;
  };
  /** Responds with the number of budget bytes in use while this request holds its body. */
  const hold = async (request: Request): Promise<HttpResponse> => {
    const budget = findBudget(request);
    const body = await readBody(request, bodyLimit, budget);
    const { held } = budget;
    budget.release(body);
    return json({ length: body.length, held });
  };
  const describe = (request: Request): HttpResponse => {
    const { method, path, query, remoteAddress } = request;
    const names = /^headers=(.*)$/.exec(query)?.[1]?.split(',') ?? [];
    const headers = names.map((name) => request.header(name) ?? null);
    return json({ method, path, query, remoteAddress, headers });
  };
  /** Chunk and stop counts of chunked bodies, by the query of the request. */
  const taken = new Map<string, { pieces: number; stops: number }>();
  const respondInChunks = ({ query }: Request, count: number): HttpResponse => {
    const told = { pieces: 0, stops: 0 };
    taken.set(query, told);
    const places = [0, 1].map(() => new Uint8Array(new SharedArrayBuffer(65_536)));
    const next = async () => {
      if (query.startsWith('fails') && told.pieces === 3) throw new Error('a chunk failed');
      if (told.pieces === count) return undefined;
      told.pieces += 1;
      // Reuses memory as exports do: the memory of the previous chunk is overwritten.
      setImmediate(() => places[told.pieces % 2]!.fill(0));
      return places[(told.pieces - 1) % 2]!.fill(told.pieces);
    };
    const stop = () => {
      told.stops += 1;
    };
    return { status: 200, headers: { 'content-type': 'text/x' }, chunks: { next, stop } };
  };
  const routes: Route[] = [
    { method: 'GET', path: '/pieces', handle: (request) => respondInChunks(request, 20) },
    { method: 'GET', path: '/some-pieces', handle: (request) => respondInChunks(request, 400) },
    { method: 'GET', path: '/many-pieces', handle: (request) => respondInChunks(request, 100_000) },
    { method: 'GET', path: '/pieces/:query', handle: (_, { query }) => json(taken.get(query!)) },
    { method: 'GET', path: '/describe', handle: describe },
    { method: 'POST', path: '/describe', handle: describe },
    { method: 'PUT', path: '/describe', handle: describe },
    { method: 'PATCH', path: '/describe', handle: describe },
    { method: 'DELETE', path: '/describe', handle: describe },
    { method: 'POST', path: '/echo', handle: echo },
    {
      method: 'POST',
      path: '/echo-large',
      handle: async (request) => {
        const headers = { 'content-type': 'application/octet-stream' };
        return { status: 200, headers, body: await request.body(16 * bodyLimit) };
      },
    },
    { method: 'POST', path: '/echo-late', handle: (request) => sleep(100).then(() => echo(request)) },
    { method: 'POST', path: '/hold', handle: hold },
    { method: 'GET', path: '/hold', handle: (request) => json({ held: findBudget(request).held }) },
    { method: 'POST', path: '/unread', handle: () => ({ status: 503 }) },
    { method: 'POST', path: '/accept', handle: (request) => echo(request).then(() => ({ status: 202 })) },
    { method: 'GET', path: '/accept', handle: () => ({ status: 202 }) },
    { method: 'GET', path: '/reused', handle: () => reused },
    {
      method: 'GET',
      path: '/shared',
      handle: ({ query }) => ({ status: 203, headers: withRequestId(shared, query), body: query }),
    },
    {
      method: 'GET',
      path: '/text',
      handle: () => ({ status: 200, headers: { 'content-type': 'text/x' }, body: 'häßlich' }),
    },
    { method: 'GET', path: '/no-content', handle: () => ({ status: 204 }) },
    { method: 'GET', path: '/items/:id', handle: (_, params) => json(params) },
    { method: 'GET', path: '/slow', handle: () => sleep(300).then(() => json('slow')) },
    { method: 'GET', path: '/until-closing', handle: () => closing.then(() => json('late')) },
    { method: 'GET', path: '/received', handle: () => json(received) },
    { method: 'OPTIONS', path: '/preflight', handle: () => ({ status: 204, headers: { 'x-own': 'yes' } }) },
    { method: 'POST', path: '/preflight', handle: describe },
    { method: 'POST', path: '/no-options', handle: describe, noOptions: true },
    { method: 'GET', path: '/errors', handle: () => json(errors) },
    { method: 'GET', path: '/gone', handle: () => json(gone) },
    {
      method: 'GET',
      path: '/throw',
      handle: () => {
        throw new Error('secret cause');
      },
    },
    { method: 'GET', path: '/reject', handle: () => Promise.reject(new Error('secret cause')) },
    {
      method: 'POST',
      path: '/shut-down',
      handle: ({ query }) => {
        shutDown(Number(parseQuery(query).get('grace')));
        release();
        return { status: 202 };
      },
    },
  ];
  const route = createRouter(routes, { failed: (error) => errors.push((error as Error).message) });
  return (request) => {
    received.push(`${request.path}?${request.query}`);
    return route(request);
  };
}
