import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bucketText,
  type ChartData,
  type ChartTimes,
  chartTimes,
  perBucket,
  spoken,
  tickDistances,
} from '../../src/console/components/chart/announcement.ts';
import {
  afterKey,
  bucketAt,
  bucketSpan,
  bucketStart,
  bucketsWithin,
  type ChartCursor,
  type ChartSeries,
  computeTicks,
  createDrawing,
  getSeriesTone,
  nowhere,
  sameDrawing,
  selected,
} from '../../src/console/components/chart/series.ts';

const hour = 3600;
const noon = Date.UTC(2026, 9, 24, 12) / 1000;
const buckets = { start: noon, width: hour, count: 4 };
const series: ChartSeries[] = [
  { label: 'on', values: [1, 2, 3, 1200], tone: 1 },
  { label: 'off', values: [5, 0, 7, 1], tone: 2 },
];

describe('the drawing of a chart', () => {
  it('a line chart draws the values of each series unchanged', () => {
    expect(createDrawing(buckets, series, 'lines').heights).toEqual([
      [1, 2, 3, 1200],
      [5, 0, 7, 1],
    ]);
  });

  it('a stacked chart draws each series above the previous series', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(1e9), { minLength: 4, maxLength: 4 }), { minLength: 1 }), (rows) => {
        const given = rows.map((values, index) => ({ label: `${index}`, values, tone: getSeriesTone(index) }));
        const { heights, max } = createDrawing(buckets, given, 'stacked');
        const sums = [0, 1, 2, 3].map((at) => rows.reduce((sum, values) => sum + values[at]!, 0));
        expect(heights.at(-1)).toEqual(sums);
        expect(max).toBe(Math.max(...sums));
        for (const [index, values] of rows.entries())
          expect(heights[index]!.map((height, at) => height - (heights[index - 1]?.[at] ?? 0))).toEqual(values);
      }),
    );
  });

  it('a stacked chart draws the series of an earlier period outside of the stack', () => {
    const past: ChartSeries = { label: 'before', values: [9, 9, 9, 9], tone: 'past', apart: true };
    expect(createDrawing(buckets, [...series, past], 'stacked').heights).toEqual([
      [1, 2, 3, 1200],
      [6, 2, 10, 1201],
      [9, 9, 9, 9],
    ]);
  });

  it('a chart draws a point for each bucket, even if a series has no value for the bucket', () => {
    const { xs, heights } = createDrawing(buckets, [{ label: 'on', values: [7], tone: 1 }], 'lines');
    expect(xs).toEqual([0, 1, 2, 3].map((index) => noon + index * hour));
    expect(heights).toEqual([[7, 0, 0, 0]]);
  });

  it.each([
    [undefined, 4],
    [3, 3],
    [9, 4],
    [-1, 0],
  ])('createDrawing with unfinishedFrom = %s has %i complete buckets', (unfinishedFrom, finished) => {
    expect(createDrawing(buckets, series, 'lines', unfinishedFrom).finished).toBe(finished);
  });

  it('sameDrawing returns true only if the buckets, the series and the incomplete part are equal', () => {
    const drawing = createDrawing(buckets, series, 'lines', 3);
    const changed = series.map((each) => ({ ...each, values: each.values.with(2, 99) }));
    expect(sameDrawing(drawing, createDrawing({ ...buckets }, [...series], 'lines', 3))).toBe(true);
    expect(sameDrawing(drawing, createDrawing(buckets, series, 'lines'))).toBe(false);
    expect(sameDrawing(drawing, createDrawing(buckets, changed, 'lines', 3))).toBe(false);
    expect(sameDrawing(drawing, createDrawing(buckets, series.slice(1), 'lines', 3))).toBe(false);
    expect(sameDrawing(drawing, createDrawing({ ...buckets, start: noon + hour }, series, 'lines', 3))).toBe(false);
  });
});

describe('the axis of the figures', () => {
  const ticksFor = (values: number[]) =>
    computeTicks(createDrawing(buckets, [{ label: 'on', values, tone: 1 }], 'lines'));

  it.each([
    [[0], [0, 1]],
    [[1], [0, 1]],
    [[7], [0, 2, 4, 6, 8]],
    [[1200], [0, 500, 1000, 1500]],
    [[23_600_000], [0, 5e6, 10e6, 15e6, 20e6, 25e6]],
    [[0.42], [0, 0.1, 0.2, 0.3, 0.4, 0.5]],
  ])('the axis of a chart with the figures %j has lines at %j', (values, ticks) => {
    expect(ticksFor(values)).toEqual(ticks);
  });

  it('computeTicks returns at most six ticks that cover all values, and whole ticks for whole values', () => {
    const figures = fc.oneof(fc.nat(2e9), fc.double({ min: 1e-3, max: 1e12, noNaN: true }));
    fc.assert(
      fc.property(fc.array(figures, { minLength: 1, maxLength: 4 }), (values) => {
        const ticks = ticksFor(values);
        expect(ticks[0]).toBe(0);
        expect(ticks.at(-1)).toBeGreaterThanOrEqual(Math.max(...values) * (1 - 1e-8));
        expect(ticks.length).toBeLessThanOrEqual(6);
        if (values.every(Number.isInteger)) expect(ticks.every(Number.isInteger)).toBe(true);
      }),
    );
  });
});

it.each([
  [60, 'per minute'],
  [3600, 'per hour'],
  [86_400, 'per day'],
  [10, 'per 10 seconds'],
])('a bucket of %i seconds is described as "%s"', (width, words) => {
  expect(perBucket(width)).toBe(words);
});

describe('the cursor of a chart', () => {
  function pressed(...keys: string[]): ChartCursor {
    return keys.reduce<ChartCursor>((cursor, key) => {
      const shift = key.startsWith('Shift+');
      return afterKey(cursor, key.replace('Shift+', ''), shift, buckets.count) ?? cursor;
    }, nowhere);
  }

  it.each<[string[], number | undefined, readonly [number, number] | undefined]>([
    [['ArrowLeft'], 3, [3, 3]],
    [['ArrowRight'], 3, [3, 3]],
    [['Home'], 0, [0, 0]],
    [['Home', 'ArrowLeft'], 0, [0, 0]],
    [['Home', 'ArrowRight', 'ArrowRight'], 2, [2, 2]],
    [['Home', 'PageDown'], 3, [3, 3]],
    [['End', 'PageUp'], 0, [0, 0]],
    [['End', 'Shift+ArrowLeft', 'Shift+ArrowLeft'], 1, [1, 3]],
    [['Home', 'ArrowRight', 'Shift+End'], 3, [1, 3]],
    [['End', 'Shift+ArrowLeft', 'ArrowLeft'], 1, [1, 1]],
    [['End', 'Shift+ArrowLeft', 'Escape'], 2, [2, 2]],
    [['End', 'Escape'], undefined, undefined],
    [['End', 'q'], 3, [3, 3]],
  ])('the keys %j move the cursor of a chart to bucket %s', (keys, at, range) => {
    expect(pressed(...keys).at).toBe(at);
    expect(selected(pressed(...keys))).toEqual(range);
  });

  it.each(['Enter', 'Tab', 'q', 'Escape'])('the key %s does not move the cursor into the chart', (key) => {
    expect(afterKey(nowhere, key, false, 4)).toBeUndefined();
  });

  it('the cursor ignores keys in a chart without buckets', () => {
    expect(afterKey(nowhere, 'End', false, 0)).toBeUndefined();
  });

  it('the cursor never leaves its chart', () => {
    const key = fc.constantFrom('ArrowLeft', 'ArrowRight', 'PageUp', 'PageDown', 'Home', 'End', 'Escape');
    fc.assert(
      fc.property(fc.array(fc.tuple(key, fc.boolean())), fc.integer({ min: 1, max: 30 }), (keys, count) => {
        let cursor = nowhere;
        for (const [name, shift] of keys) cursor = afterKey(cursor, name, shift, count) ?? cursor;
        const [first, last] = selected(cursor) ?? [0, 0];
        expect(first >= 0 && first <= last && last < count).toBe(true);
      }),
    );
  });
});

describe('the zoom of a chart', () => {
  it('bucketSpan returns the time from the start of the first bucket to the end of the last bucket', () => {
    expect(bucketSpan(buckets, 1, 2)).toEqual([(noon + hour) * 1000, (noon + 3 * hour) * 1000]);
  });

  it.each([
    [noon + 10, noon + 20, [0, 0]],
    [noon + hour - 1, noon + hour, [0, 1]],
    [noon - 500, noon + 9 * hour, [0, 3]],
  ])('zooming into the time from %i to %i selects all buckets that it touches', (from, to, within) => {
    expect(bucketsWithin(buckets, from, to)).toEqual(within);
  });

  it.each([
    [noon - 1, undefined],
    [noon, 0],
    [noon + 4 * hour - 1, 3],
    [noon + 4 * hour, undefined],
  ])('bucketAt finds the bucket that contains the time %i', (time, index) => {
    expect(bucketAt(buckets, time)).toBe(index);
  });
});

describe('times', () => {
  it("the times of a chart are in the reader's time zone and locale", () => {
    const times = chartTimes(hour, 'Europe/Berlin', 'de-DE');
    expect(times.bucket(noon)).toMatch(/^Sa.*24\. Okt.*14:00$/);
    expect(times.tick(noon, hour)).toBe('14:00');
    expect(times.tick(noon - 14 * hour, hour)).toBe('24. Okt.');
    expect(times.zone).toBe('Europe/Berlin');
  });

  it('the times of a chart have the label UTC if its buckets are UTC days', () => {
    const times = chartTimes(24 * hour, 'UTC', 'en-GB');
    const midnight = Date.UTC(2026, 9, 24) / 1000;
    expect(times.bucket(midnight)).toMatch(/^Sat.*24 Oct UTC$/);
    expect(times.span(midnight, midnight + 48 * hour)).toMatch(/^Sat.*24.*Sun.*25 Oct UTC$/);
  });

  it('the times of a chart are dates of the time zone if its buckets are days of this time zone', () => {
    const times = chartTimes(24 * hour, 'Europe/Berlin', 'en-GB');
    const starts = [Date.UTC(2026, 9, 23, 22), Date.UTC(2026, 9, 24, 22), Date.UTC(2026, 9, 25, 23)];
    const [first, second, end] = starts.map((at) => at / 1000) as [number, number, number];
    expect(times.bucket(second)).toMatch(/^Sun.*25 Oct$/);
    expect(times.span(first, end)).toMatch(/^Sat.*24.*Sun.*25 Oct$/);
  });
});

describe('labels of the time axis', () => {
  const midnight = Date.UTC(2026, 9, 24) / 1000;

  it.each([1, 5, 10, 60, 600, hour, 24 * hour])(
    'adjacent labels of the time axis differ if buckets are %i s wide',
    (width) => {
      const times = chartTimes(width, 'UTC', 'en-GB');
      for (const distance of tickDistances(width)) {
        expect(distance).toBeGreaterThanOrEqual(width);
        for (const start of [midnight - 2 * distance, noon]) {
          const labels = [0, 1, 2, 3, 4].map((index) => times.tick(start + index * distance, distance));
          for (const [index, label] of labels.slice(1).entries()) expect(label).not.toBe(labels[index]);
        }
      }
    },
  );
});

/** Formats times as hours: 13:00. */
const clock: ChartTimes = {
  bucket: (start) => new Date(start * 1000).toISOString().slice(11, 16),
  span: (start, end) => `${clock.bucket(start)}–${clock.bucket(end)}`,
  tick: (time) => clock.bucket(time),
  zone: undefined,
};

describe('the announcement of a chart', () => {
  const of: ChartData = {
    buckets,
    series,
    markers: [{ at: noon + hour + 5, label: 'New variant: off' }],
    unfinishedFrom: 3,
    times: clock,
    format: (value) => value.toLocaleString('en-GB'),
  };

  it('the announcement of a bucket contains its time, its values and its markers', () => {
    expect(spoken(of, 1, 1)).toBe('13:00: on 2, off 0. New variant: off.');
  });

  it('the announcement of an incomplete bucket says that it is incomplete', () => {
    expect(bucketText(of, 2).when).toBe('14:00');
    expect(spoken(of, 3, 3)).toBe('15:00, so far: on 1,200, off 1.');
  });

  it('the announcement of a selected range names the keys that act on the range', () => {
    expect(spoken(of, 1, 2)).toBe('Selected 13:00–15:00. Enter zooms in, Escape clears.');
  });
});

it('bucketStart and bucketAt use the start times of buckets that are days', () => {
  const starts = [Date.UTC(2026, 9, 23, 22), Date.UTC(2026, 9, 24, 22), Date.UTC(2026, 9, 25, 23)].map(
    (at) => at / 1000,
  );
  const days = { start: starts[0]!, width: 24 * hour, count: 3, starts };
  for (const [index, start] of starts.entries()) {
    expect(bucketStart(days, index)).toBe(start);
    expect(bucketAt(days, start)).toBe(index);
    expect(bucketAt(days, start - 1)).toBe(index === 0 ? undefined : index - 1);
  }
  expect(bucketAt(days, starts[2]! + 25 * hour)).toBeUndefined();
});
