/*
 * src/console/pages/overview: an environment at a glance. overview.tsx is the page; change.ts, figures.ts, rows.ts, spark.ts and
 * states.ts are what it comes to without a page.
 */
import { useMemo, useRef } from 'preact/hooks';
import type { OverviewShown } from '../../../contract/shapes/overview.ts';
import { useQuery } from '../../address.ts';
import { resource, withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { format } from '../../format.ts';
import { Chart } from '../../parts/chart/chart.tsx';
import { Failure } from '../../parts/failure.tsx';
import { type ChosenRange, RangePicker, useRange } from '../../parts/range.tsx';
import { boundsQuery } from '../../range.ts';
import { useTitle } from '../../title.ts';
import { drawnOf, type Figure, isFigure } from './figures.ts';
import { FlagsTable } from './flags-table.tsx';
import { NothingSeen } from './nothing-seen.tsx';
import { StateLine } from './state-line.tsx';
import { isState } from './states.ts';
import { Tiles } from './tiles.tsx';

interface OverviewProps {
  readonly application: string;
  readonly environment: string;
}

/** The flags of an environment. */
export function Overview({ application, environment }: OverviewProps) {
  useTitle('Flags');
  const range = useRange();
  const path = withQuery(resource('applications', application, 'overview'), {
    environment,
    ...boundsQuery(range.bounds),
  });
  const { data, error } = usePoll<OverviewShown>(path, range.everyMs);
  const overview = useLatest(data, `${application} ${environment}`);
  return (
    <>
      <div class="overview-head">
        <h1>Flags</h1>
        <RangePicker />
        <span class="quiet">{format.place} · users: UTC days</span>
      </div>
      {overview === undefined ? (
        error === undefined ? (
          <Waiting />
        ) : (
          <Failure error={error} />
        )
      ) : (
        <Figures app={application} overview={overview} range={range} stale={data === undefined} />
      )}
    </>
  );
}

interface FiguresProps {
  readonly app: string;
  readonly overview: OverviewShown;
  readonly range: ChosenRange;
  /** Whether these are the figures of a range before, until those of the new one come. */
  readonly stale: boolean;
}

function Figures({ app, overview, range, stale }: FiguresProps) {
  const { query, change } = useQuery();
  const shown: Figure = isFigure(query['show']) ? query['show'] : 'checks';
  const state = isState(query['state']) ? query['state'] : undefined;
  const drawn = useMemo(() => drawnOf(overview, shown), [overview, shown]);
  return (
    <div class="overview" aria-busy={stale}>
      <Tiles
        overview={overview}
        range={range.range}
        shown={shown}
        onShow={(figure) => change({ show: figure === 'checks' ? undefined : figure })}
      />
      <Chart
        title={drawn.title}
        buckets={drawn.buckets}
        series={drawn.series}
        unfinishedFrom={drawn.unfinishedFrom}
        kind="stacked"
        height={200}
        onZoom={(from, to) => range.zoom(from * 1000, to * 1000)}
      />
      {overview.mayBeCounting && (
        <p class="quiet">Not in it: what {overview.mayBeCounting.join(', ')} may count without PostgreSQL.</p>
      )}
      <StateLine app={app} overview={overview} state={state} onChoose={(next) => change({ state: next })} />
      {overview.features.every(({ lastSeenAt }) => lastSeenAt === null) && (
        <NothingSeen app={app} environment={overview.environment} />
      )}
      {overview.features.length > 0 && (
        <FlagsTable
          app={app}
          overview={overview}
          range={range}
          filter={{ search: query['search'] ?? '', state }}
        />
      )}
    </div>
  );
}

/** What holds the place of the figures until they are there, so that nothing jumps. */
function Waiting() {
  return (
    <div class="overview" aria-busy="true">
      <div class="overview-tiles">
        {Array.from({ length: 5 }, (_, index) => (
          <div key={index} class="overview-tile" />
        ))}
      </div>
      <div class="overview-chart-space" />
      <p class="hidden">Loading …</p>
    </div>
  );
}

/** The latest data there was for a key: while other data is read, what is there stays. */
function useLatest<T>(data: T | undefined, key: string): T | undefined {
  const latest = useRef<{ key: string; data: T | undefined }>({ key, data });
  if (data !== undefined || latest.current.key !== key) latest.current = { key, data };
  return latest.current.data;
}
