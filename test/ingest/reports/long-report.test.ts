import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KeyHolder } from '../../../src/accounts/key-index.ts';
import { identityOfReport } from '../../../src/ingest/formats/reports/content-identity.ts';
import { packReport } from '../../../src/ingest/formats/reports/formats.ts';
import { openReportKinds, type ReportDeps } from '../../../src/ingest/formats/reports/kinds.ts';
import { LongReport } from '../../../src/ingest/formats/reports/long-report.ts';
import type { MetricsReport, Report, ReportHead, UsageReport } from '../../../src/ingest/formats/reports/report.ts';
import { Senders } from '../../../src/ingest/senders.ts';
import { Batch } from '../../../src/storage/commit/batch.ts';
import { eachCount, eachMeasurement, eachUser } from '../../../src/storage/commit/records.ts';
import { SeriesDictionary } from '../../../src/storage/commit/series-dictionary.ts';

const time = Date.UTC(2026, 0, 31, 12, 0, 30);
const day = 86_400_000;
const environment = { name: 'Production', number: 3, createdAt: 0 };
const holder = { application: { number: 7 }, key: { number: 5 } } as unknown as KeyHolder;
const sender = { holder, environment };
const source = { transport: 'http', userAgent: 'sdk/1' } as const;
const head: ReportHead = {
  appKey: 'key',
  environment: 'Production',
  time: time + 0.125,
  instanceName: 'web-1',
  processStartTime: time - 1000,
  notes: new Map(),
};

/** Opens a counter that counts reports like the service, but does not commit its batches. */
function openCounter() {
  const batches: Batch[] = [];
  const notes: string[] = [];
  const add = async (_: number, fill: (batch: Batch) => void) => {
    batches.push(new Batch());
    fill(batches.at(-1)!);
  };
  const deps = {
    clock: { now: () => time, monotonic: () => 0 },
    dictionary: new SeriesDictionary({ series: { getRange: () => [] } } as never, {
      features: 3,
      variants: 2,
      metrics: 3,
    }),
    senders: new Senders(),
    messages: { find: () => undefined, add: () => {} },
    ledger: { accepted: () => {}, noted: (_: unknown, note: string) => void notes.push(note) },
    findLane: () => ({ submit: add, addBefore: add }),
    retention: { minutesMs: 2 * day, hoursMs: 90 * day, daysMs: 1825 * day },
  } as unknown as ReportDeps;
  return { kinds: openReportKinds(deps), counted: () => countedIn(batches), notes };
}

/** Returns the contents of batches by series name. */
function countedIn(batches: readonly Batch[]) {
  const names = new Map<number, string>();
  const counts: Record<string, number[]> = {};
  const values: string[] = [];
  const users = new Set<string>();
  const senders: string[] = [];
  for (const batch of batches) {
    for (const { ordinal, name } of batch.series) names.set(ordinal, name.join('/'));
    for (const { ordinal } of batch.senders) senders.push(names.get(ordinal) ?? 'all');
  }
  const findName = (ref: number) => names.get(ref % 2 ** 20) ?? `${ref}`;
  for (const batch of batches) {
    const sealed = batch.seal();
    eachCount(sealed, (ref, bucket, ...more) => {
      const key = `${findName(ref)} ${bucket}`;
      counts[key] = more.map((count, at) => count + (counts[key]?.[at] ?? 0));
    });
    eachMeasurement(sealed, (ref, ...more) => void values.push(`${findName(ref)} ${more}`));
    eachUser(sealed, (ref, ...more) => void users.add(`${findName(ref)} ${more}`));
  }
  return { counts, values: values.sort(), users: [...users].sort(), senders: senders.sort() };
}

async function countBoth(report: Report, kind: 'usage' | 'metrics') {
  const short = openCounter();
  const long = openCounter();
  await short.kinds[kind].count(report as never, sender, source, undefined);
  const message = new LongReport(packReport(report));
  await long.kinds[kind].prepare(message, sender, source, async () => {});
  await long.kinds[kind].count(message, sender, source, undefined);
  return { short, long };
}

const name = fc.oneof(
  fc.constantFrom('a', 'b', 'c', 'd', 'e', 'größe', '__proto__'),
  fc.constantFrom('', 'x\n', '\ud800'),
);
const count = fc.nat(2_147_483_647);
const hashes = fc.array(fc.integer().map(String), { minLength: 1, maxLength: 5 });

const usageReport: fc.Arbitrary<UsageReport> = fc
  .record({
    variants: fc.array(fc.record({ feature: name, variant: name, checks: count, used: count, viewed: count })),
    users: fc.array(fc.record({ feature: name, hashes })),
    environmentHashes: hashes,
    statCount: fc.nat(100),
  })
  .map((content) => ({ ...head, appVersion: '1.0', ...content }));

const series = fc.oneof(
  fc.record({ feature: name, variant: name }),
  fc.constant({ feature: undefined, variant: undefined }),
);
const metricsReport: fc.Arbitrary<MetricsReport> = fc
  .array(
    fc.tuple(
      series,
      fc.record({
        metric: name,
        value: fc.double({ noNaN: true, noDefaultInfinity: true }),
        time: fc.constantFrom(time, time - 3 * day),
      }),
    ),
  )
  .map((values) => ({
    ...head,
    statCount: values.length,
    values: values.map(([place, value]) => ({ ...place, ...value })),
  }));

test.each([
  ['usage', usageReport],
  ['metrics', metricsReport],
] as const)('a long %s report counts the same as a short report with equal content', async (kind, reports) => {
  await fc.assert(
    fc.asyncProperty(reports as fc.Arbitrary<Report>, async (report) => {
      const { short, long } = await countBoth(report, kind);
      expect(long.counted()).toEqual(short.counted());
      expect(long.notes).toEqual(short.notes);
    }),
  );
});

test.each([
  ['usage', usageReport],
  ['metrics', metricsReport],
] as const)('a long %s report has the same identity as a short report with equal content', (_, reports) => {
  fc.assert(
    fc.property(reports as fc.Arbitrary<Report>, (report) => {
      expect(identityOfReport(sender, packReport(report))).toEqual(identityOfReport(sender, report));
    }),
  );
});

test('the count of a report with 2 500 variants and 5 000 users pauses five times', async () => {
  const { kinds } = openCounter();
  const variants = Array.from({ length: 2_500 }, (_, n) => ({
    feature: 'a',
    variant: `v${n}`,
    checks: 1,
    used: 0,
    viewed: 0,
  }));
  const hashes = Array.from({ length: 5_000 }, (_, n) => `${n}`);
  const report = {
    ...head,
    appVersion: undefined,
    statCount: 1,
    variants,
    users: [{ feature: 'a', hashes }],
    environmentHashes: [],
  };
  let steps = 0;
  await kinds.usage.prepare(new LongReport(packReport(report)), sender, source, async () => {
    steps += 1;
  });
  expect(steps).toBe(2 + 3);
});

test('the cost of a report is the number of its entries plus a share of its hashes', () => {
  const variant = { feature: 'a', variant: 'on', checks: 1, used: 0, viewed: 0 };
  const users = [{ feature: 'a', hashes: Array.from({ length: 32 }, (_, n) => `${n}`) }];
  const report = {
    ...head,
    appVersion: undefined,
    statCount: 10,
    variants: [variant, variant],
    users,
    environmentHashes: [],
  };
  expect(packReport(report).work).toBe(10 + 2 + 2);
});
