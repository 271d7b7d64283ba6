import { LocationProvider, Route, Router } from 'preact-iso';
import { ApplicationsReader } from './applications.tsx';
import { ConnectPage } from './pages/first-run/connect.tsx';
import { Flag } from './pages/flag/flag.tsx';
import { ApplicationStart, Home } from './pages/home.tsx';
import { IngestPage } from './pages/ingest/page.tsx';
import { MetricsPage } from './pages/metrics/page.tsx';
import { NotFound } from './pages/not-found.tsx';
import { Overview } from './pages/overview/overview.tsx';
import { PeoplePage } from './pages/people/page.tsx';
import { Settings } from './pages/settings/settings-page.tsx';
import { Announcer } from './parts/announce.tsx';
import { CheckedPlace } from './parts/checked-place.tsx';
import { Guarded, Pending } from './parts/failure.tsx';
import { Frame } from './parts/frame.tsx';
import { Shortcuts } from './parts/shortcuts.tsx';
import { SignInAgain } from './parts/sign-in-again.tsx';
import { trouble, user } from './session.ts';
import { root } from './settings.ts';

const environmentPath = `${root}/apps/:application/:environment`;

/** The whole console, once the signed-in user is known. */
export function App() {
  if (user.value === undefined)
    return (
      <main>
        <Pending error={trouble.value} />
      </main>
    );
  return (
    <LocationProvider scope={pages}>
      <ApplicationsReader />
      <Frame>
        <Guarded>
          <CheckedPlace>
            <Router onRouteChange={focusHeading}>
              <Route path={`${root}/`} component={Home} />
              <Route path={`${root}/apps/:application`} component={ApplicationStart} />
              <Route path={`${root}/apps/:application/:environment`} component={ApplicationStart} />
              <Route path={`${root}/settings/:page?`} component={Settings} />
              <Route path={`${environmentPath}/metrics`} component={MetricsPage} />
              <Route path={`${environmentPath}/ingest`} component={IngestPage} />
              <Route path={`${environmentPath}/people`} component={PeoplePage} />
              <Route path={`${environmentPath}/connect`} component={ConnectPage} />
              <Route path={`${environmentPath}/flag`} component={Flag} />
              <Route path={`${environmentPath}/flags`} component={Overview} />
              <Route default component={NotFound} />
            </Router>
          </CheckedPlace>
        </Guarded>
      </Frame>
      <SignInAgain />
      <Shortcuts />
      <Announcer />
    </LocationProvider>
  );
}

/** Links that the browser does not load: all except those to pages of the auth host, which may have the same origin. */
const pages = /^(?!.*\/connect\/)/;

/** Screen readers announce the new page by its heading. */
function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>('main h1') ?? document.getElementById('main')!;
  heading.tabIndex = -1;
  heading.focus();
}
