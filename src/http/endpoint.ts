import type { Static, TSchema } from 'typebox';
import type { RefusalCode } from '../contract/refusals.ts';
import type { Documented, Shown } from '../contract/shapes/fields.ts';
import type { Answer } from './answer.ts';
import type { Handler, Route } from './types.ts';

/** A JSON Schema, or a part of the OpenAPI document: plain JSON. */
export type Json = Readonly<Record<string, unknown>>;

/**
 * An endpoint, declared once beside its handler. Its route, its operation in the OpenAPI document and its row in docs/access.md
 * are generated from this. The declaration adds no cost per request: `bind` creates the handler that the router calls.
 */
export interface Endpoint<in Deps = never> {
  readonly method: Route['method'];
  /** `/fixed/:parameter`. */
  readonly path: string;
  readonly access: Access;
  /** Its operation in the OpenAPI document; without it, the endpoint is not in the document. */
  readonly operation?: Operation;
  /** Creates the handler. @param deps of the handler */
  readonly bind: (deps: Deps) => Handler;
  /** See `Route`. */
  readonly noOptions?: true;
}

/** Who may call an endpoint. */
export interface Access {
  /** The credential that the request needs. */
  readonly credential: string;
  /** Who must own the credential, and further conditions. */
  readonly who: string;
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
  /** If it differs from that of the document. */
  readonly security?: readonly Json[];
  readonly parameters?: readonly Parameter[];
  readonly body?: Content;
  /** Whether the body may be empty. */
  readonly bodyOptional?: true;
  readonly answers: DeclaredAnswers;
  readonly refuses?: Refusals;
  readonly refusalHeaders?: (status: number) => Headers;
}

/** The codes of an operation's refusals, each with an example of the detail. */
export type Refusals = Readonly<Partial<Record<RefusalCode, string>>>;

/** A header. With a `component` name the document describes it once and refers to it elsewhere. */
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

/** A successful answer. The handler must return a body of this type and the required headers. */
export interface DeclaredAnswer<Body = unknown, Required extends Headers = Headers> {
  readonly description: string;
  readonly content?: Content;
  readonly headers: Required;
  /** For the type checker only. */
  readonly [typed]?: Body;
}

export type DeclaredAnswers = Readonly<Record<number, DeclaredAnswer>>;

/** The possible results of a handler, by the declared answers. */
export type AnswerOf<Answers extends DeclaredAnswers> = {
  readonly [Status in keyof Answers & number]: Answers[Status] extends DeclaredAnswer<
    infer Body,
    infer Required
  >
    ? Answer<Status, Shown<Body>, Lowercase<RequiredName<Required>>>
    : never;
}[keyof Answers & number];

type RequiredName<Of extends Headers> = {
  [Name in keyof Of & string]: Of[Name] extends { readonly required: true } ? Name : never;
}[keyof Of & string];

export type ParameterIn<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | ParameterIn<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? Name
    : never;

/** The routes of endpoints. @param deps of all their handlers */
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
  const { example } = schema as Documented;
  return { 'application/json': { schema, ...(example !== undefined && { example }) } };
}

export function jsonAnswer<Schema extends TSchema, Required extends Headers = Record<never, Header>>(
  schema: Schema,
  description: string,
  headers: Required = {} as Required,
): DeclaredAnswer<Static<Schema>, Required> {
  return { description, headers, content: jsonContent(schema) };
}
