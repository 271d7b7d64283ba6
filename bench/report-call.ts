import { encode } from '../test/support/report-messages.ts';
import type { BenchPacket } from './packets.ts';

/** Features in the report of the gRPC benchmark, each with two variants. */
const features = 20;

/** The `StatResult` in response. */
export const reportAnswer = Buffer.from([0x08, features]);

/** Placeholder for the number of an instance. */
const placeholder = '0000';

/** Positions of the sender and the time in an encoded report. */
export interface ReportMarks {
  /** The four digits of the instance's number. */
  readonly instanceAt: number;
  /** The seconds of the time, and the nanoseconds: varints of five bytes each. */
  readonly secondsAt: number;
  readonly nanosAt: number;
  /** Unix seconds of the first report. */
  readonly since: number;
}

/** One encoded usage report, and the counts that each sending must add. */
export interface BenchReport extends Pick<BenchPacket, 'counts'> {
  readonly message: Buffer;
  readonly marks: ReportMarks;
}

/** A report of 20 features with two variants each, as a server SDK would send it. */
export function reportOf(appKey: string, since: Date): BenchReport {
  const names = Array.from({ length: features }, (_, index) => `feature-${index}`);
  const variantStats = {
    on: { checkCount: 30, requestCount: 12, usedCount: 20, viewedCount: 10 },
    off: { checkCount: 5, requestCount: 4 },
  };
  const message = encode('Usage.FeatureStat', {
    appKey,
    environment: 'Production',
    time: '2026-01-01T00:00:00.999999Z', // Its seconds and nanoseconds take five bytes each.
    instanceName: `web-${placeholder}`,
    processStartTime: since.toISOString(),
    stats: names.map((feature) => ({ feature, variantStats })),
  });
  const counts = names.flatMap((feature): [string, readonly [number, number, number]][] => [
    [`${feature}/on`, [30, 20, 10]],
    [`${feature}/off`, [5, 0, 0]],
  ]);
  const timeAt = message.indexOf(timeHead);
  const marks = {
    instanceAt: message.indexOf(placeholder),
    secondsAt: timeAt + 3,
    nanosAt: timeAt + 9,
    since: Math.floor(since.getTime() / 1000),
  };
  return { message, marks, counts: new Map(counts) };
}

/** The field `time`, of 12 bytes, and the tag of its seconds. */
const timeHead = Buffer.from([0x1a, 12, 0x08]);

/** Sets the instance of a report, and the `number`th microsecond as its time, so that it repeats no other. */
export function mark(
  message: Buffer,
  { instanceAt, secondsAt, nanosAt, since }: ReportMarks,
  instance: number,
  number: number,
): void {
  message.write(String(instance).padStart(placeholder.length, '0'), instanceAt, 'latin1');
  putVarint(message, secondsAt, since + Math.floor(number / 1e6));
  putVarint(message, nanosAt, (number % 1e6) * 1000);
}

/** Writes a varint of five bytes, even if fewer would do. */
function putVarint(message: Buffer, at: number, value: number): void {
  for (let byte = 0; byte < 4; byte += 1) {
    message[at + byte] = (Math.floor(value / 128 ** byte) % 128) + 128;
  }
  message[at + 4] = Math.floor(value / 128 ** 4);
}
