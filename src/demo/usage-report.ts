import { connect } from 'node:http2';
import { messageFrame } from '../grpc/frames.ts';
import { bytesField, joinFields, numberField } from '../grpc/proto-writer.ts';
import type { VariantCounts } from './story.ts';

/** A server's report of its flags. */
export interface UsageReport {
  readonly appKey: string;
  readonly environment: string;
  /** Unix ms. */
  readonly time: number;
  readonly instanceName: string;
  readonly appVersion: string;
  readonly counted: readonly VariantCounts[];
}

/** The body of `POST /api/usage/stats`. */
export function usageJson({ time, counted, ...head }: UsageReport): object {
  const stats = counted.map(({ feature, variant, counts: [checkCount, usedCount, viewedCount] }) => {
    return { feature, variantStats: { [variant]: { checkCount, usedCount, viewedCount } } };
  });
  return { ...head, time: new Date(time).toISOString(), stats };
}

/** A `Usage.FeatureStat` (`proto/usage.proto`). */
function usageProto(report: UsageReport): Uint8Array {
  const stats = report.counted.map(({ feature, variant, counts: [checks, used, viewed] }) => {
    const counts = joinFields(numberField(1, checks), numberField(3, used), numberField(4, viewed));
    const entry = joinFields(bytesField(1, variant), bytesField(2, counts));
    return bytesField(4, joinFields(bytesField(1, feature), bytesField(11, entry)));
  });
  return joinFields(
    bytesField(1, report.appKey),
    bytesField(2, report.environment),
    bytesField(3, numberField(1, Math.floor(report.time / 1000))),
    ...stats,
    bytesField(6, report.instanceName),
    bytesField(8, report.appVersion),
  );
}

/** Sends a report by gRPC. @param authority `HOST:PORT` of a server without TLS */
export function sendUsage(authority: string, userAgent: string, report: UsageReport): void {
  const session = connect(`http://${authority}`);
  session.on('error', () => {});
  const stream = session.request({
    ...{ ':method': 'POST', ':path': '/Usage.Usage/SendStats', te: 'trailers' },
    ...{ 'content-type': 'application/grpc', 'user-agent': userAgent },
  });
  stream.on('error', () => {}).on('close', () => session.close());
  stream.resume();
  stream.end(messageFrame(usageProto(report)));
}
