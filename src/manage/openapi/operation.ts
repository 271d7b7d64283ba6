import { headerNamed, parameterNamed } from '../../http/openapi/headers.ts';
import type { Json } from '../../http/openapi/json-schema.ts';
import { type Refusals, refusalResponses } from '../../http/openapi/refusals.ts';
import { type Access, access, type RouteName } from '../access.ts';
import { longestBody } from '../json-body.ts';
import { pathParameters } from './parameters.ts';
import { referTo, type Shape } from './shape.ts';

/** What is to be said of a route beside its row in the table of `access.ts`. */
export interface Description {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: readonly Json[];
  readonly body?: Shape;
  /** Whether `If-Match` is read. */
  readonly matches?: true;
  /** What is answered when all is well, by the status. */
  readonly answers: Readonly<Record<number, Json>>;
  /** What else than every route of its kind it refuses, or refuses in other words. */
  readonly refusals?: Refusals;
}

/** Routes that belong together, and the shapes that they take and give. */
export interface Resource {
  readonly tag: string;
  readonly words: string;
  readonly shapes: readonly Shape[];
  readonly routes: Readonly<Partial<Record<RouteName, Description>>>;
}

/** The operation of a route: what its row, its method and its path say of it is not said again. */
export function operation(name: RouteName, tag: string, described: Description): Json {
  const row: Access = access[name];
  const [, path = ''] = name.split(' ');
  const { operationId, summary, description, query = [], body, matches, answers, refusals } = described;
  return {
    operationId,
    tags: [tag],
    summary,
    description: [description, `For ${callers(row)}.`].filter(Boolean).join('\n\n'),
    parameters: [
      ...pathParameters(path, row),
      ...query,
      ...(matches ? [parameterNamed('IfMatch')] : []),
      ...(body ? [parameterNamed('ContentEncoding')] : []),
    ],
    ...(body && { requestBody: requestBody(body) }),
    responses: {
      ...answers,
      ...refusalResponses({ ...usualRefusals(name, described), ...refusals }, (status) =>
        status === 401 ? { 'WWW-Authenticate': headerNamed('Challenge') } : {},
      ),
    },
  };
}

/** The path of a route as OpenAPI writes it. */
export function templateOf(path: string): string {
  return `/api/v2${path.replace(/:(\w+)/g, '{$1}')}`;
}

function callers({ within, least, orSelf }: Access): string {
  const who = least === 'Admin' ? 'Admins' : 'everybody';
  return `${who}${places[within]}${orSelf ? ', and for the user himself' : ''}`;
}

const places = {
  service: '',
  application: " in the application's team",
  team: ' in the team',
  user: ' in a team of the user',
} as const;

function requestBody(body: Shape): Json {
  const content = { 'application/json': { schema: referTo(body), example: body.example } };
  return { required: true, content };
}

/** What a route refuses for what it is: see `route.ts`. */
function usualRefusals(name: RouteName, { query, body, matches }: Description): Refusals {
  const { within, least }: Access = access[name];
  return {
    ...(name.includes(':') && { invalid_path: 'The path is not percent-encoded UTF-8' }),
    ...(query && { invalid_query: 'limit must be an integer from 1 to 200' }),
    ...(body && bodyRefusals),
    unauthorized: 'Send Authorization: Bearer <access token>',
    ...(least === 'Admin' && { forbidden: 'This needs the role Admin' }),
    ...(within !== 'service' && { not_found: `There is no such ${within}` }),
    ...(matches && {
      precondition_failed:
        'It was changed since you read it: read it again, then make your change to what it is now',
    }),
    rate_limited: 'This client has made too many requests',
    ...(!name.startsWith('GET') && {
      store_unavailable: 'The store cannot take the change; nothing of it was kept',
    }),
  };
}

const bodyRefusals = {
  invalid_content_encoding: 'Send the body as it is, or as gzip',
  invalid_encoding: 'Send UTF-8',
  invalid_json: 'Send one JSON value',
  invalid_body: 'Field colour is not known here',
  body_too_large: `A body may have ${longestBody} bytes at most`,
} as const satisfies Refusals;
