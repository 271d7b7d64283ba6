import { contentCoding, overhead } from '../../http/body.ts';
import { contentTypeCheck } from '../../http/content-type.ts';
import { problem } from '../../http/problem.ts';
import { SentBody } from '../../http/sent-body.ts';
import type { Handler, Reply, Request } from '../../http/types.ts';
import { senderNameOf } from '../sender-name.ts';
import { metricsJson, usageJson } from './formats.ts';
import { openIntake, type ReportTransport } from './intake.ts';
import type { ReportKinds } from './kinds.ts';

export interface ReportRouteDeps {
  readonly reportKinds: ReportKinds;
  /** Maximum length of a decompressed body in bytes. */
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

/** @param countName name of the field with the number of `stats` in the answer */
function jsonTransport(countName: string, maxReport: number): ReportTransport<Request, Reply> {
  return {
    transport: 'http',
    userAgent: senderNameOf,
    idempotencyKey: (request) => request.header('idempotency-key'),
    address: (request) => request.remoteAddress,
    read(request, budget) {
      if (contentCoding(request) === undefined) return request.body(maxReport, budget);
      const packed = request.body(maxReport + overhead(maxReport), budget);
      return packed.then((bytes) => new SentBody(bytes, gzip, maxReport));
    },
    check: (request) => checkContentType(request.header('content-type')),
    accept: (statCount) => ({ status: 200, headers: jsonHeaders, body: `{"${countName}":${statCount}}` }),
    refuse: (refusal) => problem(refusal),
  };
}

const gzip = [{ kind: 'gzip' }] as const;
const jsonHeaders = { 'content-type': 'application/json' };
const checkContentType = contentTypeCheck('application/json');
