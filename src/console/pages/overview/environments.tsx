import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { weightsText } from '../../../contract/numbers.ts';
import type { Overview, OverviewFeature } from '../../../contract/shapes/overview.ts';
import { featureAddress, useQuery } from '../../address/address.ts';
import type { InEnvironment } from '../../address/place.ts';
import { overviewQuery } from '../../address/range.ts';
import { resource, withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import type { ChosenRange } from '../../components/choices/range.tsx';
import { Reason } from '../../components/failure.tsx';
import { Ago } from '../../components/table/columns.tsx';
import { sortKey, sortRows } from '../../components/table/sort.ts';
import type { Column } from '../../components/table/table.tsx';
import { VirtualTable } from '../../components/table/virtual-table.tsx';
import { format, plural } from '../../text/format.ts';
import { acrossEnvironments, type FeatureAcrossRow } from './across.ts';
import type { Filter } from './rows.ts';

interface EnvironmentsProps extends InEnvironment {
  readonly environments: readonly string[];
  readonly range: ChosenRange;
  readonly filter: Filter;
}

/** Maximum number of compared environments. The page reads a separate overview for each of them. */
const maxEnvironments = 6;
const everyMs = 30_000;

export function Environments({ application, environment, environments, range, filter }: EnvironmentsProps) {
  const { query, change } = useQuery();
  const read = useSignal<ReadonlyMap<string, Overview>>(new Map());
  const shown = [environment, ...environments.filter((each) => each !== environment)].slice(0, maxEnvironments);
  const keep = (overview: Overview) => {
    read.value = new Map([...read.peek(), [overview.environment, overview]]);
  };
  const rows = useMemo(() => acrossEnvironments(read.value, filter), [read.value, filter.search, filter.state]);
  const columns = createColumns({ application, environment }, shown, query);
  const sort = query['sort'] ?? `-${environment}`;
  const by = columns.find(({ key }) => key === sortKey(sort)) ?? columns[1]!;
  return (
    <section aria-label="Flags by environment">
      {shown.map((each) => (
        <Reader key={each} application={application} environment={each} range={range} onRead={keep} />
      ))}
      <p class="quiet" aria-live="polite">
        {plural(rows.length, 'flag')}
      </p>
      {environments.length > shown.length && (
        <p class="quiet">
          The first {shown.length} of {environments.length} environments.
        </p>
      )}
      <VirtualTable
        caption="Flags by environment"
        class="overview-across"
        columns={columns}
        rows={sortRows(rows, sort, by.value!)}
        rowKey={({ feature }) => feature}
        sort={sort}
        onSort={(next) => change({ sort: next })}
      />
    </section>
  );
}

function createColumns(
  { application, environment }: InEnvironment,
  shown: readonly string[],
  query: Readonly<Record<string, string>>,
): Column<FeatureAcrossRow>[] {
  const { sort: _, by: __, ...kept } = query;
  return [
    {
      key: 'flag',
      title: 'Flag',
      width: 'minmax(9rem, 1.4fr)',
      value: ({ feature }) => feature,
      cell: ({ feature }) => (
        <a
          class="overview-link"
          tabIndex={-1}
          href={featureAddress({ application, environment, name: feature }, kept)}
          title={feature}
        >
          {feature}
        </a>
      ),
    },
    ...shown.map((each) => ({
      key: each,
      title: each,
      width: 'minmax(10rem, 1fr)',
      value: ({ by }: FeatureAcrossRow) => by.get(each)?.checks,
      cell: ({ by }: FeatureAcrossRow) => <There row={by.get(each)} />,
    })),
  ];
}

/** Shows a flag in one environment: the share of its first variant, its checks, and when it was last seen. */
function There({ row }: { readonly row: OverviewFeature | undefined }) {
  if (row === undefined || row.lastSeenAt === null) return <span class="quiet">not seen here</span>;
  const [first] = row.variants;
  if (first === undefined)
    return (
      <span class="quiet">
        last seen <Ago at={row.lastSeenAt} />
      </span>
    );
  return (
    <span title={`${weightsText(row.variants, format.percent)}; ${format.full(row.checks)} checks`}>
      {first[0]} {format.rate(first[1], row.checks)}{' '}
      <span class="quiet">
        · {format.compact(row.checks)} · <Ago at={row.lastSeenAt} />
      </span>
    </span>
  );
}

interface ReaderProps extends InEnvironment {
  readonly range: ChosenRange;
  readonly onRead: (overview: Overview) => void;
}

function Reader({ application, environment, range, onRead }: ReaderProps) {
  const query = { environment, ...overviewQuery(range.range, range.bounds, range.comparison) };
  const path = withQuery(resource('applications', application, 'overview'), query);
  const { data, error } = usePoll<Overview>(path, range.live ? everyMs : undefined);
  useEffect(() => {
    if (data !== undefined) onRead(data);
  }, [data]);
  return data === undefined ? <Reason error={error} what={environment} /> : null;
}
