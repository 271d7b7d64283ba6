import type { RefusalCode } from '../contract/refusals.ts';
import type { Arguments } from './command.ts';
import type { Context } from './context.ts';
import { Failure, findFailureKind } from './failure.ts';
import { UsageError } from './options.ts';
import { type JsonResponse, notUnderstood, readFields, readText, send, sendForRows } from './send.ts';
import { type Access, openAccess, resolveServerUrl, signInFirst } from './session.ts';

/** Maximum number of retries after status 429, and maximum wait before a retry in seconds. */
const maxWaits = 5;
const longestWait = 60;

const pageLimit = 200;

/** Error code of a change that requires a recent sign-in. */
const tooOld: RefusalCode = 'insufficient_user_authentication';

export type Item = Readonly<Record<string, unknown>>;

export type Query = Readonly<Record<string, string>>;

/** The management API of one server. A path is a list of unencoded segments below `/api/v2`. */
export interface Api {
  readonly url: string;
  /** @returns `undefined` for an empty response @throws {Failure} if the server refuses */
  call(method: string, path: readonly string[], body?: object): Promise<unknown>;
  /** Deletes the item in the query. A path cannot contain its name. @throws {Failure} if the server refuses */
  remove(path: readonly string[], query: Query): Promise<string | null>;
  read(path: readonly string[], query: Query): Promise<Item>;
  /** Yields the rows of a report or a list. @throws {Failure} if the server refuses, or the connection breaks */
  rows(path: readonly string[], query: Query, format: string): Promise<AsyncIterable<Uint8Array>>;
  /** The items of a list, from all of its pages. @throws {Failure} if the server refuses */
  list(path: readonly string[], filters?: Query, most?: number): Promise<readonly Item[]>;
}

/** @throws {UsageError} */
export function connect(context: Context, given: Arguments): Api {
  const url = resolveServerUrl(context, given.value('url'));
  return openApi(context, url, openAccess(context, url));
}

export function openApi(context: Context, url: string, access: Access): Api {
  const fetchResponse = async (method: string, target: string, body?: object): Promise<JsonResponse> => {
    const response = await ask(context, access, (headers) => sendJson(context, target, method, headers, body));
    const { status, json } = response;
    if (status >= 400) throw createRefusal(url, target, status, json);
    if (status !== 204 && json === undefined) throw notUnderstood(target, status);
    return response;
  };
  const request = async (...sent: Parameters<typeof fetchResponse>): Promise<unknown> => {
    const { status, json } = await fetchResponse(...sent);
    return status === 204 ? undefined : json;
  };
  return {
    url,
    call: (method, path, body) => request(method, buildTarget(url, path), body),
    async remove(path, query) {
      const { noted } = await fetchResponse('DELETE', `${buildTarget(url, path)}?${new URLSearchParams(query)}`);
      return noted ?? null;
    },
    read: async (path, query) =>
      readFields(await request('GET', `${buildTarget(url, path)}?${new URLSearchParams(query)}`)),
    async rows(path, query, format) {
      const target = `${buildTarget(url, path)}?${new URLSearchParams({ ...query, format })}`;
      const response = await ask(context, access, (headers) =>
        sendForRows(context, target, { method: 'GET', headers }),
      );
      if (response.rows === undefined) throw createRefusal(url, target, response.status, response.json);
      return response.rows;
    },
    async list(path, filters = {}, most = Number.POSITIVE_INFINITY) {
      const items: Item[] = [];
      const query = new URLSearchParams({ ...filters, limit: String(Math.min(most, pageLimit)) });
      for (;;) {
        const page = readFields(await request('GET', `${buildTarget(url, path)}?${query}`));
        if (!Array.isArray(page['items'])) throw notUnderstood(url, 200);
        items.push(...page['items']);
        if (items.length >= most || typeof page['nextCursor'] !== 'string') return items.slice(0, most);
        query.set('cursor', page['nextCursor']);
      }
    },
  };
}

/**
 * Sends a request. Repeats it once with a new token after status 401. Also repeats it, up to a limit, after status 429.
 */
async function ask<Given extends JsonResponse>(
  context: Context,
  access: Access,
  sendWith: (headers: { readonly authorization: string }) => Promise<Given>,
): Promise<Given> {
  let token = await access.token();
  let replaced = false;
  for (let waits = 0; ; ) {
    const response = await sendWith({ authorization: `Bearer ${token}`, ...readTrace(context.env) });
    const wait = response.status === 429 && waits < maxWaits ? computeWait(response, waits) : undefined;
    // A new token would not help, because it would come from the same old sign-in.
    if (response.status === 401 && !replaced && readText(response.json, 'code') !== tooOld) {
      token = await access.replace(token);
      replaced = true;
    } else if (wait !== undefined) {
      context.err(`Too many requests; retrying in ${wait} s\n`);
      await context.sleep(wait * 1000);
      waits += 1;
    } else return response;
  }
}

/** Returns the headers of the trace context in `TRACEPARENT` and `TRACESTATE`, which a CI pipeline can set. */
function readTrace({ TRACEPARENT, TRACESTATE }: Context['env']): Record<string, string> {
  if (TRACEPARENT === undefined || !/^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/.test(TRACEPARENT)) return {};
  const state = /^[\x20-\x7e]{1,512}$/.test(TRACESTATE ?? '') ? { tracestate: TRACESTATE! } : {};
  return { traceparent: TRACEPARENT, ...state };
}

function sendJson(
  context: Context,
  target: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body: object | undefined,
): Promise<JsonResponse> {
  const accept = { ...headers, accept: 'application/json' };
  if (body === undefined) return send(context, target, { method, headers: accept });
  const withBody = { ...accept, 'content-type': 'application/json' };
  return send(context, target, { method, headers: withBody, body: JSON.stringify(body) });
}

function computeWait({ retryAfter }: JsonResponse, waits: number): number | undefined {
  const asked = retryAfter ?? '';
  const wait = /^\d{1,9}$/.test(asked) ? Math.max(1, Number(asked)) : 2 ** waits;
  return wait <= longestWait ? wait : undefined;
}

/** @throws {UsageError} for a segment `.` or `..` (RFC 3986 §5.2.4), which would address another resource */
function buildTarget(url: string, path: readonly string[]): string {
  const wrong = path.find((segment) => ['', '.', '..'].includes(segment));
  if (wrong !== undefined) throw new UsageError(`Cannot use the name '${wrong}': not allowed in an address`);
  return [url, 'api', 'v2', ...path.map(encodeURIComponent)].join('/');
}

function createRefusal(url: string, target: string, status: number, json: unknown): Failure {
  const code = readText(json, 'code');
  if (code === undefined) return notUnderstood(target, status);
  if (code === tooOld) return signInFirst(url, 'Your sign-in is too old for this change');
  const detail = readText(json, 'detail') ?? readText(json, 'title') ?? `status ${status}`;
  return new Failure(findFailureKind(status), `${detail} (${code})`);
}
