import { encode } from '../test/ingest/support/report-messages.ts';
import type { BenchPacket } from './packets.ts';

/** Features of the report that the gRPC benchmark sends; each comes with two variants. */
const features = 20;

/** The `StatResult` that answers it. */
export const reportAnswer = Buffer.from([0x08, features]);

/** Takes the place of a number in the name of the instance, for no two reports may be alike. */
const placeholder = '00000000';

/** One usage report, encoded, and what each sending must add to the counts. */
export interface BenchReport extends Pick<BenchPacket, 'counts'> {
  readonly message: Buffer;
  /** Where in the message eight digits stand that make it another report. */
  readonly numberAt: number;
}

/** A report of 20 features with two variants each, as an SDK of a server would send it. */
export function reportOf(appKey: string, time: Date): BenchReport {
  const names = Array.from({ length: features }, (_, index) => `feature-${index}`);
  const variantStats = {
    on: { checkCount: 30, requestCount: 12, usedCount: 20, viewedCount: 10 },
    off: { checkCount: 5, requestCount: 4 },
  };
  const message = encode('Usage.FeatureStat', {
    appKey,
    environment: 'Production',
    time: time.toISOString(),
    instanceName: `web-${placeholder}`,
    processStartTime: time.toISOString(),
    stats: names.map((feature) => ({ feature, variantStats })),
  });
  const counts = names.flatMap((feature): [string, readonly [number, number, number]][] => [
    [`${feature}/on`, [30, 20, 10]],
    [`${feature}/off`, [5, 0, 0]],
  ]);
  return { message, numberAt: message.indexOf(placeholder), counts: new Map(counts) };
}
