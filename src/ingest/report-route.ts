import { Refusal } from '../errors.ts';
import { decodeText, readBody } from '../http/body.ts';
import { problem } from '../http/problem.ts';
import type { Reply, Request, Route } from '../http/types.ts';
import { checkIdempotencyKey } from './message-identity.ts';
import type { ReportReceiver, Sender } from './report.ts';

/** What the routes of reports need of the rest of the service. */
export interface ReportRouteParts {
  readonly receiver: ReportReceiver;
  /** Most bytes of a body, inflated. */
  readonly maxBody: number;
}

/**
 * A route that takes one kind of report as JSON. Servers send reports, browsers do not: no answer has CORS headers.
 * @param take decodes and hands over a body's text; gives what to answer once the report is on disk
 */
export function reportRoute(
  parts: ReportRouteParts,
  path: string,
  take: (json: string, sender: Sender) => Promise<object>,
): Route {
  return { method: 'POST', path, handle: (request) => receive(parts, request, take), noOptions: true };
}

/** Checked in the order 503, 413, 400, 404, 429: `take` sees to the last two. */
async function receive(
  { receiver, maxBody }: ReportRouteParts,
  request: Request,
  take: (json: string, sender: Sender) => Promise<object>,
): Promise<Reply> {
  try {
    receiver.admit();
    const body = await readBody(request, maxBody);
    checkJsonType(request.header('content-type'));
    const sender: Sender = {
      transport: 'http',
      userAgent: request.header('user-agent'),
      idempotencyKey: checkIdempotencyKey(request.header('idempotency-key')),
    };
    const answer = await take(decodeText(body), sender);
    return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(answer) };
  } catch (error) {
    if (error instanceof Refusal) return problem(error);
    throw error;
  }
}

const contentType = /^\s*application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/** @throws {Refusal} `invalid_content_type` unless a body is said to be JSON */
export function checkJsonType(value: string | undefined): void {
  if (value !== undefined && contentType.test(value)) return;
  throw new Refusal('invalid_content_type', 'Send application/json, in UTF-8');
}
