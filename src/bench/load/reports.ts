import { bytesField, joinFields, numberField } from '../../grpc/protobuf.ts';
import type { BenchPacket } from './packets.ts';

/** Placeholder for the number of an instance. */
const placeholder = '0000';

/** Positions of the instance and of the time in an encoded report. */
export interface ReportPositions {
  /** The four digits of the instance's number. */
  readonly instanceAt: number;
  /** The seconds and the nanoseconds of the time. Both are varints of five bytes. */
  readonly secondsAt: number;
  readonly nanosAt: number;
  /** Unix seconds of the first report. */
  readonly since: number;
}

/** One encoded usage report, and the counts that each copy must add. */
export interface BenchReport extends Pick<BenchPacket, 'counts'> {
  readonly message: Buffer;
  readonly positions: ReportPositions;
  /** The encoded `StatResult` in response. */
  readonly response: Buffer;
}

/** Any time whose seconds and nanoseconds take five bytes each in an encoded report. */
const anyTime = Date.parse('2026-01-01T00:00:00.999Z');
const secondsBytes = 5;

/** The counts of each feature: checks, requests, used and viewed. */
const variants: Readonly<Record<string, readonly [number, number, number, number]>> = {
  on: [30, 12, 20, 10],
  off: [5, 4, 0, 0],
};

/** Encodes a `Usage.FeatureStat` with two variants of each feature, as a server SDK would send it. */
export function encodeReport(appKey: string, since: Date, features = 20, environment = 'Production'): BenchReport {
  const names = Array.from({ length: features }, (_, index) => `feature-${index}`);
  const message = joinFields(
    bytesField(1, appKey),
    bytesField(2, environment),
    bytesField(3, timestamp(anyTime)),
    ...names.map((name) => bytesField(4, encodeStat(name))),
    bytesField(6, `web-${placeholder}`),
    bytesField(7, timestamp(since.getTime())),
  );
  const counts = names.flatMap((name) =>
    Object.entries(variants).map(
      ([variant, [checks, , used, viewed]]) => [`${name}/${variant}`, [checks, used, viewed]] as const,
    ),
  );
  const timeAt = message.indexOf(bytesField(3, timestamp(anyTime)));
  const positions = {
    instanceAt: message.lastIndexOf(placeholder),
    secondsAt: timeAt + 3,
    nanosAt: timeAt + 3 + secondsBytes + 1,
    since: Math.floor(since.getTime() / 1000),
  };
  return { message, positions, counts: new Map(counts), response: numberField(1, features) };
}

/** Encodes a `google.protobuf.Timestamp`. */
function timestamp(ms: number): Buffer {
  return joinFields(numberField(1, Math.floor(ms / 1000)), numberField(2, (ms % 1000) * 1e6));
}

/** Encodes a `Usage.StatMessage`. */
function encodeStat(feature: string): Buffer {
  const entries = Object.entries(variants).map(([variant, counts]) => {
    const stats = joinFields(...counts.map((count, index) => numberField(index + 1, count)));
    return bytesField(11, joinFields(bytesField(1, variant), bytesField(2, stats)));
  });
  return joinFields(bytesField(1, feature), ...entries);
}

/** Sets the instance of a report, and its time to `number` µs after `since`, so that no two reports are equal. */
export function stampReport(
  message: Buffer,
  { instanceAt, secondsAt, nanosAt, since }: ReportPositions,
  instance: number,
  number: number,
): void {
  message.write(String(instance).padStart(placeholder.length, '0'), instanceAt, 'latin1');
  putVarint(message, secondsAt, since + Math.floor(number / 1e6));
  putVarint(message, nanosAt, (number % 1e6) * 1000);
}

/** Writes a varint of five bytes, even if fewer suffice. */
function putVarint(message: Buffer, at: number, value: number): void {
  for (let byte = 0; byte < 4; byte += 1) {
    message[at + byte] = (Math.floor(value / 128 ** byte) % 128) + 128;
  }
  message[at + 4] = Math.floor(value / 128 ** 4);
}
