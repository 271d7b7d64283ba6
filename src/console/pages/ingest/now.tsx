import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Cluster, ServiceStatus } from '../../../contract/shapes/status.ts';
import { resource } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { format } from '../../format.ts';
import { Chart } from '../../parts/chart/chart.tsx';
import { timeColumn } from '../../parts/columns.tsx';
import { Reason } from '../../parts/failure.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Recent, recentWidth } from './recent.ts';

/** Kept while the reader visits other pages. */
const recent = new Recent();

/** The current state of the server, and its last minutes. */
export function Now() {
  const { data, error } = usePoll<ServiceStatus>(resource('status'), recentWidth * 1000);
  const series = useSignal(recent.series);
  useEffect(() => {
    if (data === undefined) return;
    recent.add(data);
    series.value = recent.series;
  }, [data]);
  if (data === undefined)
    return error === undefined ? <p class="waiting">Loading …</p> : <Reason error={error} />;
  const { start, count, taken, refused } = series.value;
  return (
    <section class="stack" aria-labelledby="ingest-now">
      <h2 id="ingest-now">This server, now</h2>
      <p class="quiet">All applications, averaged over the last ten seconds.</p>
      <Figures status={data} />
      <Chart
        title="Accepted and refused a second, since you opened the console"
        buckets={{ start, width: recentWidth, count }}
        series={[
          { label: 'Accepted a second', values: taken, tone: 1 },
          { label: 'Refused a second', values: refused, tone: 2 },
        ]}
        kind="lines"
        format={format.full}
        height={160}
      />
      {data.cluster && <Nodes cluster={data.cluster} />}
    </section>
  );
}

function Figures({ status }: { readonly status: ServiceStatus }) {
  const { packetsPerSecond, reportsPerSecond, refusedPerSecond, queue, commits, ready, reason } = status;
  return (
    <dl class="ingest-figures">
      <Figure name="Packets a second">{format.full(packetsPerSecond)}</Figure>
      <Figure name="Reports a second">{format.full(reportsPerSecond)}</Figure>
      <Figure name="Refused a second" tone={refusedPerSecond > 0 ? 'bad' : undefined}>
        {format.full(refusedPerSecond)}
      </Figure>
      <Figure name="Waiting for the disk" tone={queue.waiting * 2 > queue.limit ? 'bad' : undefined}>
        {format.full(queue.waiting)}
        <span class="quiet"> of {format.full(queue.limit)}</span>
      </Figure>
      <Figure name="Commits a second">
        {format.full(commits.perSecond)}
        {commits.meanMs !== null && <span class="quiet"> {format.full(commits.meanMs)} ms each</span>}
      </Figure>
      <Figure name="Takes data" tone={ready ? 'good' : 'bad'}>
        {ready ? 'Yes' : `No: ${reason}`}
      </Figure>
    </dl>
  );
}

interface FigureProps {
  readonly name: string;
  readonly tone?: 'good' | 'bad' | undefined;
  readonly children: ComponentChildren;
}

function Figure({ name, tone, children }: FigureProps) {
  return (
    <div class="ingest-figure">
      <dt>{name}</dt>
      <dd class={tone}>{children}</dd>
    </div>
  );
}

/** The nodes that share a PostgreSQL database. */
function Nodes({ cluster }: { readonly cluster: Cluster }) {
  const { nodes, refusedRows, completeThrough } = cluster;
  return (
    <section class="stack">
      <h2>Nodes</h2>
      <p class="quiet">Reports are complete until {format.time(completeThrough)}, for all nodes.</p>
      {refusedRows > 0 && (
        <p class="warn">PostgreSQL refused {format.full(refusedRows)} rows of counts; see the log.</p>
      )}
      <Table caption="Nodes" columns={columns} rows={nodes} rowKey={({ directory }) => directory} />
    </section>
  );
}

const columns: readonly Column<Cluster['nodes'][number]>[] = [
  { key: 'name', title: 'Node', value: ({ name }) => name },
  { key: 'version', title: 'Version', value: ({ version }) => version },
  { key: 'state', title: 'State', value: ({ state }) => state },
  timeColumn('lastBeat', 'Last heartbeat'),
  { key: 'lag', title: 'Lag', number: true, value: ({ lag }) => lag },
  {
    key: 'spool',
    title: 'Spool, KiB',
    number: true,
    value: ({ spoolBytes }) => Math.ceil(spoolBytes / 1024),
  },
  timeColumn('through', 'Shipped until'),
];
