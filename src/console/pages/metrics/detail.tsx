import type { InEnvironment } from '../../address/place.ts';
import { now } from '../../api/clock.ts';
import { useMarkers } from '../../parts/chart/activity-markers.ts';
import { Chart } from '../../parts/chart/chart.tsx';
import { type Buckets, bucketAt, toneOf } from '../../parts/chart/series.ts';
import { useRange } from '../../parts/choices/range.tsx';
import { format } from '../../text/format.ts';
import { bucketsFrom, figureOf, latest, type MetricRow, valuesIn } from './rows.ts';

interface DetailProps {
  readonly place: InEnvironment;
  readonly row: MetricRow;
  readonly buckets: Buckets;
  readonly onClose: () => void;
}

/** A metric over time, by variant if it belongs to a feature. */
export function Detail({ place, row, buckets, onClose }: DetailProps) {
  const { zoom, bounds } = useRange();
  const { name, feature, kind, unit, series } = row;
  const markers = useMarkers(place, feature, bounds);
  const title = feature === undefined ? name : `${name} of ${feature}, by variant`;
  const shown = kind === 'gauge' ? bucketsFrom(buckets, series) : buckets;
  const drawn = series.map((each, index) => ({
    label: each.variant ?? name,
    values: valuesIn(shown, kind, each.series),
    tone: toneOf(index),
  }));
  return (
    <section class="stack metrics-detail" aria-label={title}>
      <header class="head spread">
        <h2>{title}</h2>
        <p class="actions">
          <button type="button" onClick={onClose}>
            Close
          </button>
        </p>
      </header>
      <Figures row={row} />
      {series.length === 0 ? (
        <p class="empty">Nothing was measured in this range.</p>
      ) : (
        <Chart
          title={`${title}${unit === undefined ? '' : `, ${unit}`}`}
          csv={title}
          buckets={shown}
          unfinishedFrom={kind === 'counter' ? bucketAt(buckets, now.value / 1000) : undefined}
          series={drawn}
          levels={kind === 'gauge'}
          kind={kind === 'counter' && drawn.length > 1 ? 'stacked' : 'lines'}
          format={(value) => format.quantity(value, unit)}
          markers={markers}
          onZoom={zoom}
        />
      )}
    </section>
  );
}

function Figures({ row }: { readonly row: MetricRow }) {
  const { kind, unit, series } = row;
  const least = Math.min(...series.map(({ min }) => min));
  const most = Math.max(...series.map(({ max }) => max));
  const numbers = series.reduce((sum, { count }) => sum + count, 0);
  if (numbers === 0) return null;
  const facts: [name: string, text: string][] =
    kind === 'counter'
      ? [
          ['Sum', format.quantity(figureOf(row), unit)],
          ['Values', format.quantity(numbers)],
        ]
      : [
          ['Last', format.quantity(latest(series)?.last, unit)],
          ['Least', format.quantity(least, unit)],
          ['Most', format.quantity(most, unit)],
        ];
  return (
    <dl class="metrics-facts">
      {facts.map(([name, text]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}
