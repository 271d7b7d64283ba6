/* src/console/pages/server: the state of the server, for Admins. */

import type { ComponentChildren } from 'preact';
import type { Cluster, ServiceStatus } from '../../../contract/shapes/status.ts';
import { resource } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { Chart } from '../../components/chart/chart.tsx';
import { Reason, Skeleton } from '../../components/failure.tsx';
import { timeColumn } from '../../components/table/columns.tsx';
import { type Column, Table } from '../../components/table/table.tsx';
import { hasRole } from '../../reader/reader.tsx';
import { format } from '../../text/format.ts';

const everyMs = 2000;

export function ServerPage() {
  return (
    <div class="stack">
      <h1>Server</h1>
      {hasRole('Admin') ? <Now /> : <p class="callout callout-note">Only an Admin can see the state of the server.</p>}
    </div>
  );
}

function Now() {
  const { data, error } = usePoll<ServiceStatus>(resource('status'), everyMs);
  if (data === undefined) return error === undefined ? <Skeleton kind="chart" /> : <Reason error={error} />;
  const { recent, cluster } = data;
  const node = cluster?.nodes.find(({ directory }) => directory === cluster.node);
  return (
    <section class="stack" aria-labelledby="server-now">
      <h2 id="server-now">{node === undefined ? 'This server, now' : `Node ${node.name}, now`}</h2>
      <p class="quiet">
        All applications, averaged over the last ten seconds.
        {node !== undefined && ' Each node counts only the messages that it receives.'}
      </p>
      <Figures status={data} />
      {recent.accepted.length > 1 && (
        <Chart
          title={`Accepted and refused per second, ${sinceWords(recent)}`}
          buckets={{ start: Date.parse(recent.start) / 1000, width: recent.width, count: recent.accepted.length }}
          series={[
            { label: 'Accepted per second', values: recent.accepted, tone: 1 },
            { label: 'Refused per second', values: recent.refused, tone: 2 },
          ]}
          kind="lines"
          levels
          format={format.full}
          height={160}
        />
      )}
      {cluster && <Nodes cluster={cluster} />}
    </section>
  );
}

function sinceWords({ start, width, accepted }: ServiceStatus['recent']): string {
  const seconds = width * accepted.length;
  return seconds >= 600 ? 'last 10 minutes' : `since the server started at ${format.clockSeconds(start)}`;
}

function Figures({ status }: { readonly status: ServiceStatus }) {
  const { packetsPerSecond, reportsPerSecond, refusedPerSecond, queue, commits, ready, reason } = status;
  return (
    <dl class="server-figures">
      <Figure name="Packets per second">{format.full(packetsPerSecond)}</Figure>
      <Figure name="Reports per second">{format.full(reportsPerSecond)}</Figure>
      <Figure name="Refused per second" tone={refusedPerSecond > 0 ? 'bad' : undefined}>
        {format.full(refusedPerSecond)}
      </Figure>
      <Figure name="Waiting for the disk" tone={queue.waiting * 2 > queue.limit ? 'bad' : undefined}>
        {format.full(queue.waiting)}
        <span class="quiet"> of {format.full(queue.limit)}</span>
      </Figure>
      <Figure name="Commits per second">
        {format.full(commits.perSecond)}
        {commits.meanMs !== null && <span class="quiet"> {format.full(commits.meanMs)} ms each</span>}
      </Figure>
      <Figure name="Accepts data" tone={ready ? 'good' : 'bad'}>
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
    <div class="server-figure">
      <dt>{name}</dt>
      <dd class={tone}>{children}</dd>
    </div>
  );
}

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
  { key: 'lag', title: 'Lag, entries', number: true, value: ({ lag }) => lag },
  { key: 'spool', title: 'Spool, KiB', number: true, value: ({ spoolBytes }) => Math.ceil(spoolBytes / 1024) },
  timeColumn('through', 'Shipped until'),
];
