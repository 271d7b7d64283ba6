import type { Context } from './context.ts';
import { Failure } from './failure.ts';
import { printable } from './printable.ts';

/** How long a server may take to answer, ms. */
const patienceMs = 30_000;

export interface Sending {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams;
}

export interface Answer {
  readonly status: number;
  /** The body, when it is JSON. */
  readonly json: unknown;
  readonly retryAfter: string | null;
}

/**
 * Sends a request, once.
 * @throws {Failure} when the server cannot be reached, or redirects to another address
 */
export async function send(context: Context, url: string, sending: Sending): Promise<Answer> {
  const response = await fetchWhole(context, url, { ...sending, headers: { ...sending.headers } });
  const json = jsonOf(await response.text());
  return { status: response.status, json, retryAfter: response.headers.get('retry-after') };
}

/**
 * Sends a request, once, and reads the whole response, so that reading its body cannot fail any more.
 * @throws {Failure} as `send` does
 */
export async function fetchWhole(context: Context, url: string, init: RequestInit): Promise<Response> {
  const signal = AbortSignal.timeout(patienceMs);
  try {
    // A redirect is not followed: the user has not said that the token may go where it leads.
    const response = await context.fetch(url, { ...init, redirect: 'manual', signal });
    const { status, headers } = response;
    const body = await response.text();
    if (status >= 300 && status < 400) throw redirected(url, headers.get('location'));
    return new Response(body === '' ? null : body, { status, headers });
  } catch (error) {
    throw error instanceof Failure ? error : unreachable(url, error);
  }
}

/** The fields of a JSON object; empty for anything else. */
export function fieldsOf(json: unknown): Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null ? { ...json } : {};
}

/** A text field of a JSON object, safe to print. */
export function textOf(json: unknown, field: string): string | undefined {
  const value = fieldsOf(json)[field];
  return typeof value === 'string' ? printable(value) : undefined;
}

/** The answer of something that is not a flagmeter server, such as a proxy. */
export function notUnderstood(url: string, status: number): Failure {
  const kind = status === 502 || status === 503 || status === 504 ? 'unavailable' : 'failed';
  return new Failure(kind, `${originOf(url)} does not answer as a flagmeter server does (status ${status})`);
}

function redirected(url: string, location: string | null): Failure {
  const to = printable(location ?? 'another address');
  return new Failure('failed', `${originOf(url)} redirects to ${to}; use the address of the server itself`);
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ConnectionRefused: 'nothing listens there',
  ENOTFOUND: 'the host name cannot be resolved',
  EAI_AGAIN: 'the host name cannot be resolved',
  FailedToOpenSocket: 'the host name cannot be resolved, or the host cannot be reached',
  ECONNRESET: 'the connection was closed',
  ECONNCLOSED: 'the connection was closed',
  ConnectionClosed: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  TimeoutError: `no answer within ${patienceMs / 1000} s`,
};

const certificate = /CERT|SELF_SIGNED|UNABLE_TO_|SSL|TLS|HOSTNAME/;

function unreachable(url: string, error: unknown): Failure {
  const { code, name, message } = causeOf(error);
  if (code !== undefined && certificate.test(code)) {
    const advice = 'NODE_EXTRA_CA_CERTS may name a file with the certificate of its authority';
    return new Failure('failed', `Cannot trust ${originOf(url)}: ${code}; ${advice}`);
  }
  const reason = reasons[code ?? ''] ?? reasons[name] ?? printable(message);
  return new Failure('unavailable', `Cannot reach ${originOf(url)}: ${reason}`);
}

/** Node wraps what went wrong into another error; Bun does not. */
function causeOf(error: unknown): { code?: string; name: string; message: string } {
  if (!(error instanceof Error)) return { name: '', message: String(error) };
  return error.cause instanceof Error ? causeOf(error.cause) : error;
}

function originOf(url: string): string {
  return new URL(url).origin;
}

/** Parses JSON; `undefined` when it is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
