/*
 * src/console/pages/activity: what people changed, and what changed in the data. page.tsx assembles the feed and its filters,
 * item.tsx shows an item, feed.ts reads the pages, and days.ts groups the items.
 */
import './activity.css';
import { useMemo } from 'preact/hooks';
import {
  type ActivityGroup,
  activityGroups,
  activityKindNames,
  activityKinds,
  kindsIn,
} from '../../../contract/activity.ts';
import type { User } from '../../../contract/shapes/user.ts';
import { useQuery } from '../../address.ts';
import { bodyOf, resource, send, withQuery } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { format } from '../../format.ts';
import { oneOf, useParameters } from '../../parameters.ts';
import { useAction } from '../../parts/action.tsx';
import { downloadCsv } from '../../parts/csv.ts';
import { Reason } from '../../parts/failure.tsx';
import { Filter, type Options } from '../../parts/filters.tsx';
import { Help } from '../../parts/help.tsx';
import { RangePicker, useRange } from '../../parts/range.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import type { InEnvironment } from '../../place.ts';
import { type Day, daysOf } from './days.ts';
import { useFeed } from './feed.ts';
import { RunOf } from './item.tsx';

const parameters = { what: oneOf([...Object.keys(activityGroups), ...activityKindNames]) };

const liveMs = 5000;

/** The activity of an environment. */
export function ActivityPage(place: InEnvironment) {
  const { query } = useQuery();
  const { bounds, live } = useRange();
  useParameters(parameters);
  const path = resource('applications', place.application, 'activity');
  const filters = useFilters(place.environment);
  const span = useMemo(
    () => ({ from: new Date(bounds.from).toISOString(), to: new Date(bounds.to).toISOString() }),
    [bounds],
  );
  const feed = useFeed(path, filters, span, live ? liveMs : undefined);
  const { what } = query;
  const days = useMemo(() => {
    const shown = feed.items?.filter(({ at }) => at >= span.from) ?? [];
    return daysOf(shown, format.longDate, kindsOf(what)?.length !== 1);
  }, [feed.items, span.from, what]);
  return (
    <div class="stack activity">
      <header class="head spread">
        <h1>
          <Help to="semantics#activity">Activity</Help>
        </h1>
        <RangePicker />
      </header>
      <Filters />
      <Reason error={feed.error} what="The activity" />
      {feed.items === undefined && feed.error === undefined && <Skeleton kind="table" />}
      {feed.items !== undefined && days.length === 0 && (
        <p class="empty">Nothing changed in this range that matches the filters.</p>
      )}
      {days.map((day) => (
        <DaySection key={day.title} day={day} place={place} />
      ))}
      <footer class="actions">
        {feed.more && (
          <button type="button" disabled={feed.loading} onClick={() => void feed.next()}>
            {feed.loading ? 'Loading …' : 'Show more'}
          </button>
        )}
        {days.length > 0 && <Export path={withQuery(path, { ...filters, ...span, format: 'csv' })} />}
      </footer>
    </div>
  );
}

/** The filters in the address: the same object until they change. */
function useFilters(environment: string) {
  const { what, flag, by, search } = useQuery().query;
  return useMemo(() => {
    const feature = flag || undefined;
    return { environment, kind: kindsOf(what), feature, actor: by || undefined, search: search || undefined };
  }, [environment, what, flag, by, search]);
}

function DaySection({ day: { title, runs }, place }: { readonly day: Day; readonly place: InEnvironment }) {
  return (
    <section aria-label={title}>
      <h2 class="activity-day">{title}</h2>
      <ol class="plain-list activity-list">
        {runs.map((run) => (
          <RunOf key={run[0].id} run={run} place={place} />
        ))}
      </ol>
    </section>
  );
}

/** The kinds of a filter: those of a group, or one; all if it is neither. */
function kindsOf(what: string | undefined): readonly string[] | undefined {
  if (what === undefined || what === '') return undefined;
  if (Object.hasOwn(activityGroups, what)) return kindsIn(what as ActivityGroup);
  return Object.hasOwn(activityKinds, what) ? [what] : undefined;
}

const kindOptions: Options = Object.entries(activityGroups).flatMap(([group, label]) => [
  [group, label] as const,
  ...kindsIn(group as ActivityGroup).map((kind) => [kind, `– ${activityKinds[kind].label}`] as const),
]);

function Filters() {
  const { items: users = [] } = useList<User>(resource('users'), { limit: 200 });
  const authors = users.map(({ id, email }) => [id, email ?? id] as const);
  return (
    <search class="filters">
      <Filter name="what" label="What" options={[['', 'Everything'], ...kindOptions]} />
      <Filter name="by" label="Author" options={[['', 'Everyone, and the data'], ...authors]} />
      <Filter name="flag" label="Flag" />
      <Filter name="search" label="Search" />
    </search>
  );
}

function Export({ path }: { readonly path: string }) {
  const { busy, refusal, run } = useAction();
  async function save() {
    const response = await send('GET', path);
    if (!response.ok) await bodyOf(response);
    downloadCsv('activity', await response.text());
  }
  return (
    <>
      <button type="button" class="csv" disabled={busy} onClick={() => run(save, 'The file is saved')}>
        CSV
      </button>
      {refusal}
    </>
  );
}
