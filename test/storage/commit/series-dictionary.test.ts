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

function dictionary(limits = { features: 3, variants: 4, metrics: 2 }, known: NewSeries[] = []) {
  return { names: new EnvironmentSeries(7, limits, known), sink: { series: [] as NewSeries[], folded: 0, dropped: 0 } };
}

const anyName = fc.oneof(
  fc.string({ minLength: 1, maxLength: 5 }),
  fc.constantFrom('__proto__', 'constructor', 'toString', surplusName, '🚩'),
);

test('a name keeps its series, and only new names are passed to the sink', () => {
  const { names, sink } = dictionary();
  const first = names.variant('checkout', 'on', sink);
  expect(names.variant('checkout', 'on', sink)).toBe(first);
  expect(names.variant('checkout', 'off', sink)).not.toBe(first);
  expect(sink.series.map(({ name }) => name)).toEqual([
    ['checkout', 'on'],
    ['checkout', 'off'],
  ]);
});

test('new features over the limit are folded into the surplus feature', () => {
  const { names, sink } = dictionary();
  for (const feature of ['a', 'b', 'c', 'd', 'e', 'a']) names.variant(feature, 'on', sink);
  expect(sink.series.map(({ name }) => name[0])).toEqual(['a', 'b', 'c', surplusName]);
});

test('variants over the limit are folded into the surplus variant', () => {
  const { names, sink } = dictionary();
  for (let variant = 0; variant < 9; variant += 1) names.variant('a', `v${variant}`, sink);
  expect(sink.series).toHaveLength(4 + 1);
  expect(sink.series.at(-1)?.name).toEqual(['a', surplusName]);
  expect(sink.folded).toBe(5);
});

test('metrics over the limit are folded into the surplus metric', () => {
  const { names, sink } = dictionary();
  for (const metric of ['x', 'y', 'z', 'w', 'x']) names.metric(metric, sink);
  expect(sink.series.map(({ name }) => name)).toEqual([['x'], ['y'], [surplusName]]);
});

test.each([
  ['a length of 0', ''],
  ['a control character', 'a\nb'],
  ['a lone surrogate', '\ud83d'],
  ['257 bytes', 'n'.repeat(257)],
])('a name with %s gets no series, and does not count towards the limit', (_, bad) => {
  const { names, sink } = dictionary();
  names.variant('a', 'on', sink);
  names.feature('a', sink);
  const { length } = sink.series;
  const asked = [
    () => names.variant(bad, 'on', sink),
    () => names.variant('a', bad, sink),
    () => names.feature(bad, sink),
    () => names.metric(bad, sink),
    () => names.featureMetric(bad, 'a', 'on', sink),
    () => names.featureMetric('x', bad, 'on', sink),
    () => names.featureMetric('x', 'a', bad, sink),
  ];
  for (const ask of asked) expect(ask(), String(ask)).toBeUndefined();
  expect(sink).toMatchObject({ folded: 0, dropped: asked.length });
  expect(sink.series).toHaveLength(length);
});

test('the series of a feature itself does not count towards the limit of variants', () => {
  const { names, sink } = dictionary();
  const itself = names.feature('a', sink);
  for (const variant of ['v0', 'v1', 'v2', 'v3']) names.variant('a', variant, sink);
  expect(sink.folded).toBe(0);
  expect(dictionary(undefined, sink.series).names.feature('a', sink)).toBe(itself);
});

test('a metric and a feature of the same name are two series', () => {
  const { names, sink } = dictionary();
  expect(names.metric('a', sink)).not.toBe(names.variant('a', 'a', sink));
});

test('the dictionary of any input is bounded, has one series per name, and can be restored', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(anyName, anyName), { maxLength: 60 }), (pairs) => {
      const { names, sink } = dictionary();
      const refs = pairs.map(([feature, variant]) => names.variant(feature, variant, sink));
      const features = new Set(sink.series.map(({ name }) => name[0]));
      features.delete(surplusName);
      expect(features.size).toBeLessThanOrEqual(3);
      expect(new Set(sink.series.map(({ ordinal }) => ordinal)).size).toBe(sink.series.length);

      const again = dictionary(undefined, sink.series);
      expect(pairs.map(([feature, variant]) => again.names.variant(feature, variant, again.sink))).toEqual(refs);
      expect(again.sink.series).toEqual([]);
    }),
  );
});

test('metrics of features count towards the limit of metrics, and are restored from their entries', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(anyName, anyName, anyName, fc.boolean()), { maxLength: 60 }), (rows) => {
      const { names, sink } = dictionary();
      const ask = ({ names, sink }: ReturnType<typeof dictionary>) =>
        rows.map(([metric, feature, variant, plain]) =>
          plain ? names.metric(metric, sink) : names.featureMetric(metric, feature, variant, sink),
        );
      const refs = ask({ names, sink });
      const own = sink.series.map(({ name }) => [name[0], name.length === 3 ? name[1] : null]);
      const groups = new Set(own.map((group) => JSON.stringify(group)));
      groups.delete(JSON.stringify([surplusName, null]));
      groups.delete(JSON.stringify([surplusName, surplusName]));
      expect(groups.size).toBeLessThanOrEqual(2);

      const again = dictionary(undefined, sink.series);
      expect(ask(again)).toEqual(refs);
      expect(again.sink.series).toEqual([]);
    }),
  );
});

const limits = { features: 3, variants: 2, metrics: 2 };

interface Sink extends SeriesSink {
  readonly series: NewSeries[];
}

const newSink = (): Sink => ({ series: [], folded: 0, dropped: 0 });

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', '__proto__', surplusName, '', 'line\nbreak');
const step = fc.oneof(
  fc.record({ kind: fc.constant('variant' as const), name, variant: name }),
  fc.record({ kind: fc.constant('metric' as const), name, variant: name }),
  // Reports also create these kinds of series, on the main thread only.
  fc.record({ kind: fc.constant('feature' as const), name, variant: name }),
  fc.record({ kind: fc.constant('featureMetric' as const), name, variant: name }),
  fc.record({ kind: fc.constant('learn' as const), count: fc.nat(4) }),
);

interface CountedName {
  readonly kind: 'variant' | 'metric' | 'feature' | 'featureMetric';
  readonly name: string;
  readonly variant: string;
}

function countIn(series: EnvironmentSeries, { kind, name, variant }: CountedName, sink: Sink) {
  if (kind === 'featureMetric') return series.featureMetric('of a feature', name, variant, sink);
  return kind === 'variant' ? series.variant(name, variant, sink) : series[kind](name, sink);
}

test('a series mirror counts names as the dictionary does, even if it receives new series late', () => {
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
        const before = { folded, dropped };
        const known = series.length;
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
          expect(mirror.findFirst(each.name)).toEqual(dictionary.findFirst(each.name));
      }
      expect(dictionary.below(learned)).toEqual(created.series.slice(0, learned));
    }),
  );
});

test('a series mirror throws if it counts a name that it lacks', () => {
  const mirror = new SeriesMirror(7, limits, []);
  expect(mirror.countsVariant('a', 'on')).toBe(false);
  expect(() => mirror.variant('a', 'on', newSink())).toThrow('lacks a series');
});

test('a series mirror receives new series of an open environment until the environment is forgotten', () => {
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

test('series are durable after their commit and before their senders get responses', async () => {
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
