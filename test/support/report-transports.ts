import type { Client } from '@grpc/grpc-js';
import { call, openClient } from './grpc-call.ts';
import { callByWeb } from './grpc-web-client.ts';
import { decode, encode, parseMessage, registry } from './report-messages.ts';

/** A report as JSON for HTTP. Protobuf's JSON is the same. */
export type ReportBody = Readonly<Record<string, unknown>>;

/** Sends a report. Resolves with the number in the response. */
export interface ReportTransport {
  readonly name: string;
  usage(report: ReportBody): Promise<number>;
  metrics(report: ReportBody): Promise<number>;
  close(): void;
}

type Headers = Readonly<Record<string, string>>;

/** Returns every transport of reports to a service. Each sends the headers, and rejects if a report is refused. */
export function openTransports(
  { http, grpc }: { http: string; grpc: string },
  headers: Headers = {},
): ReportTransport[] {
  return [
    jsonTransport(http, headers),
    grpcTransport(openClient(grpc), headers),
    grpcWebTransport(`http://${http}`, headers),
  ];
}

function jsonTransport(http: string, more: Headers): ReportTransport {
  const post = async (path: string, report: ReportBody) => {
    const headers = { 'content-type': 'application/json', ...more };
    const response = await fetch(`http://${http}${path}`, { method: 'POST', headers, body: JSON.stringify(report) });
    if (response.status !== 200) throw new Error(await response.text());
    return countIn((await response.json()) as object);
  };
  return {
    name: 'JSON',
    usage: (report) => post('/api/usage/stats', report),
    metrics: (report) => post('/api/metrics', report),
    close: () => {},
  };
}

const answers: Readonly<Record<string, string>> = {
  'Usage.FeatureStat': 'Usage.StatResult',
  'Metrics.MetricStat': 'Metrics.MetricResult',
};

function grpcTransport(client: Client, metadata: Headers): ReportTransport {
  const send = async (path: string, type: string, report: ReportBody) => {
    const { code, details, response } = await call(client, path, encode(type, report), { metadata });
    if (response === undefined) throw new Error(`${code}: ${details}`);
    return countIn(decode(answers[type]!, response) as object);
  };
  return {
    name: 'gRPC',
    usage: (report) => send('/Usage.Usage/SendStats', 'Usage.FeatureStat', report),
    metrics: (report) => send('/Metrics.Metrics/SendMetrics', 'Metrics.MetricStat', report),
    close: () => client.close(),
  };
}

function grpcWebTransport(url: string, headers: Headers): ReportTransport {
  const send = async (service: string, type: string, report: ReportBody) => {
    const result = await callByWeb(url, registry.getService(service)!, parseMessage(type, report), { headers });
    if (result.response === undefined) throw new Error(`${result.status}: ${result.message}`);
    return countIn(result.response);
  };
  return {
    name: 'gRPC-Web',
    usage: (report) => send('Usage.Usage', 'Usage.FeatureStat', report),
    metrics: (report) => send('Metrics.Metrics', 'Metrics.MetricStat', report),
    close: () => {},
  };
}

function countIn(answer: object): number {
  const { featureCount, count } = answer as { featureCount?: number; count?: number };
  return featureCount ?? count ?? Number.NaN;
}
