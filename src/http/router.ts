import { Refusal } from '../contract/errors.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { toRefusal } from '../runtime/failures.ts';
import type { Log } from '../runtime/log.ts';
import { inSpan, type Span } from '../runtime/spans.ts';
import { percentDecode } from './pairs.ts';
import { RequestIds, requestIdHeader, withRequestId } from './request-ids.ts';
import { RequestTotals, type RouteTotals } from './request-totals.ts';
import { problem } from './responses.ts';
import type { RequestSummary } from './slow-requests.ts';
import { SlowRequests } from './slow-requests.ts';
import {
  type BodyChunks,
  DisconnectError,
  type Dispatch,
  type Handler,
  type HttpResponse,
  type Params,
  type Request,
  type Route,
} from './types.ts';

/** Traces of sampled requests. The methods must not throw. */
export interface RequestTraces {
  /** @returns `undefined` if the request is not sampled */
  begin(request: Request): RequestTrace | undefined;
}

export interface RequestTrace {
  readonly span: Span;
  /**
   * @param route pattern of the route instead of the path, which could name a person
   * @returns the response to send
   */
  end(route: string, response: HttpResponse): HttpResponse;
}

/** Adds tracing to a dispatch. Called only if tracing is on, so that a service without tracing does not pay for it. */
function traced(dispatch: Dispatch, traces: RequestTraces, findRoute: (request: Request) => string): Dispatch {
  return (request) => {
    const trace = traces.begin(request);
    if (trace === undefined) return dispatch(request);
    const response = inSpan(trace.span, () => dispatch(request));
    if (!(response instanceof Promise)) return trace.end(findRoute(request), response);
    return response.then((late) => trace.end(findRoute(request), late));
  };
}

interface Resource {
  /** Segments of the pattern; `undefined` for a parameter. */
  readonly segments: readonly (string | undefined)[];
  readonly methods: ReadonlyMap<string, Endpoint>;
  /** Handler of methods not in `methods`. */
  readonly otherwise: Endpoint;
}

interface Endpoint {
  readonly handle: Handler;
  readonly names: readonly string[];
  readonly totals: RouteTotals;
}

/** Observers of requests. They must not throw. */
export interface RouterHooks {
  /** Handler of unknown paths. The default responds with a problem document. */
  readonly notFound?: Handler;
  /** Called for every failure that is not a refusal. */
  failed?(error: unknown, about: { readonly requestId: string; readonly route: string }): void;
  readonly totals?: RequestTotals;
  /** Source of request ids, which are added to every response with a body. */
  readonly ids?: RequestIds;
  readonly slow?: SlowRequests;
  /** Observer of all requests, for debug logs. It slows requests down. */
  readonly accessLog?: { write(summary: RequestSummary): void };
  readonly clock?: Pick<Clock, 'monotonic'>;
  readonly traces?: RequestTraces;
}

/** Returns hooks that assign request ids, and log failures, slow requests and, at level `debug`, every request. */
export function loggingHooks(
  { slowRequest, logLevel }: { readonly slowRequest: number; readonly logLevel: string },
  { log, clock, randomBytes }: LoggingDeps,
): RouterHooks {
  return {
    ids: new RequestIds(randomBytes),
    failed: (error, about) => log.error('a request failed', { ...about, error }),
    clock,
    slow: new SlowRequests(slowRequest, log, clock),
    ...(logLevel === 'debug' && { accessLog: { write: (summary) => log.debug('request', { ...summary }) } }),
  };
}

interface LoggingDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly randomBytes: (length: number) => Buffer;
}

const noParams: Params = Object.freeze(Object.create(null));

/**
 * Combines many routes into one `Dispatch`. If two patterns match a path, the first segment in which they differ
 * decides: a fixed segment wins over a parameter. `HEAD` is handled like `GET`. `OPTIONS` without its own route gets
 * 204 with `Allow`. A refusal gets its problem document. Any other failure is passed to `failed`, and gets 503 if the
 * store failed, or 500 otherwise.
 * @throws {Error} if two routes have the same method and path
 */
export function createRouter(routes: readonly Route[], hooks: RouterHooks = {}): Dispatch {
  const { totals = new RequestTotals(), ids, slow, accessLog, clock = systemClock } = hooks;
  const otherPath = hooks.notFound ?? (() => notFound);
  const { fixed, patterns } = collect(routes, totals);
  const nowhere: Endpoint = { handle: otherPath, names: [], totals: totals.row('any', 'none') };

  function call(request: Request, endpoint: Endpoint, resource: Resource | undefined) {
    if (endpoint.names.length === 0) return endpoint.handle(request, noParams);
    return endpoint.handle(request, readParams(resource!, endpoint, request.path));
  }

  function fail(error: unknown, request: Request, { totals: { route } }: Endpoint): HttpResponse {
    if (error instanceof DisconnectError) return unread;
    const response = problem(toRefusal(error));
    if (error instanceof Refusal) return response;
    const requestId = ids?.of(request) ?? '';
    hooks.failed?.(error, { requestId, route });
    return ids === undefined ? response : named(response, requestId);
  }

  function finish(request: Request, { totals: row }: Endpoint, began: number, response: HttpResponse): HttpResponse {
    if (response.isRelayed) return response;
    const ms = clock.monotonic() - began;
    totals.count(row, response, ms);
    const isSlow = slow !== undefined && ms >= slow.fromMs;
    const isEmpty = response.body === undefined && response.chunks === undefined;
    if (ids === undefined || (isEmpty && accessLog === undefined && !isSlow)) return response;
    const requestId = response.headers?.[requestIdHeader] ?? ids.of(request);
    if (isSlow || accessLog !== undefined) {
      const summary = summarise(response, request, row, requestId, ms);
      if (isSlow) slow.log(summary);
      accessLog?.write(summary);
    }
    if (response.chunks === undefined) return named(response, requestId);
    const failed = (error: unknown) => hooks.failed?.(error, { requestId, route: row.route });
    return named(watched(response, response.chunks, failed), requestId);
  }

  const dispatch: Dispatch = (request) => {
    const began = clock.monotonic();
    const resource = fixed.get(request.path) ?? findPattern(patterns, request.path);
    const endpoint = resource === undefined ? nowhere : (resource.methods.get(request.method) ?? resource.otherwise);
    try {
      const response = call(request, endpoint, resource);
      if (!(response instanceof Promise)) return finish(request, endpoint, began, response);
      return response.then(
        (late) => finish(request, endpoint, began, late),
        (error) => finish(request, endpoint, began, fail(error, request, endpoint)),
      );
    } catch (error) {
      return finish(request, endpoint, began, fail(error, request, endpoint));
    }
  };
  if (hooks.traces === undefined) return dispatch;
  return traced(dispatch, hooks.traces, ({ method, path }) => {
    const resource = fixed.get(path) ?? findPattern(patterns, path);
    return (resource?.methods.get(method) ?? resource?.otherwise ?? nowhere).totals.route;
  });
}

function watched(response: HttpResponse, chunks: BodyChunks, failed: (error: unknown) => void): HttpResponse {
  const told = (error: unknown): never => {
    if (!(error instanceof Refusal)) failed(error);
    throw error;
  };
  return { ...response, chunks: { next: () => chunks.next().catch(told), stop: () => chunks.stop() } };
}

function named(response: HttpResponse, requestId: string): HttpResponse {
  return { ...response, headers: withRequestId(response.headers, requestId) };
}

function summarise(
  { status, code, body }: HttpResponse,
  { method }: Request,
  { route }: RouteTotals,
  requestId: string,
  ms: number,
): RequestSummary {
  const bytes = body === undefined ? 0 : Buffer.byteLength(body);
  return { method, route, status, code, ms, bytes, requestId };
}

/** Response for unknown paths. */
export const notFound = problem(new Refusal('not_found', 'No route has this path'));
/** Response for a client that has disconnected. The response is counted, but cannot be sent. */
const unread: HttpResponse = { status: 400 };

function methodNotAllowed(allow: string, method: string): HttpResponse {
  if (method === 'OPTIONS' && allow.includes('OPTIONS')) return { status: 204, headers: { allow } };
  return problem(new Refusal('method_not_allowed', `This path accepts ${allow}`), { allow });
}

function collect(
  routes: readonly Route[],
  totals: RequestTotals,
): { fixed: Map<string, Resource>; patterns: Map<number, Resource[]> } {
  const groups = new Map<string, Route[]>();
  for (const route of routes) {
    const shape = parsePattern(route.path).join('/');
    groups.set(shape, [...(groups.get(shape) ?? []), route]);
  }
  const fixed = new Map<string, Resource>();
  const patterns = new Map<number, Resource[]>();
  for (const [shape, group] of groups) {
    const resource = createResource(group, totals);
    const { length } = resource.segments;
    if (!resource.segments.includes(undefined)) fixed.set(shape, resource);
    else patterns.set(length, [...(patterns.get(length) ?? []), resource].sort(moreFixedFirst));
  }
  return { fixed, patterns };
}

/** Returns the segments of a pattern, without the names of its parameters. */
function parsePattern(path: string): string[] {
  return path.split('/').map((segment) => (segment.startsWith(':') ? ':' : segment));
}

function createResource(group: readonly Route[], totals: RequestTotals): Resource {
  const segments = parsePattern(group[0]!.path).map((segment) => (segment === ':' ? undefined : segment));
  const methods = new Map<string, Endpoint>();
  for (const { method, path, handle } of group) {
    if (methods.has(method)) throw new Error(`Cannot route ${method} ${path}: already routed`);
    const names = path.split('/').filter((segment) => segment.startsWith(':'));
    methods.set(method, { handle, names: names.map((name) => name.slice(1)), totals: totals.row(method, path) });
  }
  const get = methods.get('GET');
  if (get !== undefined) methods.set('HEAD', get);
  const refused = group.some(({ noOptions }) => noOptions);
  const allowed = refused || methods.has('OPTIONS') ? [...methods.keys()] : [...methods.keys(), 'OPTIONS'];
  const allow = allowed.join(', ');
  const otherwise: Endpoint = {
    handle: ({ method }) => methodNotAllowed(allow, method),
    names: [],
    totals: totals.row('other', group[0]!.path),
  };
  return { segments, methods, otherwise };
}

function moreFixedFirst(a: Resource, b: Resource): number {
  for (const [at, segment] of a.segments.entries()) {
    const difference = Number(segment === undefined) - Number(b.segments[at] === undefined);
    if (difference !== 0) return difference;
  }
  return 0;
}

function findPattern(patterns: ReadonlyMap<number, Resource[]>, path: string): Resource | undefined {
  const segments = path.split('/');
  return patterns.get(segments.length)?.find((resource) => matches(resource, segments));
}

function matches(resource: Resource, segments: readonly string[]): boolean {
  return resource.segments.every((fixed, at) => (fixed === undefined ? segments[at] !== '' : fixed === segments[at]));
}

export const pathNotUtf8 = 'The path is not percent-encoded UTF-8';

function readParams(resource: Resource, { names }: Endpoint, path: string): Params {
  const segments = path.split('/');
  const values = segments.filter((_, at) => resource.segments[at] === undefined);
  const params: Record<string, string> = Object.create(null);
  for (const [at, name] of names.entries()) {
    const value = percentDecode(values[at]!);
    if (value === undefined) throw new Refusal('invalid_path', pathNotUtf8);
    params[name] = value;
  }
  return params;
}
