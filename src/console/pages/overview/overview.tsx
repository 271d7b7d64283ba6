/*
 * src/console/pages/overview: the flags of an environment. overview.tsx is the page. figures.ts, rows.ts and states.ts
 * contain computations.
 */

import { useMemo, useRef } from 'preact/hooks';
import { checksOnlyText } from '../../../contract/message-routes.ts';
import type { Overview as OverviewReport } from '../../../contract/shapes/overview.ts';
import type { Me } from '../../../contract/shapes/owned.ts';
import { useQuery } from '../../address/address.ts';
import { allowOnly, useParameters } from '../../address/parameters.ts';
import type { InEnvironment } from '../../address/place.ts';
import { comparedWith, overviewQuery } from '../../address/range.ts';
import { resource, withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { user } from '../../api/session.ts';
import { useMarkers } from '../../components/chart/activity-markers.ts';
import { Chart } from '../../components/chart/chart.tsx';
import { type ChosenRange, RangePicker, useRange } from '../../components/choices/range.tsx';
import { SavedViews } from '../../components/choices/saved-views.tsx';
import { Failure } from '../../components/failure.tsx';
import { HealthLine } from '../../components/health.tsx';
import { UserDays } from '../../components/table/columns.tsx';
import { useTitle } from '../../components/title.ts';
import { format } from '../../text/format.ts';
import { ChooseSource } from '../first-run/choose.tsx';
import { FeatureTable } from './features-table.tsx';
import {
  areUsersCounted,
  compared,
  computeChange,
  createChart,
  type Figure,
  figures,
  isFigure,
  isUnknown,
  names,
} from './figures.ts';
import { isState, states } from './states.ts';

export function Overview({ application, environment }: InEnvironment) {
  useTitle('Flags');
  const range = useRange();
  const path = withQuery(resource('applications', application, 'overview'), {
    environment,
    ...overviewQuery(range.range, range.bounds, range.comparison),
  });
  const { data, error } = usePoll<OverviewReport>(path, range.everyMs);
  const overview = useLatest(data, `${application} ${environment}`);
  return (
    <div class="stack">
      <div class="head">
        <h1>Flags</h1>
        <RangePicker compares />
        <SavedViews application={application} environment={environment} page="flags" />
      </div>
      <HealthLine application={application} environment={environment} />
      {overview === undefined ? (
        error === undefined ? (
          <Waiting />
        ) : (
          <Failure error={error} />
        )
      ) : (
        <Figures app={application} overview={overview} range={range} stale={data === undefined} />
      )}
    </div>
  );
}

const parameters = { by: allowOnly(['environment']), show: allowOnly(figures), state: allowOnly(Object.keys(states)) };

interface FiguresProps {
  readonly app: string;
  readonly overview: OverviewReport;
  readonly range: ChosenRange;
  /** True if `overview` still has the figures of the previous range. */
  readonly stale: boolean;
}

function Figures({ app, overview, range, stale }: FiguresProps) {
  const { query, change } = useQuery();
  useParameters(parameters);
  const shown: Figure = isFigure(query['show']) ? query['show'] : 'checks';
  const state = isState(query['state']) ? query['state'] : undefined;
  const against = comparedWith(range.range, range.comparison);
  const pastLabel = against.replace(/^vs /, '');
  const drawn = useMemo(() => createChart(overview, shown, pastLabel), [overview, shown, pastLabel]);
  const place = { application: app, environment: overview.environment };
  const markers = useMarkers(place, undefined, range.bounds);
  return (
    <div class="stack overview" aria-busy={stale}>
      {overview.features.every(({ lastSeenAt }) => lastSeenAt === null) ? (
        <NothingSeen app={app} environment={overview.environment} />
      ) : (
        <>
          <Tiles
            overview={overview}
            against={against}
            shown={shown}
            onShow={(figure) => change({ show: figure === 'checks' ? undefined : figure })}
          />
          <p class="quiet">
            Checks: a program asked for a flag. Used: the code of the variant ran. Viewed: a person saw the result.
          </p>
          {isUnknown(overview, shown) ? (
            <p class="empty">{checksOnlyText(overview.checksOnly)}</p>
          ) : (
            <Chart
              title={drawn.title}
              buckets={drawn.buckets}
              series={drawn.series}
              unfinishedFrom={drawn.unfinishedFrom}
              kind="stacked"
              markers={markers}
              height={200}
              onZoom={range.zoom}
            />
          )}
        </>
      )}
      {overview.mayBeCounting && (
        <p class="quiet">Not included: counts of {overview.mayBeCounting.join(', ')}, which cannot reach PostgreSQL.</p>
      )}
      {overview.features.length > 0 && (
        <FeatureTable
          app={app}
          overview={overview}
          range={range}
          filter={{ search: query['search'] ?? '', state, me: reader() }}
        />
      )}
    </div>
  );
}

/** Returns the reader, so that `owner:me` can find their flags. */
function reader(): Me | undefined {
  const { value } = user;
  return value && { id: value.id, email: value.email, teams: value.teams.map((id) => ({ id, name: '' })) };
}

/** Empty frames in place of the figures, so that the page does not move when the figures arrive. */
function Waiting() {
  return (
    <div class="stack overview" aria-busy="true">
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

/** Returns the latest data for a key. The previous data of the key is kept while new data is loaded. */
function useLatest<T>(data: T | undefined, key: string): T | undefined {
  const latest = useRef<{ key: string; data: T | undefined }>({ key, data });
  if (data !== undefined || latest.current.key !== key) latest.current = { key, data };
  return latest.current.data;
}

/** Shown instead of the charts until the first flag is seen. */
function NothingSeen({ app, environment }: { readonly app: string; readonly environment: string }) {
  return (
    <section class="empty">
      <h2>No flag was seen in {environment} yet</h2>
      <p>Flags appear here with the first message that names one. What do you use?</p>
      <ChooseSource app={app} env={environment} />
    </section>
  );
}

interface TilesProps {
  readonly overview: OverviewReport;
  readonly against: string;
  readonly shown: Figure;
  readonly onShow: (figure: Figure) => void;
}

function Tiles({ overview, against, shown, onShow }: TilesProps) {
  return (
    <fieldset class="overview-tiles">
      <legend class="hidden">What the chart shows</legend>
      {figures.map((figure) => (
        <button
          key={figure}
          type="button"
          class="overview-tile"
          aria-pressed={figure === shown}
          onClick={() => onShow(figure)}
        >
          <span class="quiet">{names[figure]}</span>
          <Total overview={overview} figure={figure} words={against} />
        </button>
      ))}
    </fieldset>
  );
}

interface FigureProps {
  readonly overview: OverviewReport;
  readonly figure: Figure;
  readonly words: string;
}

function Total({ overview, figure, words }: FigureProps) {
  const { value, against, before } = compared(overview, figure);
  if (isUnknown(overview, figure))
    return (
      <span class="overview-tile-line">
        <span class="overview-tile-note">{checksOnlyText(overview.checksOnly)}</span>
      </span>
    );
  if (figure === 'users' && !areUsersCounted(overview))
    return (
      <span class="overview-tile-line">
        <span class="overview-tile-note">counted from {format.clock(overview.users.from)} on</span>
      </span>
    );
  const change = against === undefined ? undefined : computeChange(against, before);
  return (
    <span class="overview-tile-line">
      <span class="overview-tile-value" title={format.full(value)}>
        {figure === 'users' ? format.people(value) : format.compact(value)}
      </span>
      {/* Users are counted by day, because a sum over hours would count many of them twice. */}
      {figure === 'users' && (
        <span class="overview-tile-note">
          (<UserDays {...overview.users} />)
        </span>
      )}
      {change !== undefined && (
        <span class="overview-tile-note" title={spansText(overview, figure)}>
          <span aria-hidden="true">{arrows[change.direction][0]} </span>
          <span class="hidden">{arrows[change.direction][1]} </span>
          <strong>{change.size}</strong> <Against overview={overview} figure={figure} words={words} />
        </span>
      )}
    </span>
  );
}

const arrows = { up: ['▲', 'up'], down: ['▼', 'down'], same: ['=', 'no change:'] } as const;

/** Shows the comparison of a figure. For users, the comparison covers complete days, and the text names these days. */
function Against({ overview, figure, words }: FigureProps) {
  const { usersBefore } = overview;
  if (figure !== 'users' || usersBefore === null) return <>{words}</>;
  return (
    <>
      <span aria-hidden="true">vs {format.days(usersBefore.from, usersBefore.to)}</span>
      <span class="hidden">{spansText(overview, figure)}</span>
    </>
  );
}

function spansText({ before, usersBefore }: OverviewReport, figure: Figure): string {
  if (figure === 'users' && usersBefore !== null) {
    const { against } = usersBefore;
    return `${format.days(against.from, against.to)} vs ${format.days(usersBefore.from, usersBefore.to)} (UTC)`;
  }
  if (before === null) return '';
  const { against } = before;
  return `${format.span(against.from, against.to)} vs ${format.span(before.from, before.to)}`;
}
