import type { ApiError } from '../contract/errors.ts';
import { refusals } from '../contract/refusals.ts';
import { sharedHeaders } from './request-ids.ts';
import type { Pieces, Reply } from './types.ts';

/** The reply for a refusal: `application/problem+json` (RFC 9457) with a stable `code`. A shared refusal is written once. */
export function problem(refusal: ApiError, headers: Readonly<Record<string, string>> = {}): Reply {
  const reply = written.get(refusal) ?? write(refusal);
  const { status, body, code } = reply;
  return { status, headers: { ...reply.headers, ...headers }, body: body!, code: code! };
}

const written = new WeakMap<ApiError, Reply>();

function write(refusal: ApiError): Reply {
  const { status, title } = refusals[refusal.code];
  const retryAfter = refusal.retryAfter === undefined ? {} : { 'retry-after': String(Math.ceil(refusal.retryAfter)) };
  const reply: Reply = {
    status,
    headers: { 'content-type': 'application/problem+json', ...retryAfter },
    body: JSON.stringify({ type: 'about:blank', title, status, code: refusal.code, detail: refusal.message }),
    code: refusal.code,
  };
  written.set(refusal, reply);
  return reply;
}

export interface Answer<Status extends number = number, Body = unknown, Header extends string = never> {
  readonly status: Status;
  /** `undefined` for an empty body. */
  readonly body: Body | JsonBytes<Body> | Written;
  readonly headers: Readonly<Record<Header, string>>;
}

/** A body in a format other than JSON, whole or in chunks. */
export class Written {
  readonly type: string;
  readonly content: string | Uint8Array | Pieces;

  /** @param type the media type */
  constructor(type: string, content: string | Uint8Array | Pieces) {
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

/** 200 with a value. */
export function ok<Body>(body: Body | JsonBytes<Body>): Answer<200, Body> {
  return { status: 200, body, headers: noHeaders };
}

export function created<Body>(location: string, body: Body): Answer<201, Body, 'location'> {
  return { status: 201, body, headers: { location } };
}

export const noContent: Answer<204, undefined> = { status: 204, body: undefined, headers: {} };

/** Makes replies of answers. @param more headers of every answer of the host */
export function repliesWith(more: Readonly<Record<string, string>>): (answer: Answer) => Reply {
  const ofJson = sharedHeaders({ 'content-type': 'application/json', ...more });
  return ({ status, body, headers }) => {
    if (body === undefined) return { status, headers: { ...more, ...headers } };
    if (body instanceof Written) {
      const { type, content } = body;
      const isWhole = typeof content === 'string' || content instanceof Uint8Array;
      const written = isWhole ? { body: content } : { pieces: content };
      return { status, headers: { 'content-type': type, ...more, ...headers }, ...written };
    }
    return {
      status,
      headers: headers === noHeaders ? ofJson : { ...ofJson, ...headers },
      body: body instanceof Uint8Array ? body : JSON.stringify(body),
    };
  };
}
