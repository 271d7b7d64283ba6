/* src/console/pages/metrics: lists, declares and draws the measured metrics. rows.ts contains computations. */

import { useMemo } from 'preact/hooks';
import type { Metric } from '../../../contract/shapes/metric.ts';
import type { MeasurementsReport } from '../../../contract/shapes/reports.ts';
import { useQuery } from '../../address/address.ts';
import type { InEnvironment } from '../../address/place.ts';
import { boundsQuery } from '../../address/range.ts';
import { call, resource, withQuery } from '../../api/client.ts';
import { now } from '../../api/clock.ts';
import { useWholeList } from '../../api/list.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { useMarkers } from '../../components/chart/activity-markers.ts';
import { Chart } from '../../components/chart/chart.tsx';
import { bucketAt, createBuckets, getSeriesTone } from '../../components/chart/series.ts';
import { RangePicker, useRange } from '../../components/choices/range.tsx';
import { Dialog, useDialog } from '../../components/dialog.tsx';
import { Pending } from '../../components/failure.tsx';
import { Confirm } from '../../components/form/confirm.tsx';
import { Field, Form, SelectField } from '../../components/form/form.tsx';
import { Menu } from '../../components/menu.tsx';
import { Ago } from '../../components/table/columns.tsx';
import { type Column, Table } from '../../components/table/table.tsx';
import { hasRole } from '../../reader/reader.tsx';
import { format } from '../../text/format.ts';
import { bucketsFrom, computeFigure, latest, type MetricRow, metricRows, rowKey, valuesIn } from './rows.ts';

/** Pause between two requests. Measurements are computed for each reader, so they are polled less often. */
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
        <Metrics app={app} env={env} rows={metricRows(declared.items, measured.data.metrics)} />
      )}
    </div>
  );
}

interface MetricsProps {
  readonly app: string;
  readonly env: string;
  readonly rows: readonly MetricRow[];
}

function Metrics({ app, env, rows }: MetricsProps) {
  const { query, change } = useQuery();
  const dialog = useDialog();
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
          aria-label="Search metrics"
          placeholder="Search"
          value={search}
          onInput={(event) => change({ search: event.currentTarget.value || undefined })}
        />
        {hasRole('User') && (
          <button type="button" onClick={() => declare()}>
            Declare metric
          </button>
        )}
      </div>
      <Table
        caption="Metrics"
        columns={createColumns({
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
          onClose={() => change({ metric: undefined, feature: undefined }, true)}
        />
      )}
      {dialog.element}
    </>
  );
}

interface ColumnOptions {
  readonly chosen: MetricRow | undefined;
  readonly open: (row: MetricRow) => void;
  readonly declare: (row: MetricRow) => void;
  readonly undeclare: (row: MetricRow) => void;
}

function createColumns({ chosen, open, declare, undeclare }: ColumnOptions): Column<MetricRow>[] {
  const columns: Column<MetricRow>[] = [
    {
      key: 'name',
      title: 'Metric',
      value: ({ name }) => name,
      cell: (row) => (
        <button type="button" class="link metrics-name" aria-pressed={row === chosen} onClick={() => open(row)}>
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
    { key: 'value', title: 'Value', number: true, value: computeFigure, cell: (row) => <Value row={row} /> },
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

function Value({ row }: { readonly row: MetricRow }) {
  const value = computeFigure(row);
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

interface DeclareProps {
  readonly app: string;
  /** The metric to change; `undefined` if the reader types a name. */
  readonly metric: MetricRow | undefined;
  readonly onClose: () => void;
}

function Declare({ app, metric, onClose }: DeclareProps) {
  async function send(data: FormData) {
    const name = metric?.name ?? String(data.get('name'));
    const unit = String(data.get('unit')).trim();
    const body = { kind: data.get('kind'), unit: unit === '' ? null : unit };
    await call('PUT', resource('applications', app, 'metrics', name), { body });
    forget(resource('applications', app, 'metrics'));
    onClose();
  }
  return (
    <Dialog title={metric === undefined ? 'Declare metric' : `Declare ${metric.name}`} onClose={onClose}>
      <p class="quiet">
        A counter is summed up, such as purchases or errors. A gauge shows its last value, such as the length of a
        queue. The declared kind applies to earlier values too.
      </p>
      <Form onSubmit={send} submit="Declare" done="Metric declared" onCancel={onClose}>
        {metric === undefined && (
          <Field
            name="name"
            label="Name"
            required
            autoFocus
            hint="The name as senders write it. Upper and lower case differ."
          />
        )}
        <SelectField name="kind" label="Kind" options={kinds} value={metric?.kind} />
        <Field
          name="unit"
          label="Unit"
          value={metric?.unit ?? ''}
          maxLength={64}
          hint="Such as EUR, ms or MB; optional."
        />
      </Form>
    </Dialog>
  );
}

const kinds = [
  ['counter', 'Counter'],
  ['gauge', 'Gauge'],
] as const;

function Undeclare({ app, metric: { name }, onClose }: DeclareProps & { readonly metric: MetricRow }) {
  async function send() {
    await call('DELETE', resource('applications', app, 'metrics', name));
    forget(resource('applications', app, 'metrics'));
  }
  return (
    <Confirm
      title={`Undeclare ${name}?`}
      action="Undeclare"
      done={`Declaration of ${name} deleted`}
      onConfirm={send}
      onClose={onClose}
    >
      <p>Recorded values are kept, and shown as a counter without a unit.</p>
    </Confirm>
  );
}

interface DetailProps {
  readonly place: InEnvironment;
  readonly row: MetricRow;
  readonly onClose: () => void;
}

function Detail({ place, row, onClose }: DetailProps) {
  const { zoom, bounds } = useRange();
  const { name, feature, kind, unit, series } = row;
  const buckets = useMemo(() => createBuckets(bounds), [bounds]);
  const markers = useMarkers(place, feature, bounds);
  const title = feature === undefined ? name : `${name} of ${feature}, by variant`;
  const shown = kind === 'gauge' ? bucketsFrom(buckets, series) : buckets;
  const drawn = series.map((each, index) => ({
    label: each.variant ?? name,
    values: valuesIn(shown, kind, each.series),
    tone: getSeriesTone(index),
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
          ['Sum', format.quantity(computeFigure(row), unit)],
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
