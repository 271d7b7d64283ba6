/*
 * src/console/api: requests to the server. client.ts sends a request, poll.ts repeats it, list.ts reads lists in pages,
 * thing.ts reads and changes one resource, problem.ts describes failures, and session.ts signs in and out. settings.ts
 * and clock.ts have the settings and the time of the server.
 */
import { signal } from '@preact/signals';
import { learnTime } from './clock.ts';
import { readProblem, Unreachable } from './problem.ts';
import { signedInAgain } from './session.ts';
import { root } from './settings.ts';

type QueryValue = string | number | boolean | undefined;
export type Query = Readonly<Record<string, QueryValue | readonly string[]>>;

export interface CallOptions {
  readonly query?: Query;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export const reachable = signal(true);

/** Returns the path of a resource below `/api/v2`. Encodes each segment. */
export function resource(...segments: readonly string[]): string {
  return `/api/v2/${segments.map(encodeURIComponent).join('/')}`;
}

/** Appends a query to a path. Omits `undefined` values. A list becomes one parameter per item. */
export function withQuery(path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined) parameters.append(name, String(each));
  const text = parameters.toString();
  return text === '' ? path : `${path}?${text}`;
}

/**
 * Sends a request as the session's user. If the session has ended, or its sign-in is too old, waits until the user
 * signs in again. Then repeats the request.
 * @param path from `resource`
 * @returns the body; `undefined` if it is empty
 * @throws {ApiProblem} if the server refuses the request
 * @throws {Unreachable} if the response is missing or incomplete
 */
export async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  return readBody(await send(method, path, options));
}

export async function readBody<T>(response: Response): Promise<T> {
  if (!response.ok) throw await readProblem(response);
  if (response.status === 204) return undefined as T;
  return response.json().catch((cause: unknown) => {
    throw new Unreachable('The response was cut off', { cause });
  });
}

/** Like `call`, but returns every response, including refusals. */
export async function send(method: string, path: string, options: CallOptions = {}): Promise<Response> {
  for (;;) {
    const response = await attempt(method, path, options);
    if (response.status !== 401) return response;
    const { code } = await readProblem(response);
    await signedInAgain(code === 'insufficient_user_authentication' ? 'too-old' : 'ended', options.signal);
  }
}

async function attempt(method: string, path: string, options: CallOptions): Promise<Response> {
  const { query = {}, body, headers, signal } = options;
  try {
    const response = await fetch(withQuery(root + path, query), {
      method,
      cache: 'no-store',
      headers: {
        'flagmeter-console': '1',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    reachable.value = true;
    learnTime(response.headers.get('date'));
    return response;
  } catch (error) {
    if (signal?.aborted) throw error;
    reachable.value = false;
    throw new Unreachable('The server cannot be reached', { cause: error });
  }
}
