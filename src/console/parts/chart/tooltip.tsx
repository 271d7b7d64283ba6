import { bucketText, type Described } from './announcement.ts';
import { Swatch } from './legend.tsx';

/** Shows the figures of a bucket beside it. `left` is where the bucket is, and `width` that of the chart, px. */
export function Tooltip({
  of,
  index,
  left,
  width,
}: {
  readonly of: Described;
  readonly index: number;
  readonly left: number;
  readonly width: number;
}) {
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
