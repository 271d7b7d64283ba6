import type { Reply } from './types.ts';

/** What a typed handler gives: the status, the value to be written as JSON, and the headers that its declaration names. */
export interface Answer<Status extends number = number, Body = unknown, Header extends string = never> {
  readonly status: Status;
  /** `undefined` for an empty body. */
  readonly body: Body | JsonBytes<Body>;
  readonly headers: Readonly<Record<Header, string>>;
}

declare const encodes: unique symbol;

/** A value that is JSON in UTF-8 already, for instance because another thread wrote it. */
export type JsonBytes<Value> = Uint8Array<ArrayBuffer> & { readonly [encodes]: Value };

/** Writes a value as JSON. */
export function jsonBytes<Value>(value: Value): JsonBytes<Value> {
  return new TextEncoder().encode(JSON.stringify(value)) as JsonBytes<Value>;
}

/** 200 with a value. */
export function ok<Body>(body: Body | JsonBytes<Body>): Answer<200, Body> {
  return { status: 200, body, headers: {} };
}

/** 201 with what was created, and where it is. */
export function created<Body>(location: string, body: Body): Answer<201, Body, 'location'> {
  return { status: 201, body, headers: { location } };
}

export const noContent: Answer<204, undefined> = { status: 204, body: undefined, headers: {} };

/** The reply for an answer. @param more headers that every answer of the host has */
export function replyWith(
  { status, body, headers }: Answer,
  more: Readonly<Record<string, string>> = {},
): Reply {
  if (body === undefined) return { status, headers: { ...more, ...headers } };
  return {
    status,
    headers: { 'content-type': 'application/json', ...more, ...headers },
    body: body instanceof Uint8Array ? body : JSON.stringify(body),
  };
}
