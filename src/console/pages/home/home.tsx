/* src/console/pages/home: findings that need attention, upcoming events, and a row for each application. */

import { useSignal } from '@preact/signals';
import type { ComingUp, HomeApplication, HomeItem, Home as HomeReport } from '../../../contract/shapes/home.ts';
import { applicationAddress, applicationSettingsAddress, environmentAddress, useQuery } from '../../address/address.ts';
import { resource, withQuery } from '../../api/client.ts';
import { now } from '../../api/clock.ts';
import { usePoll } from '../../api/poll.ts';
import { Sparkline } from '../../components/chart/sparkline.tsx';
import { ExperimentState } from '../../components/experiment-state.tsx';
import { Failure, Skeleton } from '../../components/failure.tsx';
import {
  FindingSentence,
  getFindingKey,
  HealthLink,
  linkedAddress,
  useAnnouncedItems,
} from '../../components/health.tsx';
import { type Column, Table } from '../../components/table/table.tsx';
import { useTitle } from '../../components/title.ts';
import { applications } from '../../reader/reader.tsx';
import { format, plural } from '../../text/format.ts';
import { FirstRun } from '../first-run/first-run.tsx';

const everyMs = 5000;

export function Home() {
  const all = applications.value ?? [];
  return all.length === 0 ? <FirstRun /> : <AllApplications />;
}

function AllApplications() {
  useTitle('Home');
  const { data, error } = usePoll<HomeReport>(resource('home'), everyMs);
  return (
    <div class="stack home">
      <div class="head">
        <h1>Home</h1>
        {data && <span class="quiet">{plural(data.applications.length, 'application')} · last 24 hours</span>}
      </div>
      {data === undefined ? (
        error === undefined ? (
          <Skeleton kind="table" />
        ) : (
          <Failure error={error} />
        )
      ) : (
        <>
          <Attention home={data} />
          {data.comingUp.length > 0 && <ComingUpList items={data.comingUp} />}
          <Applications home={data} />
          {data.applicationsLeftOut > 0 && (
            <p class="quiet">
              {plural(data.applicationsLeftOut, 'more application')} not shown. Use the switcher or the search.
            </p>
          )}
        </>
      )}
    </div>
  );
}

const few = 6;

function Attention({ home }: { readonly home: HomeReport }) {
  const isWhole = useSignal(false);
  const { items, itemsLeftOut, complete, at } = home;
  useAnnouncedItems(items, getFindingKey);
  if (items.length === 0 && complete)
    return <p class="health health-ok">✓ No issues: all applications checked at {format.clockSeconds(at)}</p>;
  const shown = isWhole.value ? items : items.slice(0, few);
  const all = items.length + itemsLeftOut;
  return (
    <section class="stack" aria-labelledby="attention">
      <h2 id="attention">What needs attention</h2>
      <ul class="plain-list home-items">
        {shown.map((item) => (
          <li key={getFindingKey(item)} class={`home-item health-${item.severity}`}>
            <Item item={item} />
          </li>
        ))}
      </ul>
      {!complete && <Skeleton kind="table" label="Checking applications …" />}
      {items.length > few && (
        <button
          type="button"
          class="home-more"
          aria-expanded={isWhole.value}
          onClick={() => (isWhole.value = !isWhole.value)}
        >
          {isWhole.value ? 'Show fewer' : `Show all ${format.full(all)}`}
        </button>
      )}
      {isWhole.value && itemsLeftOut > 0 && <p class="quiet">{plural(itemsLeftOut, 'finding')} left out.</p>}
    </section>
  );
}

/** Findings whose links show the flags of all environments. */
const ofAllEnvironments: ReadonlySet<HomeItem['kind']> = new Set(['archived_but_asked', 'flags_can_go', 'undeclared']);

function Item({ item }: { readonly item: HomeItem }) {
  const { kind, severity, application, owners = [], since, conclusion } = item;
  const environment = ofAllEnvironments.has(kind) ? null : item.environment;
  return (
    <>
      <span class="home-severity">{severity}</span>
      <span>
        {conclusion && (
          <>
            <ExperimentState experiment={{ state: 'finished', ...conclusion }} />{' '}
          </>
        )}
        <FindingSentence item={item} />
      </span>
      <span class="quiet home-names">
        {[application?.name, environment, owners.length > 0 && `Owner: ${format.list(owners)}`]
          .filter(Boolean)
          .join(' · ')}
        {since !== undefined && (
          <>
            {' · since '}
            <time dateTime={since}>{format.time(since)}</time>
          </>
        )}
      </span>
      <HealthLink item={item} text={item.action} />
    </>
  );
}

function ComingUpList({ items }: { readonly items: readonly ComingUp[] }) {
  const { query } = useQuery();
  return (
    <section class="stack" aria-labelledby="coming-up">
      <h2 id="coming-up">Coming up</h2>
      <ul class="plain-list home-items home-names">
        {items.map(({ at, sentence, application, link }) => (
          <li key={`${at} ${sentence} ${link}`}>
            <time dateTime={at}>{format.time(at)}</time>: <a href={linkedAddress(link, query)}>{sentence}</a>{' '}
            <span class="quiet">{application?.name}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Findings about the messages of an application. Only an application with such a finding has a trend line. */
const unusual: ReadonlySet<HomeItem['kind']> = new Set(['senders_refused', 'nothing_received']);

function Applications({ home: { applications, items } }: { readonly home: HomeReport }) {
  const { query, change } = useQuery();
  const ids = items.filter(({ kind }) => unusual.has(kind)).map(({ application }) => application?.id);
  return (
    <Table
      caption="Applications"
      columns={createColumns(new Set(ids))}
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

/** @param withTrend ids of the applications whose messages are unusual */
const createColumns = (withTrend: ReadonlySet<string | undefined>): readonly Column<HomeApplication>[] => [
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
    value: statusText,
    cell: (application) => <span class={`home-status health-${application.status}`}>{statusText(application)}</span>,
  },
  {
    key: 'messages',
    title: 'Messages, 24 h',
    number: true,
    value: ({ accepted }) => accepted,
    cell: ({ id, accepted, hourly }) => (
      <span class="home-spark">
        {withTrend.has(id) && <Sparkline values={hourly.accepted} />}
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
          href={withQuery(environmentAddress(id, first, 'ingest'), { outcome: 'refused', range: '24h' })}
          title={format.full(refused)}
        >
          {format.rate(refused, accepted + refused)}
        </a>
      ),
  },
  {
    key: 'cleanup',
    title: 'Removable flags',
    number: true,
    value: ({ flagsThatCanGo }) => flagsThatCanGo ?? 0,
    cell: ({ id, environments: [first], flagsThatCanGo }) =>
      flagsThatCanGo === null ? (
        <span class="quiet">…</span>
      ) : flagsThatCanGo === 0 || first === undefined ? (
        <span class="quiet">0</span>
      ) : (
        <a href={environmentAddress(id, first, 'cleanup')}>{format.full(flagsThatCanGo)}</a>
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

function statusText({ status, lastReceivedAt }: HomeApplication): string {
  return status === 'info' && lastReceivedAt === null ? 'set up' : statusWords[status];
}

/** Formats messages per second: `0`, `<0.1`, `0.4`, `12`, `1.2k`. */
function rateText(perSecond: number): string {
  if (perSecond === 0) return '0';
  if (perSecond < 0.1) return '<0.1';
  return perSecond < 10 ? format.full(Math.round(perSecond * 10) / 10) : format.compact(Math.round(perSecond));
}
