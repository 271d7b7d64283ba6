import type { BenchPacket } from '../src/bench/load/packets.ts';
import { encodeAs, evaluation, logs, resource } from '../test/ingest/otlp/messages.ts';
import { besideFloor } from './beside-floor.ts';
import { round } from './numbers.ts';
import { rssMb } from './process-stats.ts';
import { middle } from './rounds.ts';
import { sendRequests, verifyCounts } from './service.ts';

/** Number of flags in a request, each with two variants. */
const features = 50;

/** A time that the generator replaces by the time of sending, so that no two requests are equal. */
const time = '2026-01-31T11:59:00.000000Z';

/** Returns an export request with log records, as the EventHook of OpenFeature sends them. */
function createRequest(records: number, since: Date) {
  const counts = new Map<string, [number, number, number]>();
  const events = Array.from({ length: records }, (_, at) => {
    const feature = `feature-${at % features}`;
    const variant = at % (2 * features) < features ? 'on' : 'off';
    const series = `${feature}/${variant}`;
    counts.set(series, [(counts.get(series)?.[0] ?? 0) + 1, 0, 0]);
    return evaluation(
      {
        'feature_flag.key': feature,
        'feature_flag.provider.name': 'in-memory',
        'feature_flag.result.reason': 'targeting_match',
        'feature_flag.result.variant': variant,
        'feature_flag.result.value': variant === 'on',
        'feature_flag.context.id': `user-${at}`,
      },
      since.getTime() + at,
    );
  });
  return {
    body: Buffer.from(encodeAs('protobuf', 'logs', logs(events, resource({ 'service.instance.id': time })))),
    counts,
  };
}

/** Compares logs of OpenTelemetry with the bare HTTP engine. */
export const otlp = besideFloor({
  summary:
    'durable flag evaluations per second in logs of OpenTelemetry, compared with the bare HTTP engine (the floor)',
  unit: 'request',
  defaults: { connections: 32, seconds: 5, rounds: 3, records: 100 },
  small: { connections: 4, seconds: 0.25, rounds: 1, records: 100 },
  floors: { floor: ['floor.ts', 'read'] },
  async begin(service, { connections, seconds, records }) {
    const since = new Date();
    const { body, counts } = createRequest(records, since);
    const head = (http: string) =>
      [
        'POST /v1/logs HTTP/1.1',
        `Host: ${http}`,
        'Content-Type: application/x-protobuf',
        `Authorization: Bearer ${service.key}`,
        `Content-Length: ${body.length}`,
        '\r\n',
      ].join('\r\n');
    const plan = { connections, seconds, warmupSeconds: Math.min(1, seconds / 5), status: 200, time };
    let accepted = 0;
    return {
      async drive(floor, open) {
        const http = floor ?? service.http;
        const request = `${head(http)}${body.toString('latin1')}`;
        const report = await sendRequests(http, [request], { ...plan, ...open, encoding: 'latin1' });
        if (floor === undefined) accepted += report.requests;
        return report;
      },
      verify() {
        const packet: BenchPacket = { body: '', counts };
        return verifyCounts(service, [packet], [accepted], since);
      },
      summarize(measured) {
        const recordsPerSecond = round(middle(measured.service, 'rps') * records);
        const memory = round(rssMb(service.pid), 1);
        return {
          figures: {
            recordsPerSecond,
            rssMb: memory,
            cpuUsPerRecord: round(middle(measured.service, 'cpuUs') / records, 2),
          },
          remarks: [
            `${recordsPerSecond} records/s in requests of ${records} (${body.length} bytes)`,
            `${memory} MiB resident`,
            'every count verified in the usage report',
          ],
        };
      },
    };
  },
});
