/*
 * src/console/pages/metrics: the measured metrics. page.tsx lists them, declare.tsx declares one, and detail.tsx draws one. rows.ts
 * computes.
 */
import { useMemo } from 'preact/hooks';
import type { Metric } from '../../../contract/shapes/metric.ts';
import type { MeasurementsReport } from '../../../contract/shapes/reports.ts';
import { useQuery } from '../../address/address.ts';
import type { InEnvironment } from '../../address/place.ts';
import { type Bounds, boundsQuery } from '../../address/range.ts';
import { resource, withQuery } from '../../api/client.ts';
import { useWholeList } from '../../api/list.ts';
import { usePoll } from '../../api/poll.ts';
import { type Buckets, bucketsOf } from '../../parts/chart/series.ts';
import { Sparkline } from '../../parts/chart/sparkline.tsx';
import { RangePicker, useRange } from '../../parts/choices/range.tsx';
import { useDialog } from '../../parts/dialog.tsx';
import { Pending } from '../../parts/failure.tsx';
import { Menu } from '../../parts/menu.tsx';
import { Ago } from '../../parts/table/columns.tsx';
import { type Column, Table } from '../../parts/table/table.tsx';
import { hasRole } from '../../reader/roles.ts';
import { format } from '../../text/format.ts';
import { Declare, Undeclare } from './declare.tsx';
import { Detail } from './detail.tsx';
import { figureOf, latest, type MetricRow, metricRows, rowKey, trendOf } from './rows.ts';

/** Measurements are computed for each reader, so they are read less often than the overview. */
const everyMs = 10_000;

export function MetricsPage({ application: app, environment: env }: InEnvironment) {
  const { bounds, live } = useRange();
  const query = { environment: env, ...boundsQuery(bounds) };
  const path = withQuery(resource('applications', app, 'measurements'), query);
  const measured = usePoll<MeasurementsReport>(path, live ? everyMs : undefined);
  const declared = useWholeList<Metric>(resource('applications', app, 'metrics'), { declared: true });
  const error = measured.data === undefined ? measured.error : declared.error;
  const isRead = measured.data !== undefined && declared.items !== undefined;
  return (
    <div class="stack">
      <header class="head spread">
        <h1>Metrics</h1>
        <RangePicker />
      </header>
      {(error !== undefined || !isRead) && <Pending error={error} />}
      {measured.data !== undefined && declared.items !== undefined && (
        <Metrics
          app={app}
          env={env}
          bounds={bounds}
          rows={metricRows(declared.items, measured.data.metrics)}
        />
      )}
    </div>
  );
}

interface MetricsProps {
  readonly app: string;
  readonly env: string;
  readonly bounds: Bounds;
  readonly rows: readonly MetricRow[];
}

function Metrics({ app, env, bounds, rows }: MetricsProps) {
  const { query, change } = useQuery();
  const dialog = useDialog();
  const buckets = useMemo(() => bucketsOf(bounds), [bounds]);
  const { metric, feature, sort = '', search = '' } = query;
  const chosen = rows.find((row) => row.name === metric && row.feature === feature);
  const shown = rows.filter(({ name, feature = '' }) =>
    `${name} ${feature}`.toLowerCase().includes(search.toLowerCase()),
  );
  const declare = (row?: MetricRow) => dialog.open(<Declare app={app} metric={row} onClose={dialog.close} />);
  return (
    <>
      <div class="head spread">
        <input
          type="search"
          aria-label="Search the metrics"
          placeholder="Search"
          value={search}
          onInput={(event) => change({ search: event.currentTarget.value || undefined })}
        />
        {hasRole('User') && (
          <button type="button" onClick={() => declare()}>
            Declare a metric
          </button>
        )}
      </div>
      <Table
        caption="Metrics"
        columns={columnsOf({
          buckets,
          chosen,
          open: (row) => change({ metric: row.name, feature: row.feature }, true),
          declare,
          undeclare: (row) => dialog.open(<Undeclare app={app} metric={row} onClose={dialog.close} />),
        })}
        rows={shown}
        rowKey={rowKey}
        sort={sort}
        onSort={(next) => change({ sort: next })}
        csv={`metrics-${env}`}
        empty={rows.length === 0 ? <NoMetrics /> : 'No metric matches the search.'}
      />
      {chosen !== undefined && (
        <Detail
          place={{ application: app, environment: env }}
          row={chosen}
          buckets={buckets}
          onClose={() => change({ metric: undefined, feature: undefined }, true)}
        />
      )}
      {dialog.element}
    </>
  );
}

interface ColumnOptions {
  readonly buckets: Buckets;
  readonly chosen: MetricRow | undefined;
  readonly open: (row: MetricRow) => void;
  readonly declare: (row: MetricRow) => void;
  readonly undeclare: (row: MetricRow) => void;
}

function columnsOf({ buckets, chosen, open, declare, undeclare }: ColumnOptions): Column<MetricRow>[] {
  const columns: Column<MetricRow>[] = [
    {
      key: 'name',
      title: 'Metric',
      value: ({ name }) => name,
      cell: (row) => (
        <button
          type="button"
          class="link metrics-name"
          aria-pressed={row === chosen}
          onClick={() => open(row)}
        >
          {row.name}
        </button>
      ),
    },
    { key: 'feature', title: 'Flag', value: ({ feature }) => feature },
    {
      key: 'kind',
      title: 'Kind',
      value: ({ kind }) => kind,
      cell: ({ kind, declared }) => (declared ? kind : <span class="quiet">{kind}, not declared</span>),
    },
    { key: 'trend', title: 'Trend', cell: (row) => <Sparkline values={trendOf(row, buckets)} /> },
    {
      key: 'value',
      title: 'Value',
      number: true,
      value: figureOf,
      cell: (row) => <Value row={row} />,
    },
    { key: 'unit', title: 'Unit', value: ({ unit }) => unit },
    {
      key: 'last',
      title: 'Last measured',
      value: ({ series }) => latest(series)?.lastAt,
      cell: ({ series }) => <Ago at={latest(series)?.lastAt ?? null} />,
    },
  ];
  const actions: Column<MetricRow> = {
    key: 'actions',
    title: 'Actions',
    cell: (row) => (
      <Menu
        label="Change"
        title={`Change ${row.name}`}
        end
        items={[
          { label: row.declared ? 'Kind and unit' : 'Declare', onSelect: () => declare(row) },
          ...(row.declared ? [{ label: 'Undeclare', onSelect: () => undeclare(row) }] : []),
        ]}
      />
    ),
  };
  return hasRole('User') ? [...columns, actions] : columns;
}

/** The sum of a counter in the range, or the last value of a gauge, which has no sum. */
function Value({ row }: { readonly row: MetricRow }) {
  const value = figureOf(row);
  const last = latest(row.series);
  if (value === undefined || last === undefined) return <>–</>;
  return (
    <span title={format.full(value)}>
      {format.quantity(value)}{' '}
      <span class="quiet">
        {row.kind === 'counter' ? (
          'in this range'
        ) : (
          <>
            last value, <Ago at={last.lastAt} />
          </>
        )}
      </span>
    </span>
  );
}

function NoMetrics() {
  return (
    <>
      No metric was measured in this range. A packet has metrics in <code>m</code>:{' '}
      <code>{'"m":{"cart-value":42.5}'}</code>
    </>
  );
}
