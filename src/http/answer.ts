import type { Pieces, Reply } from './types.ts';

/** What a typed handler gives: the status, the value to be written as JSON, and the headers that its declaration names. */
export interface Answer<Status extends number = number, Body = unknown, Header extends string = never> {
  readonly status: Status;
  /** `undefined` for an empty body. */
  readonly body: Body | JsonBytes<Body> | Written;
  readonly headers: Readonly<Record<Header, string>>;
}

/** A body in another format than JSON, whole or in pieces. */
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
  if (body instanceof Written) {
    const { type, content } = body;
    const isWhole = typeof content === 'string' || content instanceof Uint8Array;
    const written = isWhole ? { body: content } : { pieces: content };
    return { status, headers: { 'content-type': type, ...more, ...headers }, ...written };
  }
  return {
    status,
    headers: { 'content-type': 'application/json', ...more, ...headers },
    body: body instanceof Uint8Array ? body : JSON.stringify(body),
  };
}
