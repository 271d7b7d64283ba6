import fc from 'fast-check';
import { expect, test } from 'vitest';
import { surplusName } from '../../../src/contract/names.ts';
import {
  DurableSeries,
  EnvironmentSeries,
  SeriesMirror,
  SeriesMirrors,
  type SeriesSink,
} from '../../../src/storage/commit/series-dictionary.ts';
import type { NewSeries } from '../../../src/storage/lmdb/series.ts';
import { openLane, turn } from '../../support/open-lane.ts';

const limits = { features: 3, variants: 2, metrics: 2 };

interface Sink extends SeriesSink {
  readonly series: NewSeries[];
}

const newSink = (): Sink => ({ series: [], folded: 0, dropped: 0 });

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', '__proto__', surplusName, '', 'line\nbreak');
const step = fc.oneof(
  fc.record({ kind: fc.constant('variant' as const), name, variant: name }),
  fc.record({ kind: fc.constant('metric' as const), name, variant: name }),
  // Reports also create these, on the main thread only.
  fc.record({ kind: fc.constant('feature' as const), name, variant: name }),
  fc.record({ kind: fc.constant('featureMetric' as const), name, variant: name }),
  fc.record({ kind: fc.constant('learn' as const), count: fc.nat(4) }),
);

interface Counted {
  readonly kind: 'variant' | 'metric' | 'feature' | 'featureMetric';
  readonly name: string;
  readonly variant: string;
}

function countIn(series: EnvironmentSeries, { kind, name, variant }: Counted, sink: Sink) {
  if (kind === 'featureMetric') return series.featureMetric('of a feature', name, variant, sink);
  return kind === 'variant' ? series.variant(name, variant, sink) : series[kind](name, sink);
}

test('a mirror counts names as the dictionary does, however late it learns of new series', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const dictionary = new EnvironmentSeries(7, limits, []);
      const mirror = new SeriesMirror(7, limits, []);
      const created = newSink();
      let learned = 0;
      for (const each of steps) {
        if (each.kind === 'learn') {
          const news = created.series.slice(learned, learned + each.count);
          learned += news.length;
          for (const series of news) mirror.learn(series);
          continue;
        }
        const own = newSink();
        const counts =
          each.kind === 'variant'
            ? mirror.countsVariant(each.name, each.variant)
            : each.kind === 'metric' && mirror.countsMetric(each.name);
        const ref = counts ? countIn(mirror, each, own) : undefined;
        const { folded, dropped, series } = created;
        const [before, known] = [{ folded, dropped }, series.length];
        const mainRef = countIn(dictionary, each, created);
        const isMirrored = each.kind === 'variant' || each.kind === 'metric';
        if (isMirrored && learned === known) expect(counts).toBe(created.series.length === known);
        if (!counts) continue;
        expect(ref).toBe(mainRef);
        expect(created.series).toHaveLength(known);
        expect(own).toEqual({
          series: [],
          folded: created.folded - before.folded,
          dropped: created.dropped - before.dropped,
        });
        if (ref !== undefined && each.kind === 'variant')
          expect(mirror.firstOf(each.name)).toEqual(dictionary.firstOf(each.name));
      }
      expect(dictionary.below(learned)).toEqual(created.series.slice(0, learned));
    }),
  );
});

test('a mirror throws if it counts a name that it lacks', () => {
  const mirror = new SeriesMirror(7, limits, []);
  expect(mirror.countsVariant('a', 'on')).toBe(false);
  expect(() => mirror.variant('a', 'on', newSink())).toThrow('lacks a series');
});

test('mirrors learn the series of opened environments until these are forgotten', () => {
  const mirrors = new SeriesMirrors(limits);
  const first: NewSeries = { environment: 7, ordinal: 0, name: ['a', 'on'] };
  mirrors.learn([first]);
  expect(mirrors.find(7)).toBeUndefined();
  mirrors.open(7, [first]);
  mirrors.learn([
    { environment: 8, ordinal: 0, name: ['b', 'on'] },
    { environment: 7, ordinal: 1, name: ['sales'] },
  ]);
  expect(mirrors.of(7).countsVariant('a', 'on')).toBe(true);
  expect(mirrors.of(7).countsMetric('sales')).toBe(true);
  expect(mirrors.find(8)).toBeUndefined();
  mirrors.forget(7);
  expect(mirrors.find(7)).toBeUndefined();
});

test('series are durable after their commit and before their senders are answered', async () => {
  const stored: NewSeries[] = [{ environment: 7, ordinal: 0, name: ['stored', 'on'] }];
  const series = new EnvironmentSeries(7, limits, stored);
  const durable = new DurableSeries({ of: () => series });
  const names = () => durable.of(7).map((each) => each.name[0]);
  const events: string[] = [];
  const { lane, begun } = openLane(10, undefined, (committed) => {
    durable.committed(committed);
    events.push(`durable: ${names()}`);
  });
  const send = async (feature: string) => {
    const sent = lane.submit(1, (batch) => void series.variant(feature, 'on', batch));
    void sent.then(
      () => events.push(`kept: ${feature}`),
      () => events.push(`refused: ${feature}`),
    );
    await turn();
  };
  await send('a');
  await begun[0]!.end(new Error('the disk is full'));
  expect(names()).toEqual(['stored']);
  await send('b');
  await begun[1]!.end();
  expect(events).toEqual(['refused: a', 'durable: stored,a,b', 'kept: b']);
});
