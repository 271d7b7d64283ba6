import { describe, expect, test } from 'vitest';
import { ApiError } from '../../src/errors.ts';
import { operations } from '../../src/grpc/operations.ts';
import type { Arrival } from '../../src/reports/take.ts';
import { RecordingReceiver } from '../support/recording-receiver.ts';
import { encode, metricsReport, usageReport } from '../support/report-messages.ts';

const concerned = { appKey: 'a-key', environment: 'Production', instanceName: 'web-1' };

const kinds = [
  { operation: operations[0]!, message: encode('Usage.FeatureStat', usageReport) },
  { operation: operations[1]!, message: encode('Metrics.MetricStat', metricsReport) },
];

describe.each(kinds)('a report by $operation.service', ({ operation, message }) => {
  const arrival: Arrival = {
    transport: 'grpc',
    userAgent: 'sdk/1',
    idempotencyKey: undefined,
    body: message,
    check: () => {},
  };
  const sender = { transport: 'grpc', userAgent: 'sdk/1' };
  const refuse = (code: 'backpressure' | 'body_too_large' | 'deadline_exceeded') => () => {
    throw new ApiError(code, 'no');
  };

  /** Runs the operation, which must refuse; gives the receiver. */
  async function refused(code: string, how: Partial<Arrival>, receiver = new RecordingReceiver()) {
    const run = operation.run(receiver, { ...arrival, ...how });
    await expect(run).rejects.toThrow(expect.objectContaining({ code }));
    expect(receiver.reports).toEqual([]);
    return receiver;
  }

  test('that is taken is refused to nobody', async () => {
    const receiver = new RecordingReceiver();
    await operation.run(receiver, { ...arrival, idempotencyKey: 'once' });
    expect(receiver.reports).toMatchObject([{ report: concerned, sender: { idempotencyKey: 'once' } }]);
    expect(receiver.told).toEqual([]);
  });

  test.each([
    ['deadline_exceeded', { check: refuse('deadline_exceeded') }],
    ['invalid_idempotency_key', { idempotencyKey: '' }],
    ['deadline_exceeded', { body: async () => message, check: refuse('deadline_exceeded') }],
  ])('that is refused with %s once it is here is put down to whom it concerns', async (code, how) => {
    const { told } = await refused(code, how);
    expect(told).toMatchObject([{ code, route: operation.route, sender, glimpse: concerned }]);
  });

  test('that the receiver refuses is put down to whom it concerns, once', async () => {
    const receiver = new RecordingReceiver();
    receiver.refusal = new ApiError('rate_limited', 'no', 1);
    await refused('rate_limited', {}, receiver);
    expect(receiver.told).toMatchObject([{ code: 'rate_limited', glimpse: concerned }]);
  });

  test('that is refused before it is looked at is put down to whom it concerns, if it is here', async () => {
    const receiver = new RecordingReceiver();
    receiver.closed = new ApiError('backpressure', 'full', 1);
    await refused('backpressure', {}, receiver);
    await refused('backpressure', { body: refuse('body_too_large') }, receiver);
    receiver.closed = undefined;
    await refused('body_too_large', { body: refuse('body_too_large') }, receiver);
    expect(receiver.told).toMatchObject([
      { code: 'backpressure', glimpse: concerned },
      { code: 'backpressure', glimpse: {} },
      { code: 'body_too_large', glimpse: {} },
    ]);
  });

  test('that is cut off anywhere is put down to whom it concerns as far as that is in it', async () => {
    for (let length = 0; length < message.length; length += 1) {
      const receiver = new RecordingReceiver();
      await operation.run(receiver, { ...arrival, body: message.subarray(0, length) }).catch(() => {});
      for (const { glimpse } of receiver.told) {
        expect(concerned).toMatchObject(glimpse);
        if (length > 20) expect(glimpse).toMatchObject({ appKey: 'a-key', environment: 'Production' });
      }
    }
  });

  test('that fails is no refusal', async () => {
    const receiver = new RecordingReceiver();
    receiver.refusal = new Error('broken');
    await expect(operation.run(receiver, arrival)).rejects.toThrow('broken');
    expect(receiver.told).toEqual([]);
  });
});
