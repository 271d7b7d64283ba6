import type { ReadonlySignal } from '@preact/signals';
import { weightsText } from '../../../contract/numbers.ts';
import type { Overview, OverviewFeature } from '../../../contract/shapes/overview.ts';
import { ownersText } from '../../../contract/shapes/owned.ts';
import { featureAddress } from '../../address/address.ts';
import { now } from '../../api/clock.ts';
import { getSeriesTone } from '../../components/chart/series.ts';
import { Split, splitWords } from '../../components/split.tsx';
import { Ago, NotReported } from '../../components/table/columns.tsx';
import type { Column } from '../../components/table/table.tsx';
import { format } from '../../text/format.ts';
import { type Change, computeChange, usersLabel } from './figures.ts';
import { explainState, getShownState, meantBy, stateText } from './states.ts';

interface ColumnOptions {
  readonly app: string;
  readonly query: Readonly<Record<string, string>>;
  readonly overview: Overview;
  readonly usersByFeature: ReadonlySignal<ReadonlyMap<string, { readonly users: number }>>;
}

export function createColumns({ app, query, overview, usersByFeature }: ColumnOptions): Column<OverviewFeature>[] {
  const { environment } = overview;
  return [
    {
      key: 'flag',
      title: 'Flag',
      width: 'minmax(8rem, 2.2fr)',
      value: ({ feature }) => feature,
      cell: ({ feature }) => (
        <a
          class="overview-link"
          tabIndex={-1}
          href={featureAddress({ application: app, environment, name: feature }, query)}
          title={feature}
        >
          {feature}
        </a>
      ),
    },
    count('checks', 'Checks', ({ checks }) => checks),
    {
      key: 'change',
      title: 'Change',
      number: true,
      width: '5rem',
      value: ({ compared }) => computeGrowth(compared),
      csv: ({ compared }) => (compared?.[1] ? computeGrowth(compared) : undefined),
      cell: ({ compared }) => <Changed compared={compared} overview={overview} />,
    },
    rate('used', 'Used'),
    rate('viewed', 'Viewed'),
    ...stateColumns({ overview, usersByFeature }),
  ];
}

function stateColumns({
  overview,
  usersByFeature,
}: Pick<ColumnOptions, 'overview' | 'usersByFeature'>): Column<OverviewFeature>[] {
  const meant = meantBy(overview.features);
  return [
    {
      key: 'users',
      title: usersLabel(overview),
      number: true,
      width: '9.5rem',
      value: ({ feature }) => usersByFeature.value.get(feature)?.users,
      cell: ({ feature }) => <Users users={usersByFeature.value.get(feature)?.users} />,
    },
    {
      key: 'variants',
      title: 'Variants',
      width: 'minmax(5rem, 1.4fr)',
      value: ({ variants }) => variants.length,
      csv: ({ variants }) => variants.map(([name, checks]) => `${name}: ${checks}`).join('; '),
      cell: (row) => <Variants row={row} />,
    },
    {
      key: 'last',
      title: 'Last seen',
      width: 'minmax(5.5rem, 0.8fr)',
      value: ({ lastSeenAt }) => lastSeenAt,
      cell: ({ lastSeenAt }) => <LastSeen at={lastSeenAt} />,
    },
    {
      key: 'state',
      title: 'State',
      width: 'minmax(10rem, 1.3fr)',
      value: (row) => stateText(row),
      cell: (row) => <StateLabel row={row} meant={meant(row)} overview={overview} />,
    },
    {
      key: 'split',
      title: 'Split',
      width: 'minmax(7.5rem, 8rem)',
      value: ({ split }) => (split === undefined ? undefined : splitWords(split)),
      cell: ({ split }) => <Split split={split} />,
    },
    {
      key: 'owners',
      title: 'Owner',
      width: 'minmax(5rem, 1fr)',
      value: ({ owners }) => ownersText(owners) || undefined,
      cell: ({ owners, ownersFrom }) => (
        <span title={ownersFrom === 'codeowners' ? `${ownersText(owners)}, by CODEOWNERS` : ownersText(owners)}>
          {ownersText(owners) || '–'}
        </span>
      ),
    },
    {
      key: 'tags',
      title: 'Tags',
      width: 'minmax(7rem, 1fr)',
      value: ({ tags }) => tags.join(', ') || undefined,
      cell: ({ tags }) => <span title={tags.join(', ')}>{tags.join(', ') || '–'}</span>,
    },
    {
      key: 'first',
      title: 'First seen',
      width: 'minmax(6.5rem, 0.8fr)',
      value: ({ firstSeenAt }) => firstSeenAt,
      cell: ({ firstSeenAt }) => <Ago at={firstSeenAt} />,
    },
  ];
}

/** The default columns after the name of the flag. */
export const usualColumns: readonly string[] = ['state', 'checks', 'users', 'last', 'owners'];

/**
 * Computes the growth between the compared periods. Returns the largest number if the earlier period has no checks, so
 * that the flag sorts first.
 */
function computeGrowth(compared: OverviewFeature['compared']): number | undefined {
  if (compared === undefined) return undefined;
  const [checks, before] = compared;
  if (before > 0) return checks / before - 1;
  return checks > 0 ? Number.MAX_VALUE : undefined;
}

const arrows: Readonly<Record<Change['direction'], string>> = { up: '▲ ', down: '▼ ', same: '' };

interface ChangedProps {
  readonly compared: OverviewFeature['compared'] | undefined;
  readonly overview: Overview;
}

function Changed({ compared, overview }: ChangedProps) {
  if (compared === undefined || overview.before === null) return <span class="quiet">–</span>;
  const [checks, before] = compared;
  const { from, to } = overview.before;
  const title = `${format.full(checks)} checks against ${format.full(before)}, ${format.span(from, to)}`;
  const change = computeChange(checks, before);
  return (
    <span title={title}>
      {change === undefined ? (
        checks > 0 ? (
          'from 0'
        ) : (
          '–'
        )
      ) : (
        <>
          <span aria-hidden="true">{arrows[change.direction]}</span>
          <span class="hidden">{change.direction} </span>
          {change.size}
        </>
      )}
    </span>
  );
}

function count(key: string, title: string, of: (row: OverviewFeature) => number): Column<OverviewFeature> {
  return {
    key,
    title,
    number: true,
    width: '5rem',
    value: of,
    cell: (row) => <span title={format.full(of(row))}>{format.compact(of(row))}</span>,
  };
}

/**
 * Creates a column for uses or views. The table shows their share of the checks, and the CSV file contains their
 * number.
 */
function rate(key: 'used' | 'viewed', title: string): Column<OverviewFeature> {
  return {
    key,
    title,
    number: true,
    width: '4.5rem',
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

/** True if a count is missing because no sender reports it. */
function isUnknown({ checksOnly = [], ...row }: OverviewFeature, key: 'used' | 'viewed'): boolean {
  return checksOnly.length > 0 && row[key] === 0;
}

function Users({ users }: { readonly users: number | undefined }) {
  if (users === undefined)
    return (
      <span class="quiet" title="Being counted">
        …
      </span>
    );
  return <span>{users === 0 ? '–' : format.people(users)}</span>;
}

function Variants({ row }: { readonly row: OverviewFeature }) {
  const { variants } = row;
  if (variants.length === 0) return <span class="quiet">–</span>;
  const text = weightsText(row.variants, format.percent);
  const [[first, most] = ['', 0]] = variants;
  const all = variants.reduce((sum, [, checks]) => sum + checks, 0);
  return (
    <span class="overview-variants" title={text}>
      <span class="overview-bar" aria-hidden="true">
        {variants.map(([name, checks], index) => (
          <span
            key={name}
            class={`tone-${name === '…' ? 'other' : getSeriesTone(index)}`}
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

function StateLabel({ row, meant, overview }: StateProps) {
  return (
    <span class={`overview-kind overview-kind-${getShownState(row)}`} title={explainState(row, overview) || undefined}>
      {stateText(row, meant)}
    </span>
  );
}

function LastSeen({ at }: { readonly at: string | null }) {
  if (at === null) return <span class="quiet">not seen here</span>;
  // The API rounds times to whole minutes, so a recent time can appear to be a minute old.
  const passed = now.value - Date.parse(at);
  return (
    <time dateTime={at} title={format.time(at)}>
      {passed < 120_000 ? 'now' : format.relative(at, now.value)}
    </time>
  );
}
