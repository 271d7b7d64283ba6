/*
 * src/console/pages/home: all applications. home.tsx is the page with what needs attention, and applications.tsx has a row for each
 * application.
 */
import { useSignal } from '@preact/signals';
import type { HomeItem, Home as HomeReport } from '../../../contract/shapes/home.ts';
import { resource } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { Failure } from '../../parts/failure.tsx';
import { HealthLink, useAnnouncedItems } from '../../parts/health.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { useTitle } from '../../parts/title.ts';
import { applications } from '../../reader/applications.tsx';
import { format, plural } from '../../text/format.ts';
import { FirstRun } from '../first-run/first-run.tsx';
import { Applications } from './applications.tsx';

const everyMs = 5000;

/** What `/` shows: how to begin, or all applications. */
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
          <Applications applications={data.applications} />
          {data.applicationsLeftOut > 0 && (
            <p class="quiet">
              {plural(data.applicationsLeftOut, 'more application')}: use the switcher or the search.
            </p>
          )}
        </>
      )}
    </div>
  );
}

/** Findings that are shown without "Show all". */
const few = 6;

/** Findings of all applications, the most urgent first. */
function Attention({ home }: { readonly home: HomeReport }) {
  const isWhole = useSignal(false);
  const { items, itemsLeftOut, complete, at } = home;
  useAnnouncedItems(items, ({ kind, application }) => `${kind} ${application?.id}`);
  if (items.length === 0)
    return (
      <p class={complete ? 'health health-ok' : 'health quiet'}>
        {complete
          ? `✓ No issues: all applications checked at ${format.clockSeconds(at)}`
          : 'Checking the applications …'}
      </p>
    );
  const shown = isWhole.value ? items : items.slice(0, few);
  const all = items.length + itemsLeftOut;
  return (
    <section class="stack" aria-labelledby="attention">
      <h2 id="attention">What needs attention</h2>
      <ul class="plain-list home-items">
        {shown.map((item) => (
          <li key={`${item.kind} ${item.application?.id}`} class={`home-item health-${item.severity}`}>
            <Item item={item} />
          </li>
        ))}
      </ul>
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

function Item({ item }: { readonly item: HomeItem }) {
  const { severity, application, environment, subjects, count } = item;
  const names = subjects.map(({ name }) => name);
  const more = count > names.length ? ` and ${format.full(count - names.length)} more` : '';
  return (
    <>
      <span class="home-severity">{severity}</span>
      <HealthLink item={item} />
      <span>
        {application?.name ?? 'Team'}
        {environment !== null && <span class="quiet"> · {environment}</span>}
      </span>
      {names.length > 0 && item.kind !== 'nothing_received' && (
        <span class="quiet home-names">
          {names.join(', ')}
          {more}
        </span>
      )}
    </>
  );
}
