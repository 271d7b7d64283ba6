import { Refusal, refusalOf } from '../errors.ts';
import { percentDecode } from './percent.ts';
import { problem } from './problem.ts';
import {
  ClientGone,
  type Dispatch,
  type Handler,
  type Params,
  type Reply,
  type Request,
  type Route,
} from './types.ts';

/** Everything that answers on one path, whatever its parameters are called. */
interface Resource {
  /** The pattern's segments; a parameter is `undefined`. */
  readonly segments: readonly (string | undefined)[];
  readonly methods: ReadonlyMap<string, Endpoint>;
  /** The `Allow` header. */
  readonly allow: string;
}

interface Endpoint {
  readonly handle: Handler;
  readonly names: readonly string[];
}

/** Told of every failure that is no refusal. It must not throw. */
export type OnError = (error: unknown, request: Request) => void;

const noParams: Params = Object.freeze(Object.create(null));

/**
 * Puts routes together into what an engine calls. Of two patterns that match a path the one whose first differing
 * segment is fixed wins. `HEAD` goes to `GET`; `OPTIONS` without a route of its own is answered 204 with `Allow`.
 * Refusals become problem answers; any other failure is told to `onError`, and answered 500, or 503 when it is the
 * store's.
 * @throws {Error} when two routes have the same method and path
 */
export function createRouter(routes: readonly Route[], onError: OnError = () => {}): Dispatch {
  const { fixed, patterns } = collect(routes);

  function route(request: Request): Reply | Promise<Reply> {
    const resource = fixed.get(request.path) ?? findPattern(patterns, request.path);
    if (resource === undefined) return notFound;
    const { method } = request;
    const endpoint = resource.methods.get(method);
    if (endpoint === undefined) return methodNotAllowed(resource, method);
    if (endpoint.names.length === 0) return endpoint.handle(request, noParams);
    return endpoint.handle(request, paramsOf(resource, endpoint, request.path));
  }

  function fail(error: unknown, request: Request): Reply {
    if (error instanceof ClientGone) return nobodyReads;
    if (!(error instanceof Refusal)) onError(error, request);
    return problem(refusalOf(error));
  }

  return (request) => {
    try {
      const reply = route(request);
      return reply instanceof Promise ? reply.catch((error) => fail(error, request)) : reply;
    } catch (error) {
      return fail(error, request);
    }
  };
}

const notFound = problem(new Refusal('not_found', 'No route has this path'));
const nobodyReads: Reply = { status: 400 };

function methodNotAllowed({ allow }: Resource, method: string): Reply {
  if (method === 'OPTIONS' && allow.includes('OPTIONS')) return { status: 204, headers: { allow } };
  return problem(new Refusal('method_not_allowed', `This path takes ${allow}`), { allow });
}

function collect(routes: readonly Route[]): {
  fixed: Map<string, Resource>;
  patterns: Map<number, Resource[]>;
} {
  const groups = new Map<string, Route[]>();
  for (const route of routes) {
    const shape = shapeOf(route.path).join('/');
    groups.set(shape, [...(groups.get(shape) ?? []), route]);
  }
  const fixed = new Map<string, Resource>();
  const patterns = new Map<number, Resource[]>();
  for (const [shape, group] of groups) {
    const resource = createResource(group);
    const { length } = resource.segments;
    if (!resource.segments.includes(undefined)) fixed.set(shape, resource);
    else patterns.set(length, [...(patterns.get(length) ?? []), resource].sort(moreFixedFirst));
  }
  return { fixed, patterns };
}

/** The segments of a pattern with the parameters' names taken out. */
function shapeOf(path: string): string[] {
  return path.split('/').map((segment) => (segment.startsWith(':') ? ':' : segment));
}

function createResource(group: readonly Route[]): Resource {
  const segments = shapeOf(group[0]!.path).map((segment) => (segment === ':' ? undefined : segment));
  const methods = new Map<string, Endpoint>();
  for (const { method, path, handle } of group) {
    if (methods.has(method)) throw new Error(`Cannot route ${method} ${path}: another route has it already`);
    const names = path.split('/').filter((segment) => segment.startsWith(':'));
    methods.set(method, { handle, names: names.map((name) => name.slice(1)) });
  }
  const get = methods.get('GET');
  if (get !== undefined) methods.set('HEAD', get);
  const refused = group.some(({ noOptions }) => noOptions);
  const allowed = refused || methods.has('OPTIONS') ? [...methods.keys()] : [...methods.keys(), 'OPTIONS'];
  return { segments, methods, allow: allowed.join(', ') };
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
  return resource.segments.every((fixed, at) =>
    fixed === undefined ? segments[at] !== '' : fixed === segments[at],
  );
}

function paramsOf(resource: Resource, { names }: Endpoint, path: string): Params {
  const segments = path.split('/');
  const values = segments.filter((_, at) => resource.segments[at] === undefined);
  const params: Record<string, string> = Object.create(null);
  for (const [at, name] of names.entries()) {
    const value = percentDecode(values[at]!);
    if (value === undefined) throw new Refusal('invalid_path', 'The path is not percent-encoded UTF-8');
    params[name] = value;
  }
  return params;
}
