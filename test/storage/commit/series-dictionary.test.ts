import fc from 'fast-check';
import { expect, test } from 'vitest';
import { surplusName } from '../../../src/contract/names.ts';
import { EnvironmentSeries } from '../../../src/storage/commit/series-dictionary.ts';
import type { NewSeries } from '../../../src/storage/lmdb/series.ts';

function dictionary(limits = { features: 3, variants: 4, metrics: 2 }, known: NewSeries[] = []) {
  return {
    names: new EnvironmentSeries(7, limits, known),
    sink: { series: [] as NewSeries[], folded: 0, dropped: 0 },
  };
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
  ['nothing', ''],
  ['a control character', 'a\nb'],
  ['a lone surrogate', '\ud83d'],
  ['257 bytes', 'n'.repeat(257)],
])('a name with %s has no series, and takes no room', (_, bad) => {
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

test('a feature itself does not count towards the limit of variants', () => {
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

test('any input results in a bounded dictionary with one series per name, restorable from its entries', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(anyName, anyName), { maxLength: 60 }), (pairs) => {
      const { names, sink } = dictionary();
      const refs = pairs.map(([feature, variant]) => names.variant(feature, variant, sink));
      const features = new Set(sink.series.map(({ name }) => name[0]));
      features.delete(surplusName);
      expect(features.size).toBeLessThanOrEqual(3);
      expect(new Set(sink.series.map(({ ordinal }) => ordinal)).size).toBe(sink.series.length);

      const again = dictionary(undefined, sink.series);
      expect(pairs.map(([feature, variant]) => again.names.variant(feature, variant, again.sink))).toEqual(
        refs,
      );
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
