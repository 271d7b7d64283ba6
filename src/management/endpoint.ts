import type { Static, TProperties, TSchema } from 'typebox';
import type { Accounts } from '../accounts/accounts.ts';
import { missing } from '../accounts/checks.ts';
import type { Directory } from '../accounts/directory.ts';
import { ChallengeError, UnauthorizedError } from '../auth/oauth/validation.ts';
import { postgresUnavailable, storeUnavailable } from '../contract/errors.ts';
import { bodyRefusals } from '../http/body.ts';
import {
  Challenge,
  ContentEncoding,
  type DeclaredResponses,
  type Endpoint,
  type Group as GroupOf,
  type HandlerResponse,
  jsonContent,
  NotCached,
  type Operation,
  type Parameter,
  type ParameterIn,
  type Refusals,
} from '../http/endpoint.ts';
import { tooLarge } from '../http/engines/limits.ts';
import { jsonBody, maxJsonBody } from '../http/json-body.ts';
import { maxLimit } from '../http/lists.ts';
import { type QueryOf, queryParameters, queryReader } from '../http/query-reader.ts';
import { createResponder, noContent, problem, type TypedResponse } from '../http/responses.ts';
import { pathNotUtf8 } from '../http/router.ts';
import type { Handler, HttpResponse, Params, Request, Route } from '../http/types.ts';
import type { Freshness, PeopleFreshness } from '../storage/commit/usage-store.ts';
import {
  type Access,
  admit,
  type Caller,
  holders,
  installationAdminsOnly,
  notInTeam,
  requires,
  SignInTooOld,
  tooManyRequests,
  type Within,
} from './access.ts';
import { changedSince, freshly, freshnessHeaders } from './responses.ts';
import type { Claims, Services } from './services.ts';

export type Group = GroupOf<Services>;

/** An endpoint of the management API, below `/api/v2`. */
interface Declaration<
  Path extends string,
  Kind extends keyof Within,
  Query extends TProperties,
  Body extends TSchema | undefined,
  Answers extends DeclaredResponses,
> extends EndpointDescription {
  readonly access: Access<Kind>;
  readonly query?: Query;
  readonly body?: Body;
  readonly responses: Answers;
  readonly handle: (call: Call<Path, Kind, Query, Body>, services: Services) => HandlerResult<Answers>;
}

/** The result of a handler. A handler whose only response is 204 may return nothing. */
type HandlerResult<Answers extends DeclaredResponses> =
  | HandlerResponse<Answers>
  | Promise<HandlerResponse<Answers>>
  | (204 extends keyof Answers ? Promise<void> : never);

/** One request of an admitted caller. */
export type Call<
  Path extends string = string,
  Kind extends keyof Within = 'service',
  Query extends TProperties = Record<never, never>,
  Body extends TSchema | undefined = undefined,
> = Within[Kind] & {
  readonly caller: Caller;
  /** Returns the caller with the teams and roles that are current in the transaction of a change. */
  readonly callerIn: (accounts: Accounts) => Caller;
  /** @throws {SignInTooOld} unless the user has signed in recently */
  readonly checkRecent: () => void;
  readonly request: Request;
  readonly params: Readonly<Record<ParameterIn<Path>, string>>;
  readonly query: QueryOf<Query>;
  readonly body: Body extends TSchema ? Static<Body> : undefined;
  /** A directory whose changes name the caller in the audit log. */
  readonly directory: Directory;
  /** Completeness of the counts; `undefined` on a single machine. */
  readonly fresh: Freshness | undefined;
};

const respondWith = createResponder({ 'cache-control': 'no-store' });

/**
 * Declares an endpoint. The checks come in an order that reveals nothing to unauthorised callers: 401 with a challenge,
 * 429, 404 if the resource does not exist, 403 if the caller may not access it, then 400 for the query and the body.
 * @param name method and path below `/api/v2`
 */
export function endpoint<
  const Name extends `${Route['method']} /${string}`,
  Kind extends keyof Within,
  const Answers extends DeclaredResponses,
  Query extends TProperties = Record<never, never>,
  Body extends TSchema | undefined = undefined,
>(name: Name, declaration: Declaration<Name, Kind, Query, Body, Answers>): Endpoint<Services> {
  const [method, path] = name.split(' ') as [Route['method'], string];
  const { handle, query, body, maxBody, counted } = declaration;
  const readQuery = query === undefined ? undefined : queryReader(query);
  const readBody =
    body === undefined ? undefined : jsonBody(body, { limit: maxBody, optional: declaration.bodyOptional });
  return {
    method,
    path: `/api/v2${path}`,
    access: declaration.access,
    operation: describeEndpoint(method, path, declaration),
    bind: (services) =>
      authenticated(services, (request, params, claims) => {
        const admitted = admit(services, declaration.access, claims, request, params);
        const query = readQuery?.(request.query);
        const callHandler = (body: unknown, fresh?: Freshness) => {
          const call = { ...admitted, request, params, query, body, fresh };
          return toResponse(handle(call as unknown as Parameters<typeof handle>[0], services));
        };
        const respond = (body?: unknown) =>
          counted ? freshly(services, counted, ({ fresh }) => callHandler(body, fresh)) : callHandler(body);
        return readBody === undefined ? respond() : readBody(request).then(respond);
      }),
  };
}

function toResponse(
  result: TypedResponse | Promise<TypedResponse> | Promise<void>,
): HttpResponse | Promise<HttpResponse> {
  return result instanceof Promise ? result.then((late) => respondWith(late ?? noContent)) : respondWith(result);
}

/** Authenticates a request. Most requests have a known token, which is verified synchronously. */
function authenticated(
  { authenticate }: Services,
  handle: (request: Request, params: Params, claims: Claims) => HttpResponse | Promise<HttpResponse>,
): Handler {
  return (request, params) => {
    try {
      const claims = authenticate(request);
      const response =
        claims instanceof Promise
          ? claims.then((validated) => handle(request, params, validated))
          : handle(request, params, claims);
      return response instanceof Promise ? response.catch(challenge) : response;
    } catch (error) {
      return challenge(error);
    }
  };
}

function challenge(error: unknown): HttpResponse {
  if (error instanceof ChallengeError) return problem(error, { 'www-authenticate': error.challenge });
  throw error;
}

/** The fields of a declaration that the OpenAPI document describes. */
interface EndpointDescription {
  readonly access: Access;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: TProperties;
  readonly body?: TSchema | undefined;
  /** Set if the body may be empty. */
  readonly bodyOptional?: true;
  /** Maximum decompressed length of the body in bytes. */
  readonly maxBody?: number;
  /** Set if the handler calls `checkMatch`. */
  readonly matches?: true;
  /** Set if the handler reads `If-None-Match`. */
  readonly remembers?: true;
  /** Required completeness of the user counts, if the response has counts: see `freshly`. */
  readonly counted?: PeopleFreshness;
  readonly responses: DeclaredResponses;
  /**
   * Refusals that are not implied, and implied refusals with a different detail. Each refusal has an example of its
   * detail.
   */
  readonly refuses?: Refusals;
}

/**
 * Describes an endpoint for the OpenAPI document. Undeclared parts follow from the method, path and access of the
 * endpoint.
 */
function describeEndpoint(method: string, path: string, declared: EndpointDescription): Operation {
  const { operationId, summary, description, query, body, matches, remembers, responses, refuses } = declared;
  return {
    operationId,
    summary,
    description: [description, `For ${callers(declared.access)}.`].filter(Boolean).join('\n\n'),
    parameters: [
      ...pathParameters(path, declared.access),
      ...queryParameters(query ?? {}),
      ...(matches ? [IfMatch] : []),
      ...(remembers ? [IfNoneMatch] : []),
      ...(body ? [ContentEncoding] : []),
    ],
    ...(body && { body: jsonContent(body) }),
    ...(declared.bodyOptional && { bodyOptional: true as const }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, { headers, ...rest }]) => [
        status,
        {
          ...rest,
          headers: {
            ...headers,
            ...(declared.counted && status === '200' && freshnessHeaders),
            'Cache-Control': NotCached,
          },
        },
      ]),
    ),
    refuses: { ...usualRefusals(method, path, declared), ...refuses },
    refusalHeaders: (status) => (status === 401 ? { 'WWW-Authenticate': Challenge } : {}),
  };
}

const IfMatch: Parameter = {
  component: 'IfMatch',
  name: 'If-Match',
  in: 'header',
  description:
    'The `ETag` of the version that the caller has read. The change is made only if this is still the current version. Without this header, or with `*`, the change is always made.',
  schema: { type: 'string' },
};

const IfNoneMatch: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of the response that the caller has.',
  schema: { type: 'string' },
};

function callers({ within, least, orSelf }: Access): string {
  const who =
    least === 'Viewer'
      ? 'everybody'
      : holders(least)
          .map((role) => `${role}s`)
          .join(' and ');
  return `${who}${places[within]}${orSelf ? ', and for the user themself' : ''}`;
}

const places = {
  service: '',
  installation: ' of the first team',
  application: " in the application's team",
  team: ' in the team',
  user: ' in a team of the user',
} as const;

function pathParameters(path: string, { within }: Access): readonly Parameter[] {
  const names = Array.from(path.matchAll(/:(\w+)/g), ([, name = '']) => name);
  return names.map((name) => ({
    name,
    in: 'path',
    required: true,
    description: inPath[name] ?? `Id of the ${within}.`,
    schema: { type: 'string', minLength: 1 },
  }));
}

const inPath: Readonly<Record<string, string>> = {
  name: 'Name of the environment.',
  keyId: 'Id of the key.',
  feature: 'Name of the feature.',
  metric: 'Name of the metric.',
  identity: 'The identity: an instance id, or the identity that an application asserted.',
  userId: 'Id of the user.',
  clientId: 'Client id.',
  signInId: 'Id of the sign-in.',
  webhookId: 'Id of the webhook.',
  deliveryId: 'Id of the delivery.',
  providerId: 'Id of the identity provider.',
  identityId: 'Id of the linked account.',
};

/** Returns the refusals that method, path and access imply. */
function usualRefusals(method: string, path: string, declared: EndpointDescription): Refusals {
  const { access, query, body, maxBody = maxJsonBody, matches } = declared;
  const { within, least, recent } = access;
  return {
    ...(path.includes(':') && { invalid_path: pathNotUtf8 }),
    ...(query && { invalid_query: `limit must be an integer from 1 to ${maxLimit}` }),
    ...(body && {
      ...bodyRefusals,
      invalid_body: 'Field colour is unknown',
      body_too_large: tooLarge(maxBody).message,
    }),
    unauthorized: new UnauthorizedError(false).message,
    ...(recent && { insufficient_user_authentication: new SignInTooOld().message }),
    ...(least !== 'Viewer' && { forbidden: within === 'installation' ? installationAdminsOnly : requires(least) }),
    ...(within !== 'service' &&
      within !== 'installation' && { not_found: missing(within), not_in_team: notInTeam[within] }),
    ...(matches && { precondition_failed: changedSince }),
    rate_limited: tooManyRequests,
    postgres_unavailable: postgresUnavailable,
    ...(method !== 'GET' && { store_unavailable: storeUnavailable.changeNotKept }),
  };
}
