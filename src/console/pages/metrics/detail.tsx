import { now } from '../../clock.ts';
import { Chart } from '../../parts/chart/chart.tsx';
import { toneOf } from '../../parts/chart/series.ts';
import { downloadCsv, toCsv } from '../../parts/csv.ts';
import { useRange } from '../../parts/range.tsx';
import { quantity } from './quantity.ts';
import { figureOf, type Grid, gridFrom, latest, type MetricRow, valuesIn } from './rows.ts';

interface DetailProps {
  readonly row: MetricRow;
  readonly grid: Grid;
  readonly onClose: () => void;
}

/** One metric over time; that of a feature by variant. */
export function Detail({ row, grid, onClose }: DetailProps) {
  const { zoom } = useRange();
  const { name, feature, kind, unit, series } = row;
  const title = feature === undefined ? name : `${name} of ${feature}, by variant`;
  const shown = kind === 'gauge' ? gridFrom(grid, series) : grid;
  const drawn = series.map((each, index) => ({
    label: each.variant ?? name,
    values: valuesIn(shown, kind, each.series),
    tone: toneOf(index),
  }));
  const csv = () =>
    downloadCsv(
      title,
      toCsv(
        ['Time', ...drawn.map(({ label }) => label)],
        Array.from({ length: shown.count }, (_, index) => [
          new Date((shown.start + index * shown.width) * 1000).toISOString(),
          ...drawn.map(({ values }) => values[index]),
        ]),
      ),
    );
  return (
    <section class="metrics-detail" aria-label={title}>
      <header class="metrics-head">
        <h2>{title}</h2>
        <p class="actions">
          <button type="button" onClick={csv}>
            CSV
          </button>
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
          buckets={shown}
          unfinishedFrom={
            kind === 'counter' ? Math.floor((now.value / 1000 - grid.start) / grid.width) : undefined
          }
          series={drawn}
          kind={kind === 'counter' && drawn.length > 1 ? 'stacked' : 'lines'}
          format={(value) => quantity(value, unit)}
          onZoom={(from, to) => zoom(from * 1000, to * 1000)}
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
          ['Sum', quantity(figureOf(row), unit)],
          ['Numbers', quantity(numbers, undefined)],
        ]
      : [
          ['Last', quantity(latest(series)?.last, unit)],
          ['Least', quantity(least, unit)],
          ['Most', quantity(most, unit)],
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
