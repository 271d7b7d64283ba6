import { type ReadonlySignal, signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Overview, OverviewFeature, OverviewUsers } from '../../../contract/shapes/overview.ts';
import { useQuery } from '../../address/address.ts';
import { useOrder } from '../../address/parameters.ts';
import { type Bounds, boundsQuery } from '../../address/range.ts';
import { call, resource } from '../../api/client.ts';
import type { ChosenRange } from '../../components/choices/range.tsx';
import { Skeleton } from '../../components/failure.tsx';
import { type Selection, useSelection } from '../../components/table/selection.tsx';
import { type Sort, sortKey, sortRows } from '../../components/table/sort.ts';
import type { Column } from '../../components/table/table.tsx';
import { VirtualTable } from '../../components/table/virtual-table.tsx';
import { applications, hasRole, preferences } from '../../reader/reader.tsx';
import { createColumns, usualColumns } from './columns.tsx';
import { type Filter, filterRows, holdOrder } from './rows.ts';
import { Toolbar } from './toolbar.tsx';

interface FeatureTableProps {
  readonly app: string;
  readonly overview: Overview;
  readonly range: ChosenRange;
  readonly filter: Filter;
}

const usualSort = '-checks';

const getKey = ({ feature }: OverviewFeature) => feature;

/** Returns the name column and the columns with the given keys. Ignores unknown keys of a later release. */
function shownColumns(all: readonly Column<OverviewFeature>[], keys: readonly string[]): Column<OverviewFeature>[] {
  return ['flag', ...keys].flatMap((key) => all.find((column) => column.key === key) ?? []);
}

export function FeatureTable({ app, overview, range, filter }: FeatureTableProps) {
  const { query, change } = useQuery();
  const sort = query['sort'] ?? usualSort;
  const users = useFeatureUsers(app, overview.environment, range);
  const inView = useSignal<readonly string[]>([]);
  const all = createColumns({ app, query, overview, usersByFeature: users.known });
  const columns = shownColumns(all, preferences.value?.columns['flags'] ?? usualColumns);
  const environments = listEnvironments(app);
  const isAcross = query['by'] === 'environment';
  useOrder(isAcross ? [{ key: 'flag' }, ...environments.map((key) => ({ key }))] : all);
  const found = useMemo(() => filterRows(overview.features, filter), [overview, filter.search, filter.state]);
  const by = all.find(({ key }) => key === sortKey(sort));
  const sorted = by?.value === undefined ? found : sortRows(found, sort, by.value);
  const { rows, hold, release } = useHeld(sorted, [sort, filter.search, filter.state, range.range].join());
  const selection = useSelection(rows, getKey, 'flag');
  const canChange = hasRole('User');
  // Sorting by users requires the user counts of all flags.
  useUsersInView(users, range, sortKey(sort) === 'users' ? found.map(getKey) : inView.value);
  return (
    <section aria-label="Flags">
      <Toolbar
        filter={filter}
        features={overview.features}
        found={rows}
        all={all}
        columns={columns}
        sort={sort}
        range={range}
        csv={`flags-${overview.environment}`}
        complete={() => users.count(rows.map(getKey), range.bounds)}
      />
      <Selected app={app} rows={rows} selection={selection} />
      {isAcross ? (
        <Across
          app={app}
          range={range}
          filter={filter}
          environments={environments}
          environment={overview.environment}
        />
      ) : rows.length === 0 ? (
        <NoMatch onAll={() => change({ search: undefined, state: undefined })} />
      ) : (
        <div onPointerEnter={hold} onPointerLeave={release} onFocusIn={hold} onFocusOut={release}>
          <VirtualTable
            caption="Flags"
            class="overview-grid"
            columns={canChange ? [selection.column, ...columns] : columns}
            rows={rows}
            rowKey={getKey}
            selected={canChange ? selection.keys : undefined}
            sort={sort}
            onSort={(next: Sort) => change({ sort: next === usualSort ? undefined : next })}
            onView={(shown) => (inView.value = shown.map(getKey))}
          />
        </div>
      )}
    </section>
  );
}

const loadBulk = () => import('./bulk.tsx');
const loadEnvironments = () => import('./environments.tsx');

interface SelectedProps extends Pick<FeatureTableProps, 'app'> {
  readonly rows: readonly OverviewFeature[];
  readonly selection: Selection<OverviewFeature>;
}

function Selected({ app, rows, selection: { keys, clear } }: SelectedProps) {
  const loaded = useLoaded(loadBulk, keys.size > 0);
  if (loaded === undefined) return null;
  return <loaded.Bulk app={app} rows={rows.filter((row) => keys.has(getKey(row)))} onClear={clear} />;
}

function listEnvironments(app: string): readonly string[] {
  return applications.value?.find(({ id }) => id === app)?.environments.map(({ name }) => name) ?? [];
}

interface AcrossProps extends Omit<FeatureTableProps, 'overview'> {
  readonly environment: string;
  readonly environments: readonly string[];
}

function Across({ app, ...props }: AcrossProps) {
  const loaded = useLoaded(loadEnvironments, true);
  if (loaded === undefined) return <Skeleton kind="table" />;
  return <loaded.Environments application={app} {...props} />;
}

function NoMatch({ onAll }: { readonly onAll: () => void }) {
  return (
    <p class="empty">
      No flag matches.{' '}
      <button type="button" onClick={onAll}>
        Show all flags
      </button>
    </p>
  );
}

/** Keeps the order of rows under the pointer while figures change. A new sort order applies immediately. */
function useHeld(sorted: readonly OverviewFeature[], chosen: string) {
  const held = useRef(false);
  const before = useRef<{ chosen: string; keys: readonly string[] }>({ chosen, keys: [] });
  const keep = held.current && before.current.chosen === chosen;
  const rows = keep ? holdOrder(sorted, getKey, before.current.keys) : sorted;
  before.current = { chosen, keys: rows.map(getKey) };
  return { rows, hold: () => (held.current = true), release: () => (held.current = false) };
}

/** Loads a part of a page on demand. @returns `undefined` until the part is loaded */
function useLoaded<T>(load: () => Promise<T>, wanted: boolean): T | undefined {
  const [loaded, setLoaded] = useState<{ readonly module: T }>();
  useEffect(() => {
    if (!wanted || loaded !== undefined) return undefined;
    let isMounted = true;
    load().then(
      (module) => isMounted && setLoaded({ module }),
      () => undefined, // The next time the part is wanted, it is loaded again.
    );
    return () => {
      isMounted = false;
    };
  }, [wanted]);
  return loaded?.module;
}

const atOnce = 60;
/** Pause between two counts, ms. Counting users is expensive. */
const againMs = 30_000;
/** Pause after scrolling before the users of the visible rows are counted, ms. */
const restMs = 120;

interface UserCount {
  readonly users: number;
  readonly from: number;
}

interface FeatureUsers {
  /** Number of users by flag, for the flags that are already counted. */
  readonly known: ReadonlySignal<ReadonlyMap<string, UserCount>>;
  /** Counts the users of flags that are not counted yet. @param again counts all flags again */
  count(names: readonly string[], bounds: Bounds, again?: boolean): Promise<void>;
}

/** Returns the users of an environment's flags in a range. Forgets them when the range changes. */
function useFeatureUsers(app: string, environment: string, { range }: ChosenRange): FeatureUsers {
  return useMemo(() => createFeatureUsers(app, environment), [app, environment, range]);
}

function createFeatureUsers(app: string, environment: string): FeatureUsers {
  const known = signal<ReadonlyMap<string, UserCount>>(new Map());
  const path = resource('applications', app, 'overview', 'users');
  return {
    known,
    async count(names, bounds, again = false) {
      const { from, to, timeZone } = boundsQuery(bounds);
      const missing = names.filter((name) => again || known.peek().get(name)?.from !== bounds.from);
      for (let at = 0; at < missing.length; at += atOnce) {
        const query = { environment, from, to, timeZone, feature: missing.slice(at, at + atOnce) };
        const { features } = await call<OverviewUsers>('GET', path, { query });
        const counted = features.map(({ feature, users }) => [feature, { users, from: bounds.from }] as const);
        known.value = new Map([...known.peek(), ...counted]);
      }
    },
  };
}

/** Periodically counts the users of the visible rows. If a count fails, the next count retries it. */
function useUsersInView(users: FeatureUsers, { bounds, live }: ChosenRange, names: readonly string[]): void {
  useEffect(() => {
    if (names.length === 0) return undefined;
    const count = (again: boolean) => void users.count(names, bounds, again).catch(() => undefined);
    const rest = setTimeout(count, restMs, false);
    const repeat = setInterval(() => {
      if (live && !document.hidden) count(true);
    }, againMs);
    return () => {
      clearTimeout(rest);
      clearInterval(repeat);
    };
  }, [users, bounds, live, names.join('\n')]);
}
