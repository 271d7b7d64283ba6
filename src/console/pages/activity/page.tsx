/* src/console/pages/activity: the feed of changes by people and in the data. days.ts groups the items of the feed. */

import './activity.css';
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import {
  type ActivityGroup,
  activityGroups,
  activityKindNames,
  activityKinds,
  kindsIn,
} from '../../../contract/activity.ts';
import type { ActivityItem } from '../../../contract/shapes/activity.ts';
import type { User } from '../../../contract/shapes/user.ts';
import { itemAddress } from '../../address/activity-links.ts';
import { useQuery } from '../../address/address.ts';
import { allowOnly, useParameters } from '../../address/parameters.ts';
import type { InEnvironment } from '../../address/place.ts';
import { call, type Query, resource, withQuery } from '../../api/client.ts';
import { now } from '../../api/clock.ts';
import { useList } from '../../api/list.ts';
import { usePoll } from '../../api/poll.ts';
import { useAction } from '../../components/action.tsx';
import { ActivityText, Author } from '../../components/activity-text.tsx';
import { RangePicker, useRange } from '../../components/choices/range.tsx';
import { downloadFrom, ExportMenu } from '../../components/export-menu.tsx';
import { Reason, Skeleton } from '../../components/failure.tsx';
import { Filter, type Options } from '../../components/form/filters.tsx';
import { Help } from '../../components/help.tsx';
import { format } from '../../text/format.ts';
import { type Day, groupByDay, type Run } from './days.ts';

const parameters = { what: allowOnly([...Object.keys(activityGroups), ...activityKindNames]) };

const liveMs = 5000;

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
    return groupByDay(shown, format.longDate, parseKinds(what)?.length !== 1);
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
        <p class="empty">No change in this range matches the filters.</p>
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

/** Returns the filters of the address. The object stays the same until a filter changes. */
function useFilters(environment: string) {
  const { what, flag, by, search } = useQuery().query;
  return useMemo(() => {
    const feature = flag || undefined;
    return { environment, kind: parseKinds(what), feature, actor: by || undefined, search: search || undefined };
  }, [environment, what, flag, by, search]);
}

function DaySection({ day: { title, runs }, place }: { readonly day: Day; readonly place: InEnvironment }) {
  return (
    <section aria-label={title}>
      <h2 class="activity-day">{title}</h2>
      <ol class="plain-list activity-list">
        {runs.map((run) => (
          <RunItem key={run[0].id} run={run} place={place} />
        ))}
      </ol>
    </section>
  );
}

function parseKinds(what: string | undefined): readonly string[] | undefined {
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
  const { refusal, run } = useAction();
  const save = () => downloadFrom('activity', path);
  return (
    <>
      <ExportMenu of="Activity" items={[{ label: 'CSV', onSelect: () => run(save, 'File saved') }]} />
      {refusal}
    </>
  );
}

function RunItem({ run, place }: { readonly run: Run; readonly place: InEnvironment }) {
  const [item] = run;
  if (run.length === 1) return <Item item={item} place={place} />;
  const { group, label } = activityKinds[item.kind];
  return (
    <li class="activity-item">
      <When at={item.at} />
      <Icon group={group} />
      <details>
        <summary>
          {label}: {format.full(run.length)} {chooseNoun(item)}
          <Author by={item.by} />
        </summary>
        <ol class="plain-list activity-list">
          {run.map((each) => (
            <Item key={each.id} item={each} place={place} />
          ))}
        </ol>
      </details>
    </li>
  );
}

function chooseNoun({ feature, kind }: ActivityItem): string {
  if (kind === 'new_variant') return 'variants';
  return feature === null ? 'times' : 'flags';
}

function Item({ item, place }: { readonly item: ActivityItem; readonly place: InEnvironment }) {
  const { at, kind } = item;
  const { group, label } = activityKinds[kind];
  return (
    <li class={`activity-item activity-${kind}`}>
      <When at={at} />
      <Icon group={group} label={label} />
      <span class="activity-text">
        <ActivityText item={item} href={itemAddress(place, item)} />
      </span>
    </li>
  );
}

function When({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={format.time(at)} class="activity-when">
      {format.clock(at)} <span class="quiet">{format.relative(at, now.value)}</span>
    </time>
  );
}

const icons: Readonly<Record<ActivityGroup, string>> = {
  changes: 'M3 13l1-3.5L11 2.5l2.5 2.5-7 7z',
  flags: 'M4 14V2.5h8L10 5.5l2 3H4',
  senders: 'M2.5 5L8 2.5 13.5 5v6L8 13.5 2.5 11zM2.5 5L8 7.5 13.5 5M8 7.5v6',
  ingest: 'M8 2v8M4.5 6.5L8 10l3.5-3.5M2.5 13.5h11',
};

function Icon({ group, label }: { readonly group: ActivityGroup; readonly label?: string }) {
  return (
    <span class={`activity-icon activity-of-${group}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={icons[group]} />
      </svg>
      {label !== undefined && <span class="activity-kind">{label}</span>}
    </span>
  );
}

interface Page {
  readonly items: readonly ActivityItem[];
  readonly nextCursor: string | null;
}

interface Feed {
  readonly items: readonly ActivityItem[] | undefined;
  readonly more: boolean;
  readonly loading: boolean;
  readonly error: unknown;
  next(): Promise<void>;
}

interface FeedState {
  /**
   * Items by id. If a later response contains an item again, for example a longer period of refusals, the later item is
   * kept.
   */
  readonly items: ReadonlyMap<string, ActivityItem>;
  readonly cursor: string | null;
  readonly loading: boolean;
  readonly error: unknown;
}

const nothing: FeedState = { items: new Map(), cursor: null, loading: false, error: undefined };

/**
 * Reads the feed page by page, and polls the first page.
 * @param span the range, which moves while the page is live; items of an earlier range are kept
 */
function useFeed(path: string, filters: Query, span: Query, everyMs: number | undefined): Feed {
  const key = withQuery(path, filters);
  const loaded = useSignal(nothing);
  const { data, error } = usePoll<Page>(withQuery(path, { ...filters, ...span, limit: 50 }), everyMs);

  useEffect(() => {
    loaded.value = nothing;
  }, [key, everyMs === undefined ? span : undefined]);

  useEffect(() => {
    if (data === undefined) return;
    const before = loaded.peek();
    const isFirst = before.items.size === 0;
    loaded.value = {
      ...before,
      items: added(before.items, data.items),
      cursor: isFirst ? data.nextCursor : before.cursor,
    };
  }, [data, key]);

  const { items, cursor, loading, error: failed } = loaded.value;
  return {
    items: useMemo(() => (data === undefined && items.size === 0 ? undefined : sorted(items)), [items, data]),
    more: cursor !== null,
    loading,
    error: error ?? failed,
    async next() {
      loaded.value = { ...loaded.peek(), loading: true, error: undefined };
      try {
        const page = await call<Page>('GET', path, { query: { ...filters, ...span, limit: 100, cursor: cursor! } });
        const all = added(loaded.peek().items, page.items);
        loaded.value = { items: all, cursor: page.nextCursor, loading: false, error: undefined };
      } catch (failure) {
        loaded.value = { ...loaded.peek(), loading: false, error: failure };
      }
    },
  };
}

function added(known: ReadonlyMap<string, ActivityItem>, items: readonly ActivityItem[]) {
  return new Map([...known, ...items.map((item) => [item.id, item] as const)]);
}

function sorted(items: ReadonlyMap<string, ActivityItem>): readonly ActivityItem[] {
  const position = ({ at, id }: ActivityItem) => `${at} ${id}`;
  return [...items.values()].sort((one, other) => (position(one) < position(other) ? 1 : -1));
}
