import { notedHeader } from '../contract/notes.ts';
import type { Context } from './context.ts';
import { Failure } from './failure.ts';
import { printable } from './show.ts';

/** Time limit for a response, ms. */
const timeoutMs = 30_000;

interface RequestContent {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams;
}

export interface JsonResponse {
  readonly status: number;
  /** The body, if it is JSON. */
  readonly json: unknown;
  readonly retryAfter: string | null;
  /** Note of the server on an accepted request, if any. */
  readonly noted?: string | null;
}

/** @throws {Failure} if the server cannot be reached, or redirects to another address */
export async function send(context: Context, url: string, sending: RequestContent): Promise<JsonResponse> {
  const response = await fetchWhole(context, url, { ...sending, headers: { ...sending.headers } });
  const json = parseJson(await response.text());
  const { status, headers } = response;
  return { status, json, retryAfter: headers.get('retry-after'), noted: headers.get(notedHeader) };
}

/**
 * Reads the whole response, so that reading its body cannot fail later.
 * @throws {Failure} as `send` does
 */
export async function fetchWhole(context: Context, url: string, init: RequestInit): Promise<Response> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    // Redirects are not followed: the token is for this server only.
    const response = await context.fetch(url, { ...init, redirect: 'manual', signal });
    const { status, headers } = response;
    const body = await response.text();
    if (status >= 300 && status < 400) throw redirected(url, headers.get('location'));
    return new Response(body === '' ? null : body, { status, headers });
  } catch (error) {
    throw error instanceof Failure ? error : unreachable(context, url, error);
  }
}

/** Time limit for the start of a response in rows, ms. The request can wait in a queue of the server. */
const rowsTimeoutMs = 300_000;

/**
 * Sends a request whose response is read as it arrives.
 * @returns the rows, or a refusal
 * @throws {Failure} as `send` does
 */
export async function sendForRows(
  context: Context,
  url: string,
  { method, headers = {} }: RequestContent,
): Promise<JsonResponse & { readonly rows?: AsyncIterable<Uint8Array> }> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), rowsTimeoutMs);
  try {
    const init = { method, headers: { ...headers }, redirect: 'manual', signal: late.signal } as const;
    const response = await context.fetch(url, init);
    const { status } = response;
    if (status >= 300 && status < 400) throw redirected(url, response.headers.get('location'));
    const retryAfter = response.headers.get('retry-after');
    if (status !== 200) return { status, json: parseJson(await response.text()), retryAfter };
    return { status, json: undefined, retryAfter, rows: streamRows(url, response) };
  } catch (error) {
    throw error instanceof Failure ? error : unreachable(context, url, error);
  } finally {
    clearTimeout(timer);
  }
}

/** Yields rows as they arrive. @throws {Failure} if the connection breaks, because rows are missing then */
async function* streamRows(url: string, { body }: Response): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) yield chunk;
  } catch {
    throw new Failure('unavailable', `The connection to ${readOrigin(url)} broke: rows are missing; try again`);
  }
}

/** Returns the fields of a JSON object; no fields for any other value. */
export function readFields(json: unknown): Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null ? { ...json } : {};
}

/** Returns a text field of a JSON object, safe to print. */
export function readText(json: unknown, field: string): string | undefined {
  const value = readFields(json)[field];
  return typeof value === 'string' ? printable(value) : undefined;
}

/** Returns the failure for a response that is not from a flagmeter server, such as the response of a proxy. */
export function notUnderstood(url: string, status: number): Failure {
  const kind = status === 502 || status === 503 || status === 504 ? 'unavailable' : 'failed';
  return new Failure(kind, `${readOrigin(url)} does not respond like a flagmeter server (status ${status})`);
}

function redirected(url: string, location: string | null): Failure {
  const to = printable(location ?? 'another address');
  return new Failure('failed', `${readOrigin(url)} redirects to ${to}; use the address of the server itself`);
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ConnectionRefused: 'connection refused',
  ENOTFOUND: 'the host name cannot be resolved',
  EAI_AGAIN: 'the host name cannot be resolved',
  FailedToOpenSocket: 'the host name cannot be resolved, or the host cannot be reached',
  ECONNRESET: 'the connection was closed',
  ECONNCLOSED: 'the connection was closed',
  ConnectionClosed: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  TimeoutError: `no response within ${timeoutMs / 1000} s`,
};

const certificate = /CERT|SELF_SIGNED|UNABLE_TO_|SSL|TLS|HOSTNAME/;

function unreachable({ env }: Context, url: string, error: unknown): Failure {
  const { code, name, message } = findCause(error);
  if (code !== undefined && certificate.test(code)) {
    const advice = 'set NODE_EXTRA_CA_CERTS to a file with the certificate of its authority';
    return new Failure('failed', `Cannot trust ${readOrigin(url)}: ${code}; ${advice}`);
  }
  const reason = reasons[code ?? ''] ?? reasons[name] ?? printable(message);
  const proxy = proxyFor(url, env);
  const advice = proxy && `; ${proxy.variable} sets the proxy ${printable(proxy.address)}: check it, or set NO_PROXY`;
  return new Failure('unavailable', `Cannot reach ${readOrigin(url)}: ${reason}${advice ?? ''}`);
}

/** Finds the cause of an error. Node wraps it in another error; Bun does not. */
function findCause(error: unknown): { code?: string; name: string; message: string } {
  if (!(error instanceof Error)) return { name: '', message: String(error) };
  return error.cause instanceof Error ? findCause(error.cause) : error;
}

function readOrigin(url: string): string {
  return new URL(url).origin;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface ProxyVariable {
  readonly variable: string;
  /** HOST:PORT, without user and password. */
  readonly address: string;
}

/** Returns the proxy that environment variables set for a URL, by the rules of the runtime's `fetch`. */
export function proxyFor(url: string, env: Context['env']): ProxyVariable | undefined {
  const { protocol, hostname, host } = new URL(url);
  const names = [`${protocol.slice(0, -1)}_proxy`, 'all_proxy'];
  const variable = names.flatMap((name) => [name, name.toUpperCase()]).find((name) => env[name]);
  if (variable === undefined || isExcepted(hostname, host, env)) return undefined;
  const proxy = env[variable]!;
  const address = URL.canParse(proxy) ? new URL(proxy).host || proxy : proxy;
  return { variable, address: address.replace(/^.*@/, '') };
}

/** True if `NO_PROXY` excludes the host: by `*`, or by a suffix of the host name with or without its port. */
function isExcepted(hostname: string, host: string, env: Context['env']): boolean {
  const list = (env['no_proxy'] || env['NO_PROXY'] || '').toLowerCase().split(',');
  return list.some((entry) => {
    const name = entry.trim().replace(/^\*?\./, '');
    const suffix = `.${name}`;
    return name !== '' && (name === '*' || [hostname, host].some((each) => `.${each}`.endsWith(suffix)));
  });
}
