import { expect, test } from 'vitest';
import { expositionText } from '../../src/http/exposition.ts';
import { Histogram } from '../../src/runtime/histogram.ts';
import { parseExposition } from '../support/exposition.ts';

test('expositionText writes metrics of every type with their help texts', async () => {
  const histogram = new Histogram([0.5, 2]);
  for (const value of [0.1, 0.5, 1, 9]) histogram.observe(value);
  const text = await expositionText([
    { name: 'a_total', type: 'counter', help: 'One value.', read: () => 7 },
    { name: 'b', type: 'gauge', help: 'By\nlabel \\.', read: () => [[{ x: '1' }, 0.25]] },
    { name: 'c', type: 'gauge', help: 'Nothing.', read: () => [] },
    { name: 'd_seconds', type: 'histogram', help: 'Times.', read: () => [[{ route: '/' }, histogram]] },
  ]);
  expect(text).toBe(`# HELP a_total One value.
# TYPE a_total counter
a_total 7

# HELP b By\\nlabel \\\\.
# TYPE b gauge
b{x="1"} 0.25

# HELP c Nothing.
# TYPE c gauge

# HELP d_seconds Times.
# TYPE d_seconds histogram
d_seconds_bucket{route="/",le="0.5"} 2
d_seconds_bucket{route="/",le="2"} 3
d_seconds_bucket{route="/",le="+Inf"} 4
d_seconds_sum{route="/"} 10.6
d_seconds_count{route="/"} 4
`);
});

test('expositionText escapes label values, so that a parser restores them', async () => {
  const label = 'a"b\\c\nd{}=,é';
  const text = await expositionText([{ name: 'm', type: 'gauge', help: '', read: () => [[{ label }, 1]] }]);
  expect(parseExposition(text).samples).toEqual([{ name: 'm', labels: { label }, value: 1 }]);
});

test.each([
  [Number.POSITIVE_INFINITY, '+Inf'],
  [Number.NEGATIVE_INFINITY, '-Inf'],
  [Number.NaN, 'Nan'],
  [1e21, '1e+21'],
  [-0.5, '-0.5'],
])('expositionText formats the number %s as %s', async (value, written) => {
  const text = await expositionText([{ name: 'm', type: 'gauge', help: '', read: () => value }]);
  expect(text).toContain(`\nm ${written}\n`);
});
