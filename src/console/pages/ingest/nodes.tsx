import type { ClusterShown } from '../../../contract/shapes/status.ts';
import { format } from '../../format.ts';
import { type Column, Table } from '../../parts/table.tsx';

type NodeRow = ClusterShown['nodes'][number];

/** The machines that share an engine. */
export function Nodes({
  cluster: { nodes, refusedRows, completeThrough },
}: {
  readonly cluster: ClusterShown;
}) {
  return (
    <section class="ingest-section">
      <h2>Nodes</h2>
      <p class="quiet">
        Reports have everything that any node accepted until {format.time(completeThrough)}.
      </p>
      {refusedRows > 0 && (
        <p class="warn">{format.full(refusedRows)} rows of counts could not be applied; see the log.</p>
      )}
      <Table caption="Nodes" columns={columns} rows={nodes} rowKey={({ directory }) => directory} />
    </section>
  );
}

const columns: readonly Column<NodeRow>[] = [
  { key: 'name', title: 'Node', value: ({ name }) => name },
  { key: 'version', title: 'Version', value: ({ version }) => version },
  { key: 'state', title: 'State', value: ({ state }) => state },
  timeColumn('lastBeat', 'Last heard of'),
  { key: 'lag', title: 'Behind by', number: true, value: ({ lag }) => lag },
  {
    key: 'spool',
    title: 'Spool, KiB',
    number: true,
    value: ({ spoolBytes }) => Math.ceil(spoolBytes / 1024),
  },
  timeColumn('through', 'Shipped until'),
];

function timeColumn(key: 'lastBeat' | 'through', title: string): Column<NodeRow> {
  return { key, title, value: (row) => row[key], cell: (row) => format.time(row[key]) };
}
