import { randomUUID } from 'node:crypto';
import type { BenchPacket } from '../src/bench/load/packets.ts';
import { manage } from '../test/support/binary.ts';
import { besideFloor, type Comparison } from './beside-floor.ts';
import { addTo, round } from './numbers.ts';
import { rssMb } from './process-stats.ts';
import { commitsIn, middle } from './rounds.ts';
import { sendRequests, verifyCounts } from './service.ts';

/** A token in the format of Unleash, which flagmeter accepts. */
export const token = `default:production.${'f'.repeat(56)}`;

/** Start time in each bucket, which the generator replaces. */
export const start = '2026-01-31T11:59:00.000000Z';

/** Number of senders. Each has its own connection. */
const senders = 200;

/** Returns buckets as Unleash's SDK for Node sends them. Each flag has counts for `no`, for `yes` and for a variant. */
export function createBuckets(features: number, perMessage: number, run: string): BenchPacket[] {
  const stop = new Date().toISOString();
  return Array.from({ length: senders }, (_, sender) => {
    const counts = new Map<string, [number, number, number]>();
    const toggles: Record<string, object> = {};
    for (let n = 0; n < perMessage; n += 1) {
      const feature = `flag-${(sender * perMessage + n) % features}`;
      toggles[feature] = { yes: 12, no: 3, variants: { blue: 7 } };
      for (const [variant, checks] of [
        ['enabled', 5],
        ['disabled', 3],
        ['blue', 7],
      ] as const)
        counts.set(`${feature}/${variant}`, [checks, 0, 0]);
    }
    const body = {
      appName: 'billing',
      instanceId: `billing-${sender}`,
      connectionId: `${run}-${sender}`,
      sdkVersion: 'unleash-client-node:6.12.1',
      platformName: 'node',
      platformVersion: 'v22.12.0',
      bucket: { start, stop, toggles },
    };
    return { body: JSON.stringify(body), counts };
  });
}

/** Formats a message as an HTTP request. */
export function formatRequest({ body }: BenchPacket, http: string): string {
  return [
    'POST /api/client/metrics HTTP/1.1',
    `Host: ${http}`,
    `Authorization: ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}

/** Compares messages of Unleash SDKs with the bare HTTP engine that parses them. */
export const messages: Comparison<'flags' | 'flags-per-message'> = {
  summary: 'durable messages of Unleash SDKs per second, compared with the bare HTTP engine (the floor)',
  unit: 'message',
  defaults: { connections: 128, seconds: 5, rounds: 3, flags: 250, 'flags-per-message': 50 },
  small: { connections: 4, seconds: 0.25, rounds: 1, flags: 60, 'flags-per-message': 50 },
  floors: { floor: ['floor.ts'] },
  quantiles: ['p50', 'p99'],
  async begin(service, { connections, seconds, flags, 'flags-per-message': perMessage }) {
    const since = new Date();
    const path = `/api/v2/applications/${service.applicationId}/keys/adopt`;
    const body = { token, type: 'Backend', environment: 'Production' };
    await manage(service.http, service.accessToken, 'POST', path, 201, body);
    const plan = { connections, seconds, warmupSeconds: Math.min(1, seconds / 5), time: start };
    const buckets = createBuckets(flags, perMessage, '');
    const accepted: number[] = [];
    return {
      async drive(floor, open) {
        const http = floor ?? service.http;
        const requests = createBuckets(flags, perMessage, randomUUID()).map((each) => formatRequest(each, http));
        const report = await sendRequests(http, requests, { ...plan, ...open });
        if (floor === undefined) addTo(accepted, report.accepted);
        return report;
      },
      verify: () => verifyCounts(service, buckets, accepted, since),
      summarize(measured) {
        const commits = commitsIn(measured);
        const memory = round(rssMb(service.pid), 1);
        return {
          figures: { rssMb: memory, cpuUsPerMessage: round(middle(measured.service, 'cpuUs'), 2), commits },
          remarks: [
            `${perMessage} flags with 3 counts each, ${buckets[0]!.body.length} bytes`,
            `${memory} MiB resident`,
            `${commits ?? 'unknown'} commits; every count verified in the usage report`,
          ],
        };
      },
    };
  },
};

export const unleash = besideFloor(messages);
