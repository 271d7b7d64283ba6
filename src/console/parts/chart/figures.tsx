import { useMemo } from 'preact/hooks';
import { bucketText, type Described } from './announcement.ts';

/** The figures of a chart, latest first. */
export function Figures({ caption, of }: { readonly caption: string; readonly of: Described }) {
  const rows = useMemo(
    () => Array.from({ length: of.buckets.count }, (_, index) => bucketText(of, index)).reverse(),
    [of],
  );
  const marked = of.markers.length > 0;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no pointer scrolls it by keyboard
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
