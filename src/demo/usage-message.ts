import { bytesField, joinFields, numberField } from '../grpc/proto-writer.ts';

/** What a server has counted of its flags since its last report. */
export interface ServerReport {
  readonly appKey: string;
  readonly environment: string;
  /** Unix ms. */
  readonly time: number;
  readonly instanceName: string;
  readonly appVersion: string;
  readonly counts: readonly FlagCounts[];
}

/** Counts of one flag, by variant. */
export interface FlagCounts {
  readonly feature: string;
  readonly variants: ReadonlyMap<string, readonly [checks: number, used: number, viewed: number]>;
}

/** A report as JSON: the body of `POST /api/usage/stats`. */
export function usageJson({ time, counts, ...head }: ServerReport): string {
  const stats = counts.map(({ feature, variants }) => ({
    feature,
    variantStats: Object.fromEntries(
      Array.from(variants, ([variant, [checkCount, usedCount, viewedCount]]) => [
        variant,
        { checkCount, usedCount, viewedCount },
      ]),
    ),
  }));
  return JSON.stringify({ ...head, time: new Date(time).toISOString(), stats });
}

/** The same report as a `Usage.FeatureStat` (`proto/usage.proto`). */
export function usageProto(report: ServerReport): Uint8Array {
  const seconds = Math.floor(report.time / 1000);
  const nanos = (report.time - seconds * 1000) * 1e6;
  return joinFields(
    bytesField(1, report.appKey),
    bytesField(2, report.environment),
    bytesField(3, joinFields(numberField(1, seconds), numberField(2, nanos))),
    ...report.counts.map((counts) => bytesField(4, statOf(counts))),
    bytesField(6, report.instanceName),
    bytesField(8, report.appVersion),
  );
}

/** A `Usage.StatMessage`. */
function statOf({ feature, variants }: FlagCounts): Uint8Array {
  const entries = Array.from(variants, ([variant, [checks, used, viewed]]) => {
    const stats = joinFields(numberField(1, checks), numberField(3, used), numberField(4, viewed));
    return bytesField(11, joinFields(bytesField(1, variant), bytesField(2, stats)));
  });
  return joinFields(bytesField(1, feature), ...entries);
}
