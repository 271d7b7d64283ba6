import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../src/contract/errors.ts';
import { operations, type ReportTransport } from '../../../src/ingest/formats/reports/intake.ts';
import { RecordingReports } from '../../support/recording-reports.ts';
import { encode, metricsReport, usageReport } from '../../support/report-messages.ts';

const concerned = { appKey: 'a-key', environment: 'Production', instanceName: 'web-1' };

const kinds = [
  { operation: operations[0]!, route: 'usage', message: encode('Usage.FeatureStat', usageReport) },
  { operation: operations[1]!, route: 'metrics', message: encode('Metrics.MetricStat', metricsReport) },
];

/** A report, and its transport data. */
interface SentReport {
  readonly body: Buffer | (() => Promise<Buffer>) | (() => never);
  readonly idempotencyKey?: string;
  readonly check?: () => void;
}

const transport: ReportTransport<SentReport, number | Refusal> = {
  transport: 'grpc',
  address: () => '192.0.2.1',
  userAgent: () => 'sdk/1',
  idempotencyKey: ({ idempotencyKey }) => idempotencyKey,
  read: ({ body }) => (typeof body === 'function' ? body() : body),
  check: ({ check }) => check?.(),
  beginning: ({ body }) => (typeof body === 'function' ? undefined : body),
  accept: (statCount) => statCount,
  refuse: (refusal) => refusal,
};

/** Creates an unknown field whose length takes three bytes. */
function unknownField(length: number): Buffer {
  const content = length - 5;
  const field = [0xfa, 0x01, (content & 0x7f) | 0x80, ((content >> 7) & 0x7f) | 0x80, content >> 14];
  return Buffer.concat([Buffer.from(field), Buffer.alloc(content)]);
}

describe.each(kinds)('report by $operation.service', ({ operation, route, message }) => {
  const sender = { transport: 'grpc', userAgent: 'sdk/1' };
  const refuse = (code: 'backpressure' | 'body_too_large' | 'deadline_exceeded') => () => {
    throw new Refusal(code, 'no');
  };
  const take = async (reports: RecordingReports, sent: Partial<SentReport> = {}) =>
    operation.open(reports, transport).receive({ body: message, ...sent });

  /** Sends a report that must be refused. Returns the recorded refusals. */
  async function refused(code: string, sent: Partial<SentReport>, reports = new RecordingReports()) {
    expect(await take(reports, sent)).toMatchObject({ code });
    expect(reports.reports).toEqual([]);
    return reports;
  }

  test('a report of more than 64 KiB is decoded in another thread', async () => {
    const padded = (length: number) => Buffer.concat([message, unknownField(length - message.length)]);
    const reports = new RecordingReports();
    expect(await take(reports, { body: padded(65_536) })).toBe(route === 'usage' ? 2 : 1);
    expect(reports.decoded).toHaveLength(0);
    expect(await take(reports, { body: padded(65_537) })).toBe(route === 'usage' ? 2 : 1);
    expect(reports.decoded).toHaveLength(1);
    expect(reports.reports[1]).toMatchObject({ report: concerned });
  });

  test('a report gets its response once it is on disk', async () => {
    const reports = new RecordingReports();
    let written = () => {};
    reports.durable = new Promise((resolve) => {
      written = resolve;
    });
    const order: string[] = [];
    const done = take(reports).then(() => order.push('answered'));
    await new Promise(setImmediate);
    order.push('on disk');
    written();
    await done;
    expect(order).toEqual(['on disk', 'answered']);
  });

  test('an accepted report is not recorded as a refusal', async () => {
    const reports = new RecordingReports();
    expect(await take(reports, { idempotencyKey: 'once' })).toBe(route === 'usage' ? 2 : 1);
    expect(reports.reports).toMatchObject([{ report: concerned, sender: { idempotencyKey: 'once' } }]);
    expect(reports.told).toEqual([]);
  });

  test.each([
    ['deadline_exceeded', { check: refuse('deadline_exceeded') }],
    ['invalid_idempotency_key', { idempotencyKey: '' }],
    ['deadline_exceeded', { body: async () => message, check: refuse('deadline_exceeded') }],
  ])('a report that is received and then refused with %s is attributed to its sender', async (code, sent) => {
    const { told } = await refused(code, sent);
    expect(told).toMatchObject([{ code, route, sender, claimed: concerned }]);
  });

  test('a report that is refused while it is counted is attributed to its sender once', async () => {
    const reports = new RecordingReports();
    reports.refusal = new Refusal('rate_limited', 'no', 1);
    await refused('rate_limited', {}, reports);
    expect(reports.told).toMatchObject([{ code: 'rate_limited', claimed: concerned }]);
  });

  test('a report that is refused before it is read is attributed to its sender, if the sender is known', async () => {
    const reports = new RecordingReports();
    reports.closed = new Refusal('backpressure', 'full', 1);
    await refused('backpressure', {}, reports);
    await refused('backpressure', { body: refuse('body_too_large') }, reports);
    reports.closed = undefined;
    await refused('body_too_large', { body: refuse('body_too_large') }, reports);
    expect(reports.told).toMatchObject([
      { code: 'backpressure', claimed: concerned },
      { code: 'backpressure', claimed: {} },
      { code: 'body_too_large', claimed: {} },
    ]);
  });

  test('a report that its transport refuses is attributed to its sender', () => {
    const reports = new RecordingReports();
    operation.open(reports, transport).refused({ body: message.subarray(0, 30) }, new Refusal('backpressure', 'no'));
    expect(reports.told).toMatchObject([{ code: 'backpressure', route, sender, claimed: { appKey: 'a-key' } }]);
  });

  test('a truncated report is attributed to its sender if the remaining bytes contain the key', async () => {
    for (let length = 0; length < message.length; length += 1) {
      const reports = new RecordingReports();
      await take(reports, { body: message.subarray(0, length) });
      for (const { claimed } of reports.told) {
        expect(concerned).toMatchObject(claimed);
        if (length > 20) expect(claimed).toMatchObject({ appKey: 'a-key', environment: 'Production' });
      }
    }
  });

  test('a report that causes an internal error is not recorded as a refusal', async () => {
    const reports = new RecordingReports();
    reports.refusal = new Error('broken');
    await expect(take(reports)).rejects.toThrow('broken');
    expect(reports.told).toEqual([]);
  });
});
