import { surplusName } from '../../../contract/names.ts';
import type { IngestReport, VersionCounts } from '../../../contract/shapes/ledger.ts';
import { boundsQuery } from '../../address/range.ts';
import { resource, withQuery } from '../../api/client.ts';
import { now } from '../../api/clock.ts';
import { usePoll } from '../../api/poll.ts';
import { useMarkers } from '../../components/chart/activity-markers.ts';
import { Chart } from '../../components/chart/chart.tsx';
import { bucketAt, type ChartSeries, getSeriesTone } from '../../components/chart/series.ts';
import { useRange } from '../../components/choices/range.tsx';
import { Reason, Skeleton } from '../../components/failure.tsx';
import { countColumn } from '../../components/table/columns.tsx';
import { type Column, Table } from '../../components/table/table.tsx';
import { format } from '../../text/format.ts';

interface VersionsProps {
  readonly app: string;
  readonly env: string;
  /** Name of the program. */
  readonly program: string;
}

const hourMs = 3_600_000;

/** The messages of a program by version and hour, with the share of each version and its refusals. */
export function Versions({ app, env, program }: VersionsProps) {
  const { bounds, everyMs, zoom } = useRange();
  const query = { environment: env, versionsOf: program, ...boundsQuery(bounds) };
  const { data, error } = usePoll<IngestReport>(withQuery(resource('applications', app, 'ingest'), query), everyMs);
  const markers = useMarkers({ application: app, environment: env }, undefined, bounds);
  if (data?.versions === undefined) return error === undefined ? <Skeleton kind="table" /> : <Reason error={error} />;
  const count = (Date.parse(data.to) - Date.parse(data.from)) / hourMs;
  const buckets = { start: Date.parse(data.from) / 1000, width: hourMs / 1000, count };
  return (
    <>
      <Chart
        title={`Messages of ${program} by version`}
        buckets={buckets}
        series={createVersionSeries(data.versions)}
        kind="stacked"
        markers={markers}
        unfinishedFrom={bucketAt(buckets, now.value / 1000)}
        onZoom={zoom}
        height={200}
      />
      <VersionTable program={program} versions={data.versions} />
    </>
  );
}

function formatVersion(version: string | null): string {
  return version === surplusName ? 'other versions' : (version ?? 'unknown version');
}

/** Creates the series of the chart. They are sorted by version, so that their colours are stable. */
function createVersionSeries(versions: readonly VersionCounts[]): ChartSeries[] {
  return versions
    .map(({ version, hourly }) => ({ label: formatVersion(version), values: hourly }))
    .sort((one, other) => one.label.localeCompare(other.label, 'en', { numeric: true }))
    .map((each, index) => ({ ...each, tone: getSeriesTone(index) }));
}

function VersionTable({ program, versions }: { program: string; versions: readonly VersionCounts[] }) {
  const rows = versions.map((each) => ({ ...each, messages: each.accepted + each.refused }));
  const all = rows.reduce((sum, { messages }) => sum + messages, 0);
  const columns: readonly Column<(typeof rows)[number]>[] = [
    { key: 'version', title: 'Version', value: ({ version }) => formatVersion(version) },
    countColumn('messages', 'Messages'),
    { ...countColumn('messages', 'Share'), key: 'share', cell: ({ messages }) => format.rate(messages, all) },
    {
      ...countColumn('refused', 'Refused'),
      cell: ({ refused, messages }) => `${format.full(refused)} (${format.rate(refused, messages)})`,
    },
  ];
  return (
    <Table
      caption={`Shares of the versions of ${program}`}
      columns={columns}
      rows={rows}
      rowKey={({ version }) => formatVersion(version)}
      csv={`${program}-versions`}
      stacked
      empty="The program sent no messages in this range."
    />
  );
}
