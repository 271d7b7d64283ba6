import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMarkers, groupPositions, markersText, nextMarked } from '../../src/console/components/chart/markers.tsx';
import { groupByDay } from '../../src/console/pages/activity/days.ts';
import type { ActivityItem } from '../../src/contract/shapes/activity.ts';

const at = (day: number, hour = 0) => new Date(Date.UTC(2026, 4, day, hour)).toISOString();
const seconds = (day: number, hour = 0) => Date.parse(at(day, hour)) / 1000;

function item(time: string, text: string, more: Partial<ActivityItem> = {}): ActivityItem {
  const nothing = { environment: null, feature: null, subject: null, by: null, until: null };
  return { id: `${time} ${text}`, at: time, kind: 'first_seen', text, changes: [], ...nothing, ...more };
}

describe('the markers of a chart', () => {
  const getHref = ({ id }: ActivityItem) => `/${id}`;

  it('the markers of a chart name the flag of each event, unless the chart shows only one flag', () => {
    const items = [
      item(at(5), 'Archived', { feature: 'checkout' }),
      item(at(3), 'shop 4 first seen', { kind: 'sender_released' }),
      item(at(4), 'First seen', { feature: 'banner' }),
    ];
    expect(createMarkers(items, 'checkout', 3, getHref).map(({ label }) => label)).toEqual([
      'shop 4 first seen',
      'banner: First seen',
      'Archived',
    ]);
  });

  it('a chart shows markers only for the latest items', () => {
    const items = [item(at(3), 'a'), item(at(5), 'c'), item(at(4), 'b')];
    expect(createMarkers(items, undefined, 2, getHref).map(({ label }) => label)).toEqual(['b', 'c']);
  });

  const buckets = { start: seconds(1), width: 86_400, count: 7 };
  const markers = [2, 4, 4, 20].map((day, index) => ({ at: seconds(day, index), label: `event ${index}` }));

  it('arrow keys move from one marker of a chart to the next', () => {
    expect(nextMarked(buckets, markers, undefined)).toBe(1);
    expect(nextMarked(buckets, markers, 1)).toBe(3);
    expect(nextMarked(buckets, markers, 3)).toBe(1);
    expect(nextMarked(buckets, [], 3)).toBeUndefined();
  });

  it('the description of a chart lists the markers in its range', () => {
    expect(markersText(buckets, markers)).toMatch(/3 events: .* event 0; .* event 1; .* event 2\.$/);
    expect(markersText(buckets, [])).toBe('');
  });

  it('neighbouring chart markers share one line, which shows the number of these markers', () => {
    expect(groupPositions([10, 12, 23, 40], 14)).toEqual([
      { x: 10, count: 3 },
      { x: 40, count: 1 },
    ]);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 1000 })), (xs) => {
        const clusters = groupPositions(
          xs.toSorted((a, b) => a - b),
          14,
        );
        expect(clusters.reduce((sum, { count }) => sum + count, 0)).toBe(xs.length);
        const gaps = clusters.slice(1).map(({ x }, index) => x - clusters[index]!.x);
        expect(gaps.every((gap) => gap >= 14)).toBe(true);
      }),
    );
  });
});

describe('the days of the feed', () => {
  const day = (time: string) => time.slice(0, 10);

  it('the feed folds five or more successive items of one kind', () => {
    const seen = Array.from({ length: 5 }, (_, index) => item(at(3, 9), `${index}`));
    const items = [item(at(4), 'a'), item(at(3, 10), 'b', { kind: 'refused' }), ...seen];
    const folded = groupByDay(items, day, true).map(({ title, runs }) => [title, ...runs.map(({ length }) => length)]);
    expect(folded).toEqual([
      ['2026-05-04', 1],
      ['2026-05-03', 1, 5],
    ]);
    expect(groupByDay(items, day, false).map(({ runs }) => runs.length)).toEqual([1, 6]);
  });

  it('the feed shows each item once', () => {
    const kinds = fc.constantFrom('first_seen' as const, 'refused' as const);
    const some = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), kinds));
    fc.assert(
      fc.property(some, fc.boolean(), (each, fold) => {
        const items = each.map(([of, kind], index) => item(at(of), `${index}`, { kind }));
        const shown = groupByDay(items, day, fold).flatMap(({ runs }) => runs.flat());
        expect(new Set(shown)).toEqual(new Set(items));
        expect(shown).toHaveLength(items.length);
      }),
    );
  });
});
