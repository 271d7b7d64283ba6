import { type ChartSeries, dashes, type Tone } from './series.ts';

/** Which line is which. */
export function Legend({
  series,
  unfinished,
}: {
  readonly series: readonly ChartSeries[];
  readonly unfinished: boolean;
}) {
  return (
    <ul class="chart-legend">
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
    <svg class={`chart-swatch chart-tone-${tone}`} width="26" height="8" aria-hidden="true">
      <line x1="1" y1="4" x2="25" y2="4" stroke-dasharray={dashes[tone].join(' ')} />
    </svg>
  );
}
