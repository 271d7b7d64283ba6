import type { ReadonlySignal } from '@preact/signals';
import type { Overview, OverviewFeature } from '../../../contract/shapes/overview.ts';
import { flagAddress } from '../../address.ts';
import { now } from '../../clock.ts';
import { format } from '../../format.ts';
import { toneOf } from '../../parts/chart/series.ts';
import { Sparkline } from '../../parts/chart/sparkline.tsx';
import { NotReported } from '../../parts/columns.tsx';
import type { Column } from '../../parts/table.tsx';
import { isUnfinished, trendOf } from './figures.ts';
import { variantsText } from './rows.ts';
import { hintOf, markOf, meantBy, stateText } from './states.ts';

interface ColumnOptions {
  readonly app: string;
  readonly query: Readonly<Record<string, string>>;
  readonly overview: Overview;
  readonly usersOf: ReadonlySignal<ReadonlyMap<string, { readonly users: number }>>;
}

/** The columns of the flags. */
export function columnsOf({ app, query, overview, usersOf }: ColumnOptions): Column<OverviewFeature>[] {
  const unfinished = isUnfinished(overview);
  const { environment } = overview;
  const meant = meantBy(overview.features);
  return [
    {
      key: 'flag',
      title: 'Flag',
      value: ({ feature }) => feature,
      cell: ({ feature }) => (
        <a
          class="overview-link"
          tabIndex={-1}
          href={flagAddress({ application: app, environment, name: feature }, query)}
          title={feature}
        >
          {feature}
        </a>
      ),
    },
    {
      key: 'trend',
      title: 'Trend',
      value: ({ spark }) => trendOf(spark, unfinished),
      csv: ({ spark }) => spark.join(' '),
      cell: ({ spark }) => <Trend spark={spark} unfinished={unfinished} />,
    },
    count('checks', 'Checks', ({ checks }) => checks),
    rate('used', 'Used'),
    rate('viewed', 'Viewed'),
    {
      key: 'users',
      title: 'Users',
      number: true,
      value: ({ feature }) => usersOf.value.get(feature)?.users,
      cell: ({ feature }) => <Users users={usersOf.value.get(feature)?.users} />,
    },
    {
      key: 'variants',
      title: 'Variants',
      value: ({ variants }) => variants.length,
      csv: ({ variants }) => variants.map(([name, checks]) => `${name}: ${checks}`).join('; '),
      cell: (row) => <Variants row={row} />,
    },
    {
      key: 'last',
      title: 'Last seen',
      value: ({ lastSeenAt }) => lastSeenAt,
      cell: ({ lastSeenAt }) => <LastSeen at={lastSeenAt} />,
    },
    {
      key: 'state',
      title: 'State',
      value: (row) => stateText(row),
      cell: (row) => <StateOf row={row} meant={meant(row)} overview={overview} />,
    },
  ];
}

function count(key: string, title: string, of: (row: OverviewFeature) => number): Column<OverviewFeature> {
  return {
    key,
    title,
    number: true,
    value: of,
    cell: (row) => <span title={format.full(of(row))}>{format.compact(of(row))}</span>,
  };
}

/** A part of the checks: a share in the table, a count in the CSV file. */
function rate(key: 'used' | 'viewed', title: string): Column<OverviewFeature> {
  return {
    key,
    title,
    number: true,
    value: (row) => (row.checks === 0 || isUnknown(row, key) ? undefined : row[key] / row.checks),
    csv: (row) => (isUnknown(row, key) ? undefined : row[key]),
    cell: (row) =>
      isUnknown(row, key) ? (
        <NotReported sources={row.checksOnly ?? []} />
      ) : (
        <span title={`${format.full(row[key])} of ${format.full(row.checks)} checks`}>
          {format.rate(row[key], row.checks)}
        </span>
      ),
  };
}

/** Whether a count is missing because no sender reports it. */
function isUnknown({ checksOnly = [], ...row }: OverviewFeature, key: 'used' | 'viewed'): boolean {
  return checksOnly.length > 0 && row[key] === 0;
}

function Trend({ spark, unfinished }: { readonly spark: readonly number[]; readonly unfinished: boolean }) {
  const trend = trendOf(spark, unfinished);
  const words =
    trend === undefined
      ? 'no comparison'
      : `${trend < 0 ? 'down' : 'up'} ${format.percent(Math.abs(trend))} from the first half to the second`;
  return (
    <>
      <Sparkline values={spark} unfinished={unfinished} />
      <span class="hidden">{words}</span>
    </>
  );
}

function Users({ users }: { readonly users: number | undefined }) {
  if (users === undefined)
    return (
      <span class="quiet" title="Being counted">
        …
      </span>
    );
  return <span title={format.full(users)}>{users === 0 ? '–' : `≈${format.compact(users)}`}</span>;
}

function Variants({ row }: { readonly row: OverviewFeature }) {
  const { variants } = row;
  if (variants.length === 0) return <span class="quiet">–</span>;
  const text = variantsText(row, format.percent);
  const [[first, most] = ['', 0]] = variants;
  const all = variants.reduce((sum, [, checks]) => sum + checks, 0);
  return (
    <span class="overview-variants" title={text}>
      <span class="overview-bar" aria-hidden="true">
        {variants.map(([name, checks], index) => (
          <span
            key={name}
            class={`tone-${name === '…' ? 'other' : toneOf(index)}`}
            style={{ flexGrow: checks }}
          />
        ))}
      </span>
      <span class="overview-first" aria-hidden="true">
        {first} {format.percent(most / all)}
      </span>
      <span class="hidden">{text}</span>
    </span>
  );
}

interface StateProps {
  readonly row: OverviewFeature;
  readonly meant: string | undefined;
  readonly overview: Overview;
}

function StateOf({ row, meant, overview }: StateProps) {
  return (
    <span class={`overview-kind overview-kind-${markOf(row)}`} title={hintOf(row, overview) || undefined}>
      {stateText(row, meant)}
    </span>
  );
}

function LastSeen({ at }: { readonly at: string | null }) {
  if (at === null) return <span class="quiet">never here</span>;
  // The API has times of minutes.
  const passed = now.value - Date.parse(at);
  return (
    <time dateTime={at} title={format.time(at)}>
      {passed < 120_000 ? 'now' : format.relative(at, now.value)}
    </time>
  );
}
