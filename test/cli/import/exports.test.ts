import { writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { file, importing } from './importing.ts';

const { admin, api, run, exported, newApplication } = importing();

describe('import of exported usage', () => {
  const minute = 60_000;
  const now = Date.UTC(2026, 0, 2, 3);
  const name = fc.oneof(
    fc.constantFrom('checkout', "'quoted", '=1+1', 'a;-b', 'with "quotes", and commas', '__proto__', 'ключ'),
    fc.string({ minLength: 1, maxLength: 20 }).filter((text) => !/[\x00-\x1f\x7f-\x9f]/.test(text)),
  );
  const count = fc.oneof(fc.nat({ max: 10 }), fc.nat({ max: 2 ** 31 }));
  const row = fc.record({
    ago: fc.oneof(fc.nat({ max: 3000 }), fc.nat({ max: 200_000 }), fc.nat({ max: 1_500_000 })),
    feature: name,
    variant: name,
    counts: fc.tuple(count, count, count),
  });

  it.each([
    ['csv', 'minute'],
    ['ndjson', 'minute'],
    ['csv', 'day'],
  ])('import of exported usage (%s by %s) reproduces the export', async (format, step) => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 30 }), async (rows) => {
        const one = await newApplication();
        const other = await newApplication();
        const lines = rows.map(({ ago, feature, variant, counts: [checks, used, viewed] }) =>
          JSON.stringify({ time: new Date(now - ago * minute).toISOString(), feature, variant, checks, used, viewed }),
        );
        const { summary } = await run(file(...lines), '--format ndjson', one);
        expect(summary).toMatchObject({ imported: rows.length });
        const first = await exported(step, one, format);
        const path = file();
        writeFileSync(path, first);
        expect((await run(path, `--format ${format}`, other)).failure).toBeUndefined();
        expect(await exported(step, other, format)).toBe(first);
      }),
      { numRuns: 5 },
    );
  });
});

describe('import of exported measurements', () => {
  const now = Date.UTC(2026, 0, 2, 3);
  const value = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
  const row = fc.record({
    ago: fc.oneof(fc.nat({ max: 3000 }), fc.nat({ max: 200_000 }), fc.nat({ max: 1_500_000 })),
    name: fc.constantFrom(['purchases'], ['=1+1'], ['latency', 'checkout', 'on'], ['latency', 'checkout', 'off']),
    values: fc.array(value, { minLength: 1, maxLength: 5 }),
  });

  it.each([
    ['csv', 'hour'],
    ['ndjson', 'day'],
  ])('import of exported measurements (%s by %s) reproduces the export', async (format, step) => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 30 }), async (rows) => {
        const one = await newApplication();
        const other = await newApplication();
        const lines = rows.map(({ ago, name: [metric, feature = null, variant = null], values }) => {
          const time = new Date(now - ago * 60_000).toISOString();
          const last = values.at(-1)!;
          const sum = values.reduce((all, each) => all + each);
          const extremes = { min: Math.min(...values), max: Math.max(...values) };
          const summary = { sum: Math.max(-1e308, Math.min(1e308, sum)), count: values.length, last };
          return JSON.stringify({ time, metric, feature, variant, ...summary, ...extremes, lastAt: time });
        });
        const first = await run(file(...lines), '--format ndjson', one);
        expect(first.failure).toBeUndefined();
        expect(first.summary).toMatchObject({ measurements: rows.length, imported: rows.length, badLines: 0 });
        const text = await exported(step, one, format, 'measurements');
        const path = file();
        writeFileSync(path, text);
        const again = await run(path, `--format ${format}`, other);
        expect(again.failure).toBeUndefined();
        expect(await exported(step, other, format, 'measurements')).toBe(text);
        expect((await run(path, `--format ${format}`, other)).summary).toMatchObject({ imported: 0 });
      }),
      { numRuns: 5 },
    );
  });

  it('importing measurements adds the values to the values that are already counted', async () => {
    const line = (time: string, values: object) =>
      JSON.stringify({ time, metric: 'depth', feature: null, variant: null, lastAt: time, ...values });
    const now = '2026-01-02T02:00:00.000Z';
    await run(file(line(now, { sum: 9, count: 3, last: 2, min: 1, max: 6 })), '--format ndjson');
    const earlier = line('2026-01-02T01:00:00Z', { sum: 7, count: 1, last: 7, min: 7, max: 7 });
    await run(file(earlier), '--format ndjson');
    const rows = (await exported('day', admin.application, 'csv', 'measurements')).trim().split('\r\n');
    expect(rows[1]).toBe(`2026-01-02T00:00:00.000Z,Production,depth,,,counter,16,16,4,2,${now},1,7`);
  });

  it.each([
    ['an unknown metric', { measurements: [[1_767_225_600, 1, 1, 1, 1, 0, 1, 1]] }],
    ['no values', { measurements: [[1_767_225_600, 0, 1, 0, 1, 0, 1, 1]] }],
    ['a last value outside of the range', { measurements: [[1_767_225_600, 0, 1, 1, 5, 0, 1, 1]] }],
    ['a name of two parts', { metrics: [['a', 'b']], measurements: [] }],
  ])('import rejects measurements with %s', async (_, wrong) => {
    const part = { environment: 'Production', import: 'a'.repeat(64), part: 0, variants: [], counts: [] };
    const body = { ...part, metrics: [['a']], ...wrong };
    const path = `/applications/${admin.application}/imports`;
    expect(await api('POST', path, 400, body)).toMatchObject({ code: 'invalid_body' });
  });
});
