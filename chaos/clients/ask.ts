import type { Journal } from '../journal.ts';

/**
 * The outcome of a request.
 * - `accepted`: the service acknowledged the request
 * - `refused`: the service stated that it changed nothing
 * - `unknown`: there was no response, or the balancer sent the response
 */
export type Outcome = 'accepted' | 'refused' | 'unknown';

export interface ServiceResponse {
  readonly outcome: Outcome;
  /** HTTP status; `undefined` if there was no response. */
  readonly status: number | undefined;
  /** Error code in a refusal by the service. */
  readonly code: string | undefined;
  readonly body: string;
}

export interface Question {
  /** Kind of the request. Responses are counted by this kind. */
  readonly kind: string;
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A form, or a value to send as JSON. */
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

/** Sends a request once, on a new connection. */
export async function ask(journal: Journal, http: string, question: Question): Promise<ServiceResponse> {
  const response = await send(http, question);
  journal.count(`${question.kind}: ${response.status ?? 'no answer'}${response.code ? ` ${response.code}` : ''}`);
  return response;
}

async function send(
  http: string,
  { method = 'GET', path, headers, body, timeoutMs = 6_000 }: Question,
): Promise<ServiceResponse> {
  const isForm = body instanceof URLSearchParams;
  const type = body === undefined || isForm ? {} : { 'content-type': 'application/json' };
  try {
    const response = await fetch(`http://${http}${path}`, {
      method,
      headers: { ...type, ...headers },
      // On a reused connection that was just closed, the client would silently send the request again.
      keepalive: false,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    return classifyResponse(response.status, await response.text());
  } catch {
    return { outcome: 'unknown', status: undefined, code: undefined, body: '' };
  }
}

function classifyResponse(status: number, body: string): ServiceResponse {
  if (status < 400) return { outcome: 'accepted', status, code: undefined, body };
  const code = codeIn(body);
  const isOurs = code !== undefined && code !== 'internal' && code !== 'deadline_exceeded';
  return { outcome: isOurs ? 'refused' : 'unknown', status, code, body };
}

function codeIn(body: string): string | undefined {
  try {
    const { code, error } = JSON.parse(body) as { code?: string; error?: string };
    return code ?? error;
  } catch {
    return undefined;
  }
}
