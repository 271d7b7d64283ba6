import type { FeatureUsageShown, UsageShown } from '../../../contract/shapes/reports.ts';
import { format } from '../../format.ts';
import { Swatch } from '../../parts/chart/legend.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { tonesOf, variantsOf } from './traffic.ts';

type Row = FeatureUsageShown['variants'][number];

interface FunnelProps {
  readonly name: string;
  readonly report: UsageShown;
  readonly usage: FeatureUsageShown;
}

/** How many of the checks of each variant led to a use, and to a view. */
export function Funnel({ name, report, usage }: FunnelProps) {
  const tones = tonesOf(usage);
  const columns: readonly Column<Row>[] = [
    {
      key: 'variant',
      title: 'Variant',
      value: ({ variant }) => variant,
      cell: ({ variant }) => (
        <span class="flag-variant">
          <Swatch tone={tones.get(variant) ?? 'other'} />
          {variant}
        </span>
      ),
    },
    { ...count('checks', 'Checks'), cell: ({ checks }) => format.full(checks) },
    { ...count('used', '→ Used'), cell: (row) => <Step part={row.used} of={row.checks} /> },
    { ...count('viewed', '→ Viewed'), cell: (row) => <Step part={row.viewed} of={row.checks} /> },
    { ...count('uniqueUsers', 'Users ≈'), cell: ({ uniqueUsers }) => format.full(uniqueUsers) },
  ];
  const last = Date.parse(report.to) - 1;
  return (
    <div class="flag-funnel">
      <h3>Used and viewed</h3>
      <Table
        caption="From checks to uses and views, by variant"
        columns={columns}
        rows={variantsOf(usage)}
        rowKey={({ variant }) => variant}
        csv={`${name}-variants`}
      />
      <p class="quiet">
        Shares are of the checks. ≈{format.full(usage.uniqueUsers)} users of the flag on the whole UTC days{' '}
        {format.days(report.from, last)}, within 2 %. Who saw several variants counts once here, and once for
        each of them above.
      </p>
    </div>
  );
}

function count(key: 'checks' | 'used' | 'viewed' | 'uniqueUsers', title: string): Column<Row> {
  return { key, title, number: true, value: (row) => row[key] };
}

/** A count, its share of all, and a bar as long as the share. */
function Step({ part, of }: { readonly part: number; readonly of: number }) {
  const share = of === 0 ? 0 : Math.min(1, part / of);
  return (
    <span class="flag-step">
      <span>
        {format.full(part)} <span class="quiet">{format.rate(part, of)}</span>
      </span>
      <span class="flag-share" aria-hidden="true">
        <span class="flag-share-part" style={{ width: `${share * 100}%` }} />
      </span>
    </span>
  );
}
