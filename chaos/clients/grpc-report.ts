import type { Client } from '@grpc/grpc-js';
import { call, openClient } from '../../test/support/grpc-call.ts';
import { encode } from '../../test/support/report-messages.ts';
import type { Round } from '../round.ts';
import type { Outcome } from './ask.ts';

const operations = {
  usage: { path: '/Usage.Usage/SendStats', type: 'Usage.FeatureStat' },
  metrics: { path: '/Metrics.Metrics/SendMetrics', type: 'Metrics.MetricStat' },
} as const;

/** Channel options. Calls are not retried, and a channel reconnects soon after its node is back. */
const channel = {
  'grpc.enable_retries': 0,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 500,
};

const clients = new Map<string, Client>();

/** Sends a report over gRPC. A refusal with a code of flagmeter comes from the service, not from gRPC. */
export async function grpcReport(
  round: Round,
  address: string,
  operation: keyof typeof operations,
  report: object,
  metadata: Record<string, string> = {},
): Promise<Outcome> {
  const { path, type } = operations[operation];
  const client = clients.get(address) ?? openClient(address, channel);
  clients.set(address, client);
  const options = { deadline: Date.now() + 6_000 };
  const { code, trailers } = await call(client, path, encode(type, report), { options, metadata });
  const ours = trailers.get('flagmeter-code')[0];
  round.journal.count(`grpc report: ${code}${ours === undefined ? '' : ` ${ours}`}`);
  const outcome = classifyResult(code, ours?.toString());
  round.taken[outcome]++;
  return outcome;
}

function classifyResult(code: number, ours: string | undefined): Outcome {
  if (code === 0) return 'accepted';
  return ours === undefined || ours === 'internal' || ours === 'deadline_exceeded' ? 'unknown' : 'refused';
}

/** Closes all channels, so that the program can end. */
export function closeGrpc(): void {
  for (const client of clients.values()) client.close();
  clients.clear();
}
