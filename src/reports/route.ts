import { ApiError } from '../errors.ts';
import { readBody } from '../http/body.ts';
import { contentTypeCheck } from '../http/content-type.ts';
import { problem } from '../http/problem.ts';
import type { Handler } from '../http/types.ts';
import { senderNameOf } from '../ingest/sender-name.ts';
import type { MetricsReport, ReportReceiver, UsageReport } from './report.ts';
import { type ReportFormat, takeReport } from './take.ts';

/** What the endpoints of reports need of the rest of the service. */
export interface ReportRouteDeps {
  readonly receiver: ReportReceiver;
  /** Maximum length of a body in bytes, inflated. */
  readonly maxReport: number;
}

/**
 * Makes the handler that takes one kind of report as JSON. Servers send reports, browsers do not: no answer has CORS headers.
 * @param answer what to answer, of the number of `stats` received
 */
export function reportHandler<Report extends UsageReport | MetricsReport>(
  { receiver, maxReport }: ReportRouteDeps,
  format: ReportFormat<Report>,
  answer: (statCount: number) => object,
): Handler {
  return async (request) => {
    try {
      const statCount = await takeReport(receiver, format, {
        transport: 'http',
        userAgent: senderNameOf(request),
        idempotencyKey: request.header('idempotency-key'),
        body: () => readBody(request, maxReport, receiver.bodies),
        check: () => checkContentType(request.header('content-type')),
      });
      const body = JSON.stringify(answer(statCount));
      return { status: 200, headers: { 'content-type': 'application/json' }, body };
    } catch (error) {
      if (error instanceof ApiError) return problem(error);
      throw error;
    }
  };
}

const checkContentType = contentTypeCheck('application/json');
