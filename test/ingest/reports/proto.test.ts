import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../src/contract/errors.ts';
import { isName } from '../../../src/contract/names.ts';
import { bytesField, joinFields, numberField } from '../../../src/grpc/protobuf.ts';
import { decodeMetrics, decodeUsage } from '../../../src/ingest/formats/reports/json.ts';
import { decodeMetricsReport, decodeUsageReport } from '../../../src/ingest/formats/reports/proto.ts';
import { bytes, headFields, readCode } from '../../support/proto-fields.ts';
import { encode, metricsReport, usageReport } from '../../support/report-messages.ts';

const name = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 20 })
  .filter((text) => isName(text) && text !== '__proto__');
const count = fc.nat(2_147_483_647);
const hashes = fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { maxLength: 5 });
const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
const time = fc
  .tuple(
    fc.date({ min: new Date('0001-01-02T00:00:00Z'), max: new Date('9999-12-30'), noInvalidDate: true }),
    fc.nat(999_999_999),
  )
  .map(([date, nanos]) => `${date.toISOString().slice(0, 19)}.${String(nanos).padStart(9, '0')}Z`);

const head = { appKey: name, environment: name, time };
const stat = fc.record(
  {
    feature: name,
    enabledCount: count,
    disabledCount: count,
    usedCount: count,
    uniqueContextIdentifierEnabledCount: count,
    uniqueUsersUsedCount: count,
    uniqueUserHashes: hashes,
    uniqueViewedUserHashes: hashes,
    variantStats: named(
      fc.record({ checkCount: count, requestCount: count, usedCount: count, viewedCount: count }, { requiredKeys: [] }),
    ),
  },
  { requiredKeys: ['feature'] },
);
const usage = fc.record(
  {
    ...head,
    instanceName: name,
    processStartTime: time,
    appVersion: fc.string(),
    totalUniqueUsers: count,
    uniqueUserHashes: hashes,
    stats: fc.array(stat, { maxLength: 4 }),
  },
  { requiredKeys: ['appKey', 'environment', 'time', 'stats'] },
);
/** A value that is not zero. Protobuf omits zero, which then counts as absent, unlike in JSON. */
const someValue = finite.map((value) => value || 1);
const metric = {
  metric: name,
  enabledCount: count.map((value) => value || 1),
  disabledCount: count.map((value) => value || 1),
  feature: name,
  value: someValue,
  valueDisabled: finite,
  variantValues: named(finite.map((value) => value / 4)),
};
const counters = fc.array(fc.record(metric, { requiredKeys: ['metric'] }), { maxLength: 3 });
const metrics = fc.record(
  {
    ...head,
    instanceName: name,
    stats: counters,
    counters,
    observations: fc.array(fc.record({ ...metric, time }, { requiredKeys: ['metric', 'value'] }), { maxLength: 3 }),
  },
  { requiredKeys: ['appKey', 'environment', 'time', 'stats'] },
);

function named<T>(value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
  return fc.dictionary(name, value, { noNullPrototype: true, maxKeys: 4 });
}

/** Converts a value to JSON and back, because JSON cannot express minus zero. */
const asJson = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

const kinds = [
  { kind: 'usage', message: 'Usage.FeatureStat', sample: usageReport, decode: decodeUsageReport },
  { kind: 'metrics', message: 'Metrics.MetricStat', sample: metricsReport, decode: decodeMetricsReport },
] as const;

describe('protobuf report', () => {
  it('a usage report in protobuf decodes like the same report in JSON', () => {
    fc.assert(
      fc.property(usage.map(asJson), (report) => {
        const decoded = decodeUsageReport(encode('Usage.FeatureStat', report));
        expect(decoded).toEqual(decodeUsage(JSON.stringify(report)));
      }),
    );
  });

  it('a metrics report in protobuf decodes like the same report in JSON', () => {
    fc.assert(
      fc.property(metrics.map(asJson), (report) => {
        const decoded = decodeMetricsReport(encode('Metrics.MetricStat', report));
        expect(decoded).toEqual(decodeMetrics(JSON.stringify(report)));
      }),
    );
  });

  it.each([
    ['usage', decodeUsageReport(encode('Usage.FeatureStat', usageReport)), decodeUsage(JSON.stringify(usageReport))],
    [
      'metrics',
      decodeMetricsReport(encode('Metrics.MetricStat', metricsReport)),
      decodeMetrics(JSON.stringify(metricsReport)),
    ],
  ])('a %s report with all fields is decoded completely', (_, decoded, expected) => {
    expect(decoded).toEqual(expected);
  });
});

describe.each(kinds)('protobuf $kind message', ({ kind, message, sample, decode }) => {
  const whole = encode(message, sample);

  it('accepts unknown fields of every wire type before and after known fields', () => {
    const unknown = Buffer.concat([
      bytes(0xa0, 0x06, 0xff, 0x01), // field 100: a varint
      bytes(0xa1, 0x06, 1, 2, 3, 4, 5, 6, 7, 8),
      bytes(0xa2, 0x06, 2, 0xff, 0xff),
      bytes(0xa3, 0x06, 0xa3, 0x06, 0x08, 1, 0xa4, 0x06, 0xa4, 0x06), // a nested group
      bytes(0xa5, 0x06, 1, 2, 3, 4),
    ]);
    expect(decode(Buffer.concat([unknown, whole, unknown]))).toEqual(decode(whole));
  });

  it('decodes any bytes as a message, or refuses them with 400', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (random) => {
        readOrRefuse(decode, random);
        readOrRefuse(decode, Buffer.concat([headFields, random]));
      }),
      { numRuns: 2000 },
    );
  });

  it('decodes a damaged message, or refuses it with 400', () => {
    const damage = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(damage, fc.nat(whole.length), (changes, end) => {
        const damaged = Buffer.from(whole);
        for (const [at, byte] of changes) damaged[at] = byte;
        readOrRefuse(decode, damaged);
        readOrRefuse(decode, damaged.subarray(0, end));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['a truncated field', whole.subarray(0, whole.length - 1)],
    ['a length beyond the end', bytes(0x0a, 0x05, 0x61)],
    ['a length of 4 GiB', bytes(0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f)],
    ['a length of 2^63', bytes(0x0a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01)],
    ['a varint without end', bytes(0xa0, 0x06, ...Array<number>(11).fill(0xff))],
    ['the field number 0', bytes(0x00, 0x00)],
    ['an unknown wire type', bytes(0xa6, 0x06)],
    ['a string encoded as a number', bytes(0x08, 0x01)],
    ['a time encoded as a number', bytes(0x18, 0x01)],
    ['entries encoded as a number', bytes(0x20, 0x01)],
    ['the end of a group without a start', bytes(0xa4, 0x06)],
    ['a group without end', bytes(0xa3, 0x06)],
    ['a group closed with another number', bytes(0xa3, 0x06, 0xac, 0x06)],
    ['groups 10 000 deep', Buffer.concat(Array<Uint8Array>(10_000).fill(bytes(0xa3, 0x06)))],
  ])('refuses a message with %s', (_, tail) => {
    expect(readCode(() => decode(Buffer.concat([headFields, tail])))).toBe('invalid_protobuf');
  });

  it.each([
    ['a string that is not UTF-8', Buffer.concat([headFields, bytes(0x0a, 0x02, 0xc3, 0x28)]), 'invalid_encoding'],
    ['an empty body', bytes(), 'invalid_time'],
    ['no key', joinFields(bytesField(2, 'Production'), bytesField(3, '')), 'invalid_body'],
    ['no environment', joinFields(bytesField(1, 'a-key'), bytesField(3, '')), 'invalid_name'],
    ['a time after the year 9999', Buffer.concat([headFields, timeField(253_402_300_800, 0)]), 'invalid_time'],
    ['a second of 1e9 nanoseconds', Buffer.concat([headFields, timeField(0, 1_000_000_000)]), 'invalid_time'],
  ])('refuses a report with %s', (_, whole, code) => {
    expect(readCode(() => decode(whole))).toBe(code);
  });

  it('accepts a message with as many entries as its size allows', () => {
    const entry = bytesField(4, bytesField(1, 'x'));
    const entries = (length: number) => Buffer.concat([headFields, ...Array<Buffer>(length).fill(entry)]);
    expect(decode(entries(20_000)).statCount).toBe(20_000);
  });

  it.each([
    ['', undefined, []],
    ['web-1', 'web-1', []],
    ['a\nb', undefined, ['name_dropped']],
  ])('decodes or leaves out the instance name %j', (sent, instanceName, notes) => {
    const field = kind === 'usage' ? 6 : 7;
    const message = joinFields(headFields, bytesField(field, sent));
    const report = decode(message);
    expect(report).toMatchObject({ instanceName });
    expect([...report.notes.keys()]).toEqual(notes);
  });
});

describe('decodeUsageReport', () => {
  const withStat = (...fields: Uint8Array[]) =>
    decodeUsageReport(joinFields(headFields, bytesField(4, joinFields(bytesField(1, 'checkout'), ...fields))));
  const minusOne = bytes(...Array<number>(9).fill(0xff), 0x01);

  it('accepts the variant name __proto__, and counts the later of two variants with equal names', () => {
    const variant = (checks: number) =>
      bytesField(11, joinFields(bytesField(1, '__proto__'), bytesField(2, numberField(1, checks))));
    expect(withStat(variant(1), variant(2)).variants).toEqual([
      { feature: 'checkout', variant: '__proto__', checks: 2, used: 0, viewed: 0 },
    ]);
  });

  it('accepts as many variants as the size allows, and counts the later of two variants with equal names', () => {
    const variant = (at: number, checks: number) =>
      bytesField(11, joinFields(bytesField(1, `v${at}`), bytesField(2, numberField(1, checks))));
    const all = Array.from({ length: 50_000 }, (_, at) => variant(at, 1));
    const { variants } = withStat(Buffer.concat([...all, variant(7, 2)]));
    expect(variants).toHaveLength(50_000);
    expect(variants.filter(({ checks }) => checks === 2).map((each) => each.variant)).toEqual(['v7']);
  });

  it('accepts packed and unpacked hashes of users', () => {
    const single = Buffer.concat([bytes(0x50, 0x07, 0x50), minusOne]);
    const packed = bytesField(10, Buffer.concat([bytes(8), minusOne]));
    expect(withStat(single, packed).users).toEqual([{ feature: 'checkout', hashes: ['7', '-1', '8'] }]);
  });

  it('refuses packed hashes of users that are truncated', () => {
    expect(readCode(() => withStat(bytes(0x52, 0x01, 0xff), bytes(0x50, 0x01)))).toBe('invalid_protobuf');
  });
});

function timeField(seconds: number, nanos: number): Buffer {
  return bytesField(3, joinFields(numberField(1, seconds), numberField(2, nanos)));
}

function readOrRefuse(decode: (bytes: Uint8Array) => unknown, message: Uint8Array): void {
  try {
    decode(message);
  } catch (error) {
    expect(error).toBeInstanceOf(Refusal);
    expect((error as Refusal).status).toBe(400);
  }
}
