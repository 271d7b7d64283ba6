import type { Static, TProperties, TSchema } from 'typebox';
import type { Accounts } from '../accounts/accounts.ts';
import type { Directory } from '../accounts/directory.ts';
import { Challenged } from '../auth/oauth/validation.ts';
import { type Answer, noContent, problem, repliesWith } from '../http/answer.ts';
import type { AnswerOf, DeclaredAnswers, Endpoint, Group as GroupOf, ParameterIn } from '../http/endpoint.ts';
import { jsonBody } from '../http/json-body.ts';
import { type QueryOf, queryReader } from '../http/query-reader.ts';
import type { Handler, Params, Reply, Request, Route } from '../http/types.ts';
import type { Freshness } from '../storage/commit/usage-store.ts';
import { type Access, accessRow, admit, type Within } from './access.ts';
import type { Caller, Claims } from './caller.ts';
import { type Described, describeEndpoint } from './describe-endpoint.ts';
import { freshly } from './freshly.ts';
import type { Services } from './services.ts';

export type Group = GroupOf<Services>;

/** An endpoint of the management API, below `/api/v2`. */
interface Declaration<
  Path extends string,
  Kind extends keyof Within,
  Query extends TProperties,
  Body extends TSchema | undefined,
  Answers extends DeclaredAnswers,
> extends Described {
  readonly access: Access<Kind>;
  readonly query?: Query;
  readonly body?: Body;
  readonly answers: Answers;
  readonly handle: (call: Call<Path, Kind, Query, Body>, services: Services) => Given<Answers>;
}

/** The result of a handler. A handler that only answers 204 may return nothing. */
type Given<Answers extends DeclaredAnswers> =
  | AnswerOf<Answers>
  | Promise<AnswerOf<Answers>>
  | (204 extends keyof Answers ? Promise<void> : never);

/** One request of an admitted caller. */
export type Call<
  Path extends string = string,
  Kind extends keyof Within = 'service',
  Query extends TProperties = Record<never, never>,
  Body extends TSchema | undefined = undefined,
> = Within[Kind] & {
  readonly caller: Caller;
  /** The caller according to the draft of a change. */
  readonly callerIn: (accounts: Accounts) => Caller;
  /** @throws {SignInTooOld} unless the user has signed in recently */
  readonly checkRecent: () => void;
  readonly request: Request;
  readonly params: Readonly<Record<ParameterIn<Path>, string>>;
  readonly query: QueryOf<Query>;
  readonly body: Body extends TSchema ? Static<Body> : undefined;
  /** Attributes changes to the caller in the audit log. */
  readonly directory: Directory;
  /** How complete the counts are; `undefined` on a single machine. */
  readonly fresh: Freshness | undefined;
};

const replyWith = repliesWith({ 'cache-control': 'no-store' });

/**
 * Declares an endpoint. The order of the checks leaks nothing: 401 with a challenge, 429, 404 if the resource does not
 * exist, 403 if the caller may not access it, then 400 for the query and the body.
 * @param name method and path below `/api/v2`
 */
export function endpoint<
  const Name extends `${Route['method']} /${string}`,
  Kind extends keyof Within,
  const Answers extends DeclaredAnswers,
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
    access: accessRow(declaration.access),
    operation: describeEndpoint(method, path, declaration),
    bind: (services) =>
      authenticated(services, (request, params, claims) => {
        const admitted = admit(services, declaration.access, claims, request, params);
        const query = readQuery?.(request.query);
        const answerWith = (body: unknown, fresh?: Freshness) => {
          const call = { ...admitted, request, params, query, body, fresh };
          return reply(handle(call as unknown as Parameters<typeof handle>[0], services));
        };
        const answer = (body?: unknown) =>
          counted ? freshly(services, counted, ({ fresh }) => answerWith(body, fresh)) : answerWith(body);
        return readBody === undefined ? answer() : readBody(request).then(answer);
      }),
  };
}

function reply(answer: Answer | Promise<Answer> | Promise<void>): Reply | Promise<Reply> {
  return answer instanceof Promise ? answer.then((late) => replyWith(late ?? noContent)) : replyWith(answer);
}

/** Synchronous for known tokens, which most are. */
function authenticated(
  { authenticate }: Services,
  handle: (request: Request, params: Params, claims: Claims) => Reply | Promise<Reply>,
): Handler {
  return (request, params) => {
    try {
      const claims = authenticate(request);
      const reply =
        claims instanceof Promise
          ? claims.then((validated) => handle(request, params, validated))
          : handle(request, params, claims);
      return reply instanceof Promise ? reply.catch(challenge) : reply;
    } catch (error) {
      return challenge(error);
    }
  };
}

function challenge(error: unknown): Reply {
  if (error instanceof Challenged) return problem(error, { 'www-authenticate': error.challenge });
  throw error;
}
