import type { TObject } from 'typebox';
import {
  type Access,
  type DeclaredResponse,
  type Endpoint,
  type Headers,
  Location,
  NotCached,
  type Operation,
  type Parameter,
} from '../../../http/endpoint.ts';
import { queryParameters } from '../../../http/query-reader.ts';

/** An endpoint that people use with a browser. */
interface Page<Deps> {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: TObject;
  /** The form that our page or a client posts. */
  readonly form?: TObject;
  /** Descriptions of the responses, by status. Statuses in `withoutBody` have no body, all others have a page. */
  readonly responses: Readonly<Record<number, string>>;
  readonly bind: Endpoint<Deps>['bind'];
}

/** Declares two endpoints of a page: `GET` shows the page, and `POST` receives its form. */
export function pageEndpoints<Deps>(
  path: string,
  access: Access,
  pages: Readonly<Record<'GET' | 'POST', Page<Deps>>>,
): readonly Endpoint<Deps>[] {
  return (['GET', 'POST'] as const).map((method) => pageEndpoint(`${method} ${path}`, access, pages[method]));
}

/** Declares an endpoint that people use with a browser. @param name method and path */
export function pageEndpoint<Deps>(
  name: `${'GET' | 'POST'} ${string}`,
  access: Access,
  { bind, ...page }: Page<Deps>,
): Endpoint<Deps> {
  const [method, path] = name.split(' ') as ['GET' | 'POST', string];
  return { method, path, access, operation: describe(path, page), bind };
}

function describe(path: string, { query, form, responses, ...words }: Omit<Page<never>, 'bind'>): Operation {
  const inQuery = queryParameters(query?.properties ?? {}).map((one) => ({ required: false, ...one }));
  const inPath = Array.from(path.matchAll(/:(\w+)/g), ([, name = '']): Parameter => {
    return { name, in: 'path', required: true, schema: { type: 'string' } };
  });
  const parameters = [...inPath, ...inQuery];
  return {
    ...words,
    security: [],
    ...(parameters.length > 0 && { parameters }),
    ...(form !== undefined && { body: { 'application/x-www-form-urlencoded': { schema: form } } }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, description]) => [status, describeResponse(Number(status), description)]),
    ),
  };
}

function describeResponse(status: number, description: string): DeclaredResponse {
  const headers = { 'Cache-Control': NotCached, ...describeHeaders(status) };
  if (withoutBody.includes(status)) return { description, headers };
  return { description, headers, content: { 'text/html; charset=utf-8': { schema: { type: 'string' } } } };
}

/** Responses without a body: a redirect, a sign-out by access token, and a rejected access token. */
const withoutBody = [303, 204, 401];

function describeHeaders(status: number): Headers {
  if (status === 303) return { Location };
  if (status === 401) return { 'WWW-Authenticate': { required: true, schema: { type: 'string' } } };
  return status === 429 || status === 503 ? { 'Retry-After': { schema: { type: 'integer' } } } : {};
}
