import type { Refusal } from '../contract/errors.ts';
import type { RefusalDescription } from '../contract/ledger-refusals.ts';
import { type RefusalCode, refusals } from '../contract/refusals.ts';
import { sharedHeaders } from './request-ids.ts';
import type { BodyChunks, HttpResponse } from './types.ts';

/**
 * Returns the response to a refusal: `application/problem+json` (RFC 9457) with a stable `code`. The status and the
 * body are cached per `Refusal` object.
 */
export function problem(refusal: Refusal, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  const response = written.get(refusal) ?? write(refusal);
  const { status, body, code } = response;
  return { status, headers: { ...response.headers, ...headers }, body: body!, code: code! };
}

const written = new WeakMap<Refusal, HttpResponse>();

/** Returns the problem document of a refusal. */
export function describeProblem(code: RefusalCode, detail: string) {
  const { status, title, formerly }: RefusalDescription = refusals[code];
  return { type: 'about:blank', title, status, code, ...(formerly && { formerCode: formerly }), detail };
}

function write(refusal: Refusal): HttpResponse {
  const document = describeProblem(refusal.code, refusal.message);
  const retryAfter = refusal.retryAfter === undefined ? {} : { 'retry-after': String(Math.ceil(refusal.retryAfter)) };
  const response: HttpResponse = {
    status: document.status,
    headers: { 'content-type': 'application/problem+json', ...retryAfter },
    body: JSON.stringify(document),
    code: refusal.code,
  };
  written.set(refusal, response);
  return response;
}

export interface TypedResponse<Status extends number = number, Body = unknown, Header extends string = never> {
  readonly status: Status;
  /** The value; `undefined` for an empty body. */
  readonly body: Body | JsonBytes<Body> | RawBody;
  readonly headers: Readonly<Record<Header, string>>;
}

/** A body in a format other than JSON, complete or in chunks. */
export class RawBody {
  readonly type: string;
  readonly content: string | Uint8Array | BodyChunks;

  /** @param type the media type */
  constructor(type: string, content: string | Uint8Array | BodyChunks) {
    this.type = type;
    this.content = content;
  }
}

declare const encodes: unique symbol;

/** A value that is already UTF-8 JSON, for example because another thread encoded it. */
export type JsonBytes<Value> = Uint8Array<ArrayBuffer> & { readonly [encodes]: Value };

export function jsonBytes<Value>(value: Value): JsonBytes<Value> {
  return new TextEncoder().encode(JSON.stringify(value)) as JsonBytes<Value>;
}

const noHeaders = {};

/** Responds with 200 and a value. */
export function ok<Body>(body: Body | JsonBytes<Body>): TypedResponse<200, Body> {
  return { status: 200, body, headers: noHeaders };
}

export function created<Body>(location: string, body: Body): TypedResponse<201, Body, 'location'> {
  return { status: 201, body, headers: { location } };
}

export const noContent: TypedResponse<204, undefined> = { status: 204, body: undefined, headers: {} };

/** Returns a function that converts typed responses. @param more headers of every response of the host */
export function createResponder(more: Readonly<Record<string, string>>): (response: TypedResponse) => HttpResponse {
  const ofJson = sharedHeaders({ 'content-type': 'application/json', ...more });
  return ({ status, body, headers }) => {
    if (body === undefined) return { status, headers: { ...more, ...headers } };
    if (body instanceof RawBody) {
      const { type, content } = body;
      const isWhole = typeof content === 'string' || content instanceof Uint8Array;
      const written = isWhole ? { body: content } : { chunks: content };
      return { status, headers: { 'content-type': type, ...more, ...headers }, ...written };
    }
    return {
      status,
      headers: headers === noHeaders ? ofJson : { ...ofJson, ...headers },
      body: body instanceof Uint8Array ? body : JSON.stringify(body),
    };
  };
}
