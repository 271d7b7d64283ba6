import type { HomeApplication } from '../../../contract/shapes/home.ts';
import {
  applicationAddress,
  applicationSettingsAddress,
  environmentAddress,
  useQuery,
} from '../../address/address.ts';
import { withQuery } from '../../api/client.ts';
import { now } from '../../api/clock.ts';
import { Sparkline } from '../../parts/chart/sparkline.tsx';
import { type Column, Table } from '../../parts/table/table.tsx';
import { format } from '../../text/format.ts';

/** A row for each application. Environments and figures lead to their pages. */
export function Applications({ applications }: { readonly applications: readonly HomeApplication[] }) {
  const { query, change } = useQuery();
  return (
    <Table
      caption="Applications"
      columns={columns}
      rows={applications}
      rowKey={({ id }) => id}
      sort={query['sort'] ?? ''}
      onSort={(sort) => change({ sort })}
      csv="applications"
      stacked
      empty="No applications."
    />
  );
}

const columns: readonly Column<HomeApplication>[] = [
  {
    key: 'name',
    title: 'Application',
    value: ({ name }) => name,
    cell: (application) => (
      <div>
        <a class="home-name" href={applicationAddress(application.id, application.environments[0])}>
          {application.name}
        </a>
        <span class="home-environments">
          {application.environments.map((name) => (
            <a key={name} href={environmentAddress(application.id, name, 'flags')}>
              {name}
            </a>
          ))}
        </span>
      </div>
    ),
  },
  {
    key: 'status',
    title: 'Status',
    value: ({ status }) => statusWords[status],
    cell: ({ status }) => <span class={`home-status health-${status}`}>{statusWords[status]}</span>,
  },
  {
    key: 'messages',
    title: 'Messages, 24 h',
    number: true,
    value: ({ accepted }) => accepted,
    cell: ({ accepted, hourly }) => (
      <span class="home-spark">
        <Sparkline values={hourly.accepted} unfinished />
        <span title={format.full(accepted)}>{format.compact(accepted)}</span>
      </span>
    ),
  },
  {
    key: 'rate',
    title: 'Per second',
    number: true,
    value: ({ rate }) => rate.perSecond,
    cell: ({ rate }) => (
      <span title={`Average of ${format.duration(rate.overSeconds * 1000)}`}>{rateText(rate.perSecond)}</span>
    ),
  },
  {
    key: 'refused',
    title: 'Refused',
    number: true,
    value: ({ accepted, refused }) => (refused === 0 ? 0 : refused / (accepted + refused)),
    cell: ({ id, environments: [first], accepted, refused }) =>
      refused === 0 || first === undefined ? (
        format.rate(refused, accepted + refused)
      ) : (
        <a
          href={withQuery(environmentAddress(id, first, 'ingest'), { outcome: 'refused' })}
          title={format.full(refused)}
        >
          {format.rate(refused, accepted + refused)}
        </a>
      ),
  },
  {
    key: 'cleanup',
    title: 'Flags that can go',
    number: true,
    value: ({ flagsThatCanGo }) => flagsThatCanGo ?? 0,
    cell: ({ id, environments: [first], flagsThatCanGo, flags }) =>
      flagsThatCanGo === null || flags === null ? (
        <span class="quiet">…</span>
      ) : flagsThatCanGo === 0 || first === undefined ? (
        <span class="quiet">0 of {format.full(flags)}</span>
      ) : (
        <a href={environmentAddress(id, first, 'cleanup')}>
          {format.full(flagsThatCanGo)} of {format.full(flags)}
        </a>
      ),
  },
  {
    key: 'leaked',
    title: 'Leaked keys',
    number: true,
    value: ({ leakedKeys }) => leakedKeys,
    cell: ({ id, leakedKeys }) =>
      leakedKeys === 0 ? (
        <span class="quiet">0</span>
      ) : (
        <a class="health-urgent" href={applicationSettingsAddress(id, 'leaked')}>
          {format.full(leakedKeys)}
        </a>
      ),
  },
  {
    key: 'last',
    title: 'Last message',
    value: ({ lastReceivedAt }) => lastReceivedAt ?? '',
    cell: ({ lastReceivedAt }) =>
      lastReceivedAt === null ? (
        <span class="quiet">never</span>
      ) : (
        <time dateTime={lastReceivedAt} title={format.time(lastReceivedAt)}>
          {format.relative(lastReceivedAt, now.value)}
        </time>
      ),
  },
];

const statusWords = {
  urgent: 'urgent',
  warning: 'warning',
  info: 'clean-up',
  ok: 'no issues',
  unknown: 'checking …',
} as const;

/** Messages per second: `0`, `<0.1`, `0.4`, `12`, `1.2k`. */
function rateText(perSecond: number): string {
  if (perSecond === 0) return '0';
  if (perSecond < 0.1) return '<0.1';
  return perSecond < 10
    ? format.full(Math.round(perSecond * 10) / 10)
    : format.compact(Math.round(perSecond));
}
