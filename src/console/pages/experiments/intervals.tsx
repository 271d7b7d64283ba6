import type { MeasuredVariant } from '../../../contract/shapes/experiment-figures.ts';

const points = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2, signDisplay: 'exceptZero' });
const plain = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 });
const shares = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

/** True if a metric is a share of checks. */
export function isShare(metric: string): boolean {
  return metric === 'used' || metric === 'viewed';
}

/** A value of a metric per check. */
export function valueText(metric: string, value: number | null): string {
  if (value === null) return '–';
  return isShare(metric) ? shares.format(value) : plain.format(value);
}

/** A difference of a metric: shares in percentage points. */
export function differenceText(metric: string, difference: number): string {
  return isShare(metric) ? `${points.format(difference * 100)} pp` : points.format(difference);
}

interface IntervalsProps {
  readonly metric: string;
  readonly base: string;
  readonly variants: readonly MeasuredVariant[];
}

/** The variants with the intervals of their differences from the base, on one scale. */
export function Intervals({ metric, base, variants }: IntervalsProps) {
  const ends = variants.flatMap(({ difference }) => difference?.interval ?? []);
  const reach = Math.max(0, ...ends.map(Math.abs)) * 1.1;
  return (
    <div class="table">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it must be scrollable by keyboard on a phone */}
      <section class="table-scroll" aria-label={`Variants by ${metric}`} tabIndex={0}>
        <table>
          <caption class="hidden">
            Variants by {metric}, compared with {base}
          </caption>
          <thead>
            <tr>
              <th scope="col">Variant</th>
              <th scope="col" class="number">
                Users ≈
              </th>
              <th scope="col" class="number">
                {metric} per check
              </th>
              <th scope="col" class="number">
                vs {base}
              </th>
              <th scope="col">95 % interval</th>
            </tr>
          </thead>
          <tbody>
            {variants.map((each) => (
              <tr key={each.variant}>
                <th scope="row">{each.variant}</th>
                <td class="number">{plain.format(each.users)}</td>
                <td class="number">{valueText(metric, each.value)}</td>
                <Difference metric={metric} base={base} reach={reach} variant={each} />
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}

interface DifferenceProps {
  readonly metric: string;
  readonly base: string;
  readonly reach: number;
  readonly variant: MeasuredVariant;
}

function Difference({ metric, base, reach, variant: { variant, difference } }: DifferenceProps) {
  if (difference === null)
    return (
      <td colSpan={2} class="quiet">
        {variant === base ? 'base' : 'too little data'}
      </td>
    );
  const [low, high] = difference.interval;
  const at = (value: number) => `${50 + (50 * value) / (reach || 1)}%`;
  return (
    <>
      <td class="number">{differenceText(metric, difference.estimate)}</td>
      <td>
        <span class="experiment-scale" aria-hidden="true">
          <span class="experiment-zero" />
          <span
            class="experiment-interval"
            style={{ left: at(low), width: `${(50 * (high - low)) / (reach || 1)}%` }}
          />
          <span class="experiment-estimate" style={{ left: at(difference.estimate) }} />
        </span>
        <span class="quiet">
          {differenceText(metric, low)} to {differenceText(metric, high)}
        </span>
      </td>
    </>
  );
}
