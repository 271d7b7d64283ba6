/*
 * src/console/pages/home: all applications. home.tsx is the page, attention.tsx lists what needs attention, and applications.tsx has a row
 * for each application.
 */
import type { Home as HomeReport } from '../../../contract/shapes/home.ts';
import { resource } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { applications } from '../../applications.tsx';
import { plural } from '../../format.ts';
import { Failure } from '../../parts/failure.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { useTitle } from '../../title.ts';
import { FirstRun } from '../first-run/first-run.tsx';
import { Applications } from './applications.tsx';
import { Attention } from './attention.tsx';

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
