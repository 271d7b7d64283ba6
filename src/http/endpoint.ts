import type { Static, TSchema } from 'typebox';
import type { RefusalCode } from '../contract/refusals.ts';
import type { DeepReadonly, DocumentOptions } from '../contract/shapes/fields.ts';
import type { TypedResponse } from './responses.ts';
import type { Handler, Route } from './types.ts';

/** A JSON Schema, or a section of the OpenAPI document: plain JSON. */
export type Json = Readonly<Record<string, unknown>>;

/**
 * An endpoint, declared once next to its handler. Its route, its operation in the OpenAPI document and its row in
 * docs/access.md are generated from the declaration.
 */
export interface Endpoint<in Deps = never> {
  readonly method: Route['method'];
  /** Path in the form `/fixed/:parameter`. */
  readonly path: string;
  readonly access: Access;
  /** Operation of the OpenAPI document. Endpoints without an operation are not in the document. */
  readonly operation?: Operation;
  readonly bind: (deps: Deps) => Handler;
  /** Like `noOptions` of `Route`. */
  readonly noOptions?: true;
}

/** The callers of an endpoint, as docs/access.md lists them. */
export type Access = CredentialAccess | RoleAccess;

export interface CredentialAccess {
  readonly credential: string;
  /** The people or programs that hold the credential, with any conditions, for docs/access.md. */
  readonly who: string;
}

/** Access with an access token, for callers with a role in a team. */
export interface RoleAccess {
  /** The resource in whose team the caller needs the role, such as `application`. */
  readonly within: string;
  readonly least: string;
  readonly orSelf?: true;
  readonly scope?: string;
  readonly recent?: true | 'partly';
}

export interface Group<in Deps = never> {
  readonly tag: string;
  readonly description: string;
  readonly endpoints: readonly Endpoint<Deps>[];
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** Security requirements, if they differ from the requirements of the whole document. */
  readonly security?: readonly Json[];
  readonly parameters?: readonly Parameter[];
  readonly body?: Content;
  /** True if the body may be empty. */
  readonly bodyOptional?: true;
  readonly responses: DeclaredResponses;
  readonly refuses?: Refusals;
  readonly refusalHeaders?: (status: number) => Headers;
}

/** Refusal codes of an operation, with an example of the detail for each code. */
export type Refusals = Readonly<Partial<Record<RefusalCode, string>>>;

/** A header. If it has a `component` name, the document describes it once and refers to it elsewhere. */
export interface Header {
  readonly component?: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: object;
  readonly example?: unknown;
}

export type Headers = Readonly<Record<string, Header>>;

export interface Parameter extends Header {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
}

export type Content = Readonly<Record<string, Media>>;

export interface Media {
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>;
}

declare const typed: unique symbol;

/** A successful response. The handler must return a body of this type and the required headers. */
export interface DeclaredResponse<Body = unknown, Required extends Headers = Headers> {
  readonly description: string;
  readonly content?: Content;
  readonly headers: Required;
  /** Body type, for the type checker only. */
  readonly [typed]?: Body;
}

export type DeclaredResponses = Readonly<Record<number, DeclaredResponse>>;

/** Possible results of a handler, derived from the declared responses. */
export type HandlerResponse<Responses extends DeclaredResponses> = {
  readonly [Status in keyof Responses & number]: Responses[Status] extends DeclaredResponse<infer Body, infer Required>
    ? TypedResponse<Status, DeepReadonly<Body>, Lowercase<RequiredName<Required>>>
    : never;
}[keyof Responses & number];

type RequiredName<Of extends Headers> = {
  [Name in keyof Of & string]: Of[Name] extends { readonly required: true } ? Name : never;
}[keyof Of & string];

export type ParameterIn<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | ParameterIn<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? Name
    : never;

/** @param deps dependencies of all handlers */
export function routesFrom<Deps>(groups: readonly Group<Deps>[], deps: Deps): readonly Route[] {
  return groups.flatMap(({ endpoints }) =>
    endpoints.map(({ method, path, bind, noOptions }) => ({
      method,
      path,
      handle: bind(deps),
      ...(noOptions && { noOptions }),
    })),
  );
}

/** A JSON body, with the example of its schema. */
export function jsonContent(schema: TSchema): Content {
  const { example } = schema as DocumentOptions;
  return { 'application/json': { schema, ...(example !== undefined && { example }) } };
}

export function jsonResponse<Schema extends TSchema, Required extends Headers = Record<never, Header>>(
  schema: Schema,
  description: string,
  headers: Required = {} as Required,
): DeclaredResponse<Static<Schema>, Required> {
  return { description, headers, content: jsonContent(schema) };
}

/** A request header of every operation with a body: see `readBody`. */
export const ContentEncoding: Parameter = {
  component: 'ContentEncoding',
  name: 'Content-Encoding',
  in: 'header',
  description: 'Compression of the body. The size limit applies to the decompressed body.',
  schema: { enum: ['gzip', 'identity'] },
};

export const RetryAfter: Header = {
  component: 'RetryAfter',
  description: 'Seconds to wait before the next attempt. After that, back off exponentially.',
  required: true,
  schema: { type: 'integer', minimum: 1 },
};

export const NotCached = {
  component: 'NotCached',
  description: 'The response belongs to one caller and must not be cached.',
  required: true,
  schema: { const: 'no-store' },
} as const satisfies Header;

export const Location = {
  component: 'Location',
  description: 'Location of the created resource.',
  required: true,
  schema: { type: 'string' },
} as const satisfies Header;

/** Challenge in a 401 response of an operation that needs an access token. */
export const Challenge = {
  component: 'Challenge',
  description: 'The header contains an error code only if the request had a token (RFC 6750 §3).',
  required: true,
  schema: { type: 'string', pattern: '^Bearer(?: error="invalid_token"(?:, error_description="[^"]*")?)?$' },
} as const satisfies Header;

/** Headers of cacheable responses that pages of any origin may read. */
export const PublicHeaders = {
  'Access-Control-Allow-Origin': { required: true, schema: { const: '*' } },
  'Cache-Control': { required: true, schema: { type: 'string' } },
} as const satisfies Headers;

/** Headers of `publicJson` responses. */
export const TaggedHeaders: Headers = { ...PublicHeaders, ETag: { required: true, schema: { type: 'string' } } };
