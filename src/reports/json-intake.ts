import { decodeText, readBody } from '../http/body.ts';
import { contentTypeCheck } from '../http/content-type.ts';
import { problem } from '../http/problem.ts';
import type { Handler, Reply, Request } from '../http/types.ts';
import { peekerOf } from '../ingest/peek.ts';
import { senderNameOf } from '../ingest/sender-name.ts';
import { openIntake, type ReportFormat, type ReportTransport } from './intake.ts';
import { decodeMetrics } from './json-metrics.ts';
import { decodeUsage } from './json-usage.ts';
import type { ReportKinds } from './kinds.ts';
import type { MetricsReport, UsageReport } from './report.ts';

const peek = peekerOf('appKey', 'environment', 'instanceName');

const usageJson: ReportFormat<UsageReport> = { decode: (body) => decodeUsage(decodeText(body)), peek };
const metricsJson: ReportFormat<MetricsReport> = { decode: (body) => decodeMetrics(decodeText(body)), peek };

/** What taking reports as JSON needs of the rest of the service. */
export interface ReportRouteDeps {
  readonly reportKinds: ReportKinds;
  /** Maximum length of a body in bytes, inflated. */
  readonly maxReport: number;
}

/** The handler of `POST /api/usage/stats`. */
export function usageIntake({ reportKinds: { deps, usage }, maxReport }: ReportRouteDeps): Handler {
  return openIntake(deps, usage, usageJson, jsonTransport('featureCount', maxReport)).receive;
}

/** The handler of `POST /api/metrics`. */
export function metricsIntake({ reportKinds: { deps, metrics }, maxReport }: ReportRouteDeps): Handler {
  return openIntake(deps, metrics, metricsJson, jsonTransport('count', maxReport)).receive;
}

/** @param countName what the answer calls the number of `stats` */
function jsonTransport(countName: string, maxReport: number): ReportTransport<Request, Reply> {
  return {
    transport: 'http',
    userAgent: senderNameOf,
    idempotencyKey: (request) => request.header('idempotency-key'),
    read: (request, budget) => readBody(request, maxReport, budget),
    check: (request) => checkContentType(request.header('content-type')),
    accept: (statCount) => ({ status: 200, headers: jsonHeaders, body: `{"${countName}":${statCount}}` }),
    refuse: (refusal) => problem(refusal),
  };
}

const jsonHeaders = { 'content-type': 'application/json' };
const checkContentType = contentTypeCheck('application/json');
