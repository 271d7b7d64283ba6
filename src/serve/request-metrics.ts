import type { TokenTally } from '../auth/token-tally.ts';
import type { CallTally } from '../grpc/call-tally.ts';
import { statusName } from '../grpc/status.ts';
import type { ServiceMetric } from '../http/exposition-text.ts';
import type { RequestTally } from '../http/request-tally.ts';
import { byCode, counter } from './metric.ts';

/** What is counted where requests are answered. */
export interface Tallies {
  readonly requests: RequestTally;
  readonly calls: CallTally;
  readonly tokens: TokenTally;
}

/** Requests by HTTP and gRPC, and the tokens that were issued for them. */
export function requestMetrics({ requests, calls, tokens }: Tallies): readonly ServiceMetric[] {
  return [...httpMetrics(requests), ...grpcMetrics(calls), ...tokenMetrics(tokens)];
}

function httpMetrics(requests: RequestTally): readonly ServiceMetric[] {
  return [
    {
      name: 'flagmeter_http_requests_total',
      type: 'counter',
      help: 'HTTP requests by route and status.',
      labels: ['method', 'route', 'status'],
      *read() {
        for (const { method, route, statuses } of requests.routes)
          for (const [status, count] of statuses) yield [{ method, route, status: String(status) }, count];
      },
    },
    {
      name: 'flagmeter_http_request_duration_seconds',
      type: 'histogram',
      help: 'From the head of an HTTP request until its answer.',
      labels: ['method', 'route'],
      *read() {
        for (const { method, route, statuses, durations } of requests.routes)
          if (statuses.size > 0) yield [{ method, route }, durations];
      },
    },
    {
      name: 'flagmeter_http_refusals_total',
      type: 'counter',
      help: 'HTTP requests that were refused with a problem, by its code.',
      labels: ['code'],
      read: () => byCode(requests.codes),
    },
  ];
}

function grpcMetrics(calls: CallTally): readonly ServiceMetric[] {
  return [
    {
      name: 'flagmeter_grpc_calls_total',
      type: 'counter',
      help: 'gRPC calls that have ended, by method and status.',
      labels: ['method', 'status'],
      *read() {
        for (const row of calls.methods)
          for (const [code, count] of row.ended())
            yield [{ method: row.method, status: statusName(code) }, count];
      },
    },
    {
      name: 'flagmeter_grpc_call_duration_seconds',
      type: 'histogram',
      help: 'From the head of a gRPC call of one message until its answer.',
      labels: ['method'],
      *read() {
        for (const { method, durations } of calls.methods)
          if (durations.read().count > 0) yield [{ method }, durations];
      },
    },
  ];
}

function tokenMetrics(tokens: TokenTally): readonly ServiceMetric[] {
  return [
    {
      name: 'flagmeter_tokens_issued_total',
      type: 'counter',
      help: 'Access tokens that were issued, by grant.',
      labels: ['grant'],
      *read() {
        for (const [grant, count] of tokens.issued) yield [{ grant }, count];
      },
    },
    counter(
      'flagmeter_tokens_invalidated_total',
      'Access tokens that were invalidated before they expired.',
      () => tokens.invalidated,
    ),
    {
      name: 'flagmeter_tokens_rejected_total',
      type: 'counter',
      help: 'Access tokens that were refused, by reason: invalid, or unknown_key for a key that this store does not have.',
      labels: ['reason'],
      *read() {
        for (const [reason, count] of tokens.rejections.counts) yield [{ reason }, count];
      },
    },
  ];
}
