import { useMemo } from 'preact/hooks';
import { bucketText, type Described } from './announcement.ts';
import { type ChartSeries, dashes, type Tone } from './series.ts';

/** The label of each line. */
export function Legend({ series, unfinished }: { series: readonly ChartSeries[]; unfinished: boolean }) {
  return (
    <ul class="plain-list chart-legend">
      {series.map(({ label, tone }) => (
        <li key={label}>
          <Swatch tone={tone} />
          {label}
        </li>
      ))}
      {unfinished && <li class="quiet">╌ so far: not complete yet</li>}
    </ul>
  );
}

/** A piece of a series' line. */
export function Swatch({ tone }: { readonly tone: Tone }) {
  return (
    <svg class={`chart-swatch tone-${tone}`} width="26" height="8" aria-hidden="true">
      <line x1="1" y1="4" x2="25" y2="4" stroke-dasharray={dashes[tone].join(' ')} />
    </svg>
  );
}

interface TooltipProps {
  readonly of: Described;
  readonly index: number;
  /** Position of the bucket, px. */
  readonly left: number;
  /** Width of the chart, px. */
  readonly width: number;
}

/** The figures of a bucket, next to it. */
export function Tooltip({ of, index, left, width }: TooltipProps) {
  const { when, values, markers } = bucketText(of, index);
  const place = left > width / 2 ? { right: `${width - left + 12}px` } : { left: `${left + 12}px` };
  return (
    <div class="chart-tooltip" style={place} aria-hidden="true">
      <strong>{when}</strong>
      <table>
        <tbody>
          {values.map(({ series, value }) => (
            <tr key={series.label}>
              <th scope="row">
                <Swatch tone={series.tone} /> {series.label}
              </th>
              <td class="number">{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {markers.map((label) => (
        <div key={label}>▾ {label}</div>
      ))}
    </div>
  );
}

/** The figures of a chart as a table, latest first. */
export function Figures({ caption, of }: { readonly caption: string; readonly of: Described }) {
  const rows = useMemo(
    () => Array.from({ length: of.buckets.count }, (_, index) => bucketText(of, index)).reverse(),
    [of],
  );
  const marked = of.markers.length > 0;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it must be scrollable by keyboard
    <section class="chart-figures" tabIndex={0} aria-label={`Table: ${caption}`}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {of.series.map(({ label }) => (
              <th scope="col" class="number" key={label}>
                {label}
              </th>
            ))}
            {marked && <th scope="col">What happened</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ start, when, values, markers }) => (
            <tr key={start}>
              <th scope="row">{when}</th>
              {values.map(({ series, value }) => (
                <td class="number" key={series.label}>
                  {value}
                </td>
              ))}
              {marked && <td>{markers.join(', ')}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
