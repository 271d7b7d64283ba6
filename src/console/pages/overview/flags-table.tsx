import { useSignal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import type { Overview, OverviewFeature } from '../../../contract/shapes/overview.ts';
import { useQuery } from '../../address.ts';
import { useOrder } from '../../parameters.ts';
import type { ChosenRange } from '../../parts/range.tsx';
import { type Sort, sortKey, sortRows } from '../../parts/sort.ts';
import { VirtualTable } from '../../parts/virtual-table.tsx';
import { columnsOf } from './columns.tsx';
import { type Filter, filterRows, holdOrder } from './rows.ts';
import { Toolbar } from './toolbar.tsx';
import { useFlagUsers, useUsersInView } from './users.ts';

interface FlagsTableProps {
  readonly app: string;
  readonly overview: Overview;
  readonly range: ChosenRange;
  readonly filter: Filter;
}

/** The default order: most checks first. */
const usualSort = '-checks';

const keyOf = ({ feature }: OverviewFeature) => feature;

/** Every flag of the environment. */
export function FlagsTable({ app, overview, range, filter }: FlagsTableProps) {
  const { query, change } = useQuery();
  const sort = query['sort'] ?? usualSort;
  const users = useFlagUsers(app, overview.environment, range);
  const inView = useSignal<readonly string[]>([]);
  const columns = columnsOf({ app, query, overview, usersOf: users.known });
  useOrder(columns);
  const found = useMemo(() => filterRows(overview.features, filter), [overview, filter.search, filter.state]);
  const by = columns.find(({ key }) => key === sortKey(sort));
  const sorted = by?.value === undefined ? found : sortRows(found, sort, by.value);
  const { rows, hold, release } = useHeld(sorted, [sort, filter.search, filter.state, range.range].join());
  // Sorting by users needs the users of all flags.
  const wanted = sortKey(sort) === 'users' ? found.map(keyOf) : inView.value;
  useUsersInView(users, range, wanted);
  return (
    <section aria-label="Flags">
      <Toolbar
        filter={filter}
        features={overview.features}
        found={rows}
        columns={columns}
        sort={sort}
        range={range}
        csv={`flags-${overview.environment}`}
        complete={() => users.count(rows.map(keyOf), range.bounds)}
      />
      {rows.length === 0 ? (
        <p class="empty">
          No flag matches.{' '}
          <button type="button" onClick={() => change({ search: undefined, state: undefined })}>
            Show all flags
          </button>
        </p>
      ) : (
        <div onPointerEnter={hold} onPointerLeave={release} onFocusIn={hold} onFocusOut={release}>
          <VirtualTable
            caption="Flags"
            class="overview-grid"
            columns={columns}
            rows={rows}
            rowKey={keyOf}
            sort={sort}
            onSort={(next: Sort) => change({ sort: next === usualSort ? undefined : next })}
            onView={(shown) => (inView.value = shown.map(keyOf))}
          />
        </div>
      )}
    </section>
  );
}

/** Keeps the order of rows under the pointer while figures change. A new choice of the reader sorts again. */
function useHeld(sorted: readonly OverviewFeature[], chosen: string) {
  const held = useRef(false);
  const before = useRef<{ chosen: string; keys: readonly string[] }>({ chosen, keys: [] });
  const keep = held.current && before.current.chosen === chosen;
  const rows = keep ? holdOrder(sorted, keyOf, before.current.keys) : sorted;
  before.current = { chosen, keys: rows.map(keyOf) };
  return {
    rows,
    hold: () => (held.current = true),
    release: () => (held.current = false),
  };
}
