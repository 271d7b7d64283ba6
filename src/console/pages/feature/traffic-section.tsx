import { useComputed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { checksOnlyText } from '../../../contract/message-routes.ts';
import type { FeatureUsage, UsageReport } from '../../../contract/shapes/reports.ts';
import { useQuery } from '../../address/address.ts';
import { allowOnly, useParameters } from '../../address/parameters.ts';
import { boundsQuery, rangeLabel } from '../../address/range.ts';
import { resource, withQuery } from '../../api/client.ts';
import { now } from '../../api/clock.ts';
import { usePoll } from '../../api/poll.ts';
import { useMarkers } from '../../components/chart/activity-markers.ts';
import { Chart, Swatch } from '../../components/chart/chart.tsx';
import { bucketAt, type ChartKind, createBuckets } from '../../components/chart/series.ts';
import { useRange } from '../../components/choices/range.tsx';
import { Reason } from '../../components/failure.tsx';
import { countColumn, NotReported, peopleColumn, UserDays } from '../../components/table/columns.tsx';
import { type Column, Table } from '../../components/table/table.tsx';
import { format } from '../../text/format.ts';
import type { FeaturePlace } from './change.tsx';
import { Choice } from './choice.tsx';
import { useChecksOnly } from './senders.tsx';
import { assignTones, createSeries, type Measure, measures, sortVariants } from './traffic.ts';

const kinds = ['stacked', 'lines', 'table'] as const satisfies readonly ChartKind[];
const parameters = { show: allowOnly(measures), kind: allowOnly(kinds) };
const none = {};

/** Pause between two requests. Usage is polled less often than the overview, because it is computed for each reader. */
const liveMs = 5000;

/** Reads the usage of the flag in the range of the page. Sections that read the same usage share the requests. */
function useUsage({ application, environment, name }: FeaturePlace) {
  const { bounds, live } = useRange();
  const path = withQuery(resource('applications', application, 'usage'), {
    environment,
    feature: name,
    ...boundsQuery(bounds),
  });
  return usePoll<UsageReport>(path, live ? liveMs : undefined);
}

/** The checks and the people of the flag, above everything else on the page. */
export function Figures({ place }: { readonly place: FeaturePlace }) {
  const { range } = useRange();
  const { data } = useUsage(place);
  const usage = data?.features[0];
  if (data === undefined) return <p class="quiet">Counting …</p>;
  return (
    <p>
      <strong title={format.full(usage?.checks ?? 0)}>{format.compact(usage?.checks ?? 0)}</strong> checks,{' '}
      {rangeLabel(range)}
      {usage !== undefined && usage.uniqueUsers > 0 && data.userDays && (
        <>
          {' · '}
          <strong>{format.people(usage.uniqueUsers)}</strong> people, <UserDays {...data.userDays} />
        </>
      )}
    </p>
  );
}

/** @param brief true for a small chart of the checks, with the table of used and viewed below */
export function TrafficSection({ place, brief }: { readonly place: FeaturePlace; readonly brief?: boolean }) {
  const { name } = place;
  const { query, change } = useQuery();
  const { bounds, zoom } = useRange();
  useParameters(brief ? none : parameters);
  const measure = measures.find((each) => each === query['show']) ?? 'checks';
  const kind = kinds.find((each) => each === query['kind']) ?? 'stacked';
  const { data, error } = useUsage(place);
  const usage = data?.features[0];
  const sources = useChecksOnly(place);
  const buckets = useMemo(() => createBuckets(bounds), [bounds]);
  const series = useMemo(() => createSeries(usage, buckets, measure), [usage, buckets, measure]);
  const markers = useMarkers(place, name, bounds);
  const current = useComputed(() => bucketAt(buckets, now.value / 1000));
  return (
    <section class="flag-traffic" aria-labelledby="flag-traffic">
      <div class="head flag-bar">
        <h2 id="flag-traffic">By variant</h2>
        {!brief && (
          <>
            <Choice
              label="Figure"
              values={measures}
              names={names}
              value={measure}
              onChange={(show) => change({ show })}
            />
            <Choice label="Chart" values={kinds} value={kind} onChange={(kind) => change({ kind })} />
          </>
        )}
      </div>
      <Reason error={error} what="The figures" />
      {measure !== 'checks' && isUnknown(usage, measure, sources) ? (
        <p class="empty">{checksOnlyText(sources)}</p>
      ) : (
        <Chart
          title={`${names[measure]} by variant`}
          buckets={buckets}
          series={series}
          kind={kind}
          unfinishedFrom={current.value}
          markers={markers}
          onZoom={zoom}
          csv={`${name}-${measure}`}
          height={brief ? 160 : 260}
        />
      )}
      {data !== undefined && usage === undefined && (
        <p class="quiet">No sender has requested the flag in this environment and range.</p>
      )}
      {brief && usage && <Funnel name={name} usage={usage} checksOnly={sources} />}
    </section>
  );
}

const names: Readonly<Record<Measure, string>> = { checks: 'Checks', used: 'Used', viewed: 'Viewed' };

type Variant = FeatureUsage['variants'][number];

interface FunnelProps {
  readonly name: string;
  readonly usage: FeatureUsage;
  readonly checksOnly: readonly string[];
}

function Funnel({ name, usage, checksOnly }: FunnelProps) {
  const tones = assignTones(usage);
  const step = (key: 'used' | 'viewed', title: string): Column<Variant> => {
    const column = countColumn(key, title);
    if (isUnknown(usage, key, checksOnly))
      return { ...column, value: () => undefined, cell: () => <NotReported sources={checksOnly} /> };
    return { ...column, cell: (row) => <Step part={row[key]} of={row.checks} /> };
  };
  const columns: readonly Column<Variant>[] = [
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
    countColumn('checks', 'Checks'),
    step('used', 'Used'),
    step('viewed', 'Viewed'),
    usersColumn(usage),
  ];
  return (
    <div class="flag-funnel">
      <h3>Used and viewed</h3>
      <Table
        caption="From checks to uses and views, by variant"
        columns={columns}
        rows={sortVariants(usage)}
        rowKey={({ variant }) => variant}
        csv={`${name}-variants`}
      />
      {checksOnly.length > 0 && <p class="quiet">{checksOnlyText(checksOnly)}</p>}
      <p class="quiet">
        Shares of the checks.{' '}
        {usage.uniqueUsers === 0
          ? 'No users were counted.'
          : 'A user of several variants counts once for each variant.'}
      </p>
    </div>
  );
}

/** Returns the column with the users of each variant. Shows dashes if no sender reports users. */
function usersColumn(usage: FeatureUsage): Column<Variant> {
  const column = peopleColumn('uniqueUsers', 'People');
  return usage.uniqueUsers > 0 ? column : { ...column, cell: () => '–' };
}

/** True if a figure is missing because no sender reports it. */
function isUnknown(usage: FeatureUsage | undefined, key: 'used' | 'viewed', checksOnly: readonly string[]): boolean {
  return checksOnly.length > 0 && (usage?.[key] ?? 0) === 0;
}

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
