/*
 * src/console/pages/metrics: what was measured. page.tsx lists the metrics, declare.tsx says what one means, detail.tsx draws one;
 * rows.ts computes, declarations.ts reads what is declared.
 */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { MeasurementsShown } from '../../../contract/shapes/reports.ts';
import { useQuery } from '../../address.ts';
import { resource, withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { Failure } from '../../parts/failure.tsx';
import { RangePicker, useRange } from '../../parts/range.tsx';
import { Table } from '../../parts/table.tsx';
import type { InEnvironment } from '../../place.ts';
import { type Bounds, boundsQuery, widths } from '../../range.ts';
import { columnsOf } from './columns.tsx';
import { useDeclarations } from './declarations.ts';
import { Declare, Undeclare } from './declare.tsx';
import { Detail } from './detail.tsx';
import { type Grid, type MetricRow, metricRows, rowKey } from './rows.ts';

/** Measurements are not shared among those who look, so they are read less often than what is. */
const everyMs = 10_000;

/** The page of an environment. */
export function MetricsPage({ application: app, environment: env }: InEnvironment) {
  const { bounds, live } = useRange();
  const query = { environment: env, ...boundsQuery(bounds) };
  const path = withQuery(resource('applications', app, 'measurements'), query);
  const measured = usePoll<MeasurementsShown>(path, live ? everyMs : undefined);
  const declared = useDeclarations(app);
  const error = measured.data === undefined ? measured.error : declared.error;
  return (
    <div class="metrics">
      <header class="metrics-head">
        <h1>Metrics</h1>
        <RangePicker />
      </header>
      {error !== undefined && <Failure error={error} />}
      {measured.data !== undefined && declared.items !== undefined ? (
        <Metrics
          app={app}
          env={env}
          bounds={bounds}
          rows={metricRows(declared.items, measured.data.metrics)}
          onChange={declared.read}
        />
      ) : (
        error === undefined && <p class="waiting">Loading …</p>
      )}
    </div>
  );
}

interface MetricsProps {
  readonly app: string;
  readonly env: string;
  readonly bounds: Bounds;
  readonly rows: readonly MetricRow[];
  /** Reads the declarations again. */
  readonly onChange: () => Promise<void>;
}

function Metrics({ app, env, bounds, rows, onChange }: MetricsProps) {
  const { query, change } = useQuery();
  const asking = useSignal<Asking | undefined>(undefined);
  const grid = useMemo(() => gridOf(bounds), [bounds]);
  const { metric, feature, sort = '', search = '' } = query;
  const chosen = rows.find((row) => row.name === metric && row.feature === feature);
  const shown = rows.filter(({ name, feature = '' }) =>
    `${name} ${feature}`.toLowerCase().includes(search.toLowerCase()),
  );
  const ask = (next: Asking | undefined) => {
    asking.value = next;
  };
  return (
    <>
      <Tools onDeclare={() => ask({ action: 'declare', row: undefined })} />
      <Table
        caption="Metrics"
        columns={columnsOf({
          grid,
          chosen,
          open: (row) => change({ metric: row.name, feature: row.feature }, true),
          declare: (row) => ask({ action: 'declare', row }),
          undeclare: (row) => ask({ action: 'undeclare', row }),
        })}
        rows={shown}
        rowKey={rowKey}
        sort={sort}
        onSort={(next) => change({ sort: next })}
        csv={`metrics-${env}`}
        empty={rows.length === 0 ? <NoMetrics /> : 'No metric has this in its name.'}
      />
      {chosen !== undefined && (
        <Detail
          row={chosen}
          grid={grid}
          onClose={() => change({ metric: undefined, feature: undefined }, true)}
        />
      )}
      {asking.value !== undefined && (
        <Question
          app={app}
          asking={asking.value}
          onDone={async () => {
            await onChange();
            ask(undefined);
          }}
          onClose={() => ask(undefined)}
        />
      )}
    </>
  );
}

/** What the reader is asked about a metric. */
type Asking =
  | { readonly action: 'declare'; readonly row: MetricRow | undefined }
  | { readonly action: 'undeclare'; readonly row: MetricRow };

interface QuestionProps {
  readonly app: string;
  readonly asking: Asking;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

function Question({ asking, ...rest }: QuestionProps) {
  return asking.action === 'declare' ? (
    <Declare metric={asking.row} {...rest} />
  ) : (
    <Undeclare metric={asking.row} {...rest} />
  );
}

function Tools({ onDeclare }: { readonly onDeclare: () => void }) {
  const { query, change } = useQuery();
  return (
    <div class="metrics-tools">
      <label>
        <span class="hidden">Search the metrics</span>
        <input
          type="search"
          placeholder="Search"
          value={query['search'] ?? ''}
          onInput={(event) => change({ search: event.currentTarget.value || undefined })}
        />
      </label>
      <button type="button" onClick={onDeclare}>
        Declare a metric
      </button>
    </div>
  );
}

function NoMetrics() {
  return (
    <>
      Nothing was measured in this range. A packet has metrics in <code>m</code>:{' '}
      <code>{'"m":{"cart-value":42.5}'}</code>
    </>
  );
}

function gridOf({ from, to, step }: Bounds): Grid {
  const width = widths[step] / 1000;
  const start = Math.floor(from / 1000 / width) * width;
  return { start, width, count: Math.ceil((to / 1000 - start) / width) };
}
