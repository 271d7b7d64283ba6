import { useEffect } from 'preact/hooks';
import { LocationProvider, Route, Router } from 'preact-iso';
import { ApplicationsReader } from './applications.tsx';
import { lazyPage } from './lazy-page.tsx';
import { NotFound } from './pages/not-found.tsx';
import { Announcer } from './parts/announce.tsx';
import { CheckedPlace } from './parts/checked-place.tsx';
import { Guarded, Pending } from './parts/failure.tsx';
import { Frame } from './parts/frame.tsx';
import { Shortcuts } from './parts/shortcuts.tsx';
import { SignInAgain } from './parts/sign-in-again.tsx';
import { routes } from './routes.ts';
import { trouble, user } from './session.ts';
import { root } from './settings.ts';
import { InTimeZone } from './time-zone.tsx';

const pages = routes.map(({ path, load }) => ({ path: root + path, component: lazyPage(load) }));

/** The whole console, once the signed-in user is known. */
export function App() {
  const known = user.value !== undefined;
  useEffect(() => {
    if (known) setTimeout(() => whenIdle(loadPages), loadPagesAfterMs);
  }, [known]);
  if (user.value === undefined)
    return (
      <main>
        <Pending error={trouble.value} />
      </main>
    );
  return (
    <LocationProvider scope={ownPages}>
      <ApplicationsReader />
      <InTimeZone>
        <Frame>
          <Guarded>
            <CheckedPlace>
              <Router onRouteChange={focusHeading}>
                {pages.map(({ path, component }) => (
                  <Route key={path} path={path} component={component} />
                ))}
                <Route default component={NotFound} />
              </Router>
            </CheckedPlace>
          </Guarded>
        </Frame>
      </InTimeZone>
      <SignInAgain />
      <Shortcuts />
      <Announcer />
    </LocationProvider>
  );
}

/** Links that the browser does not load: all except those to the docs, and to the auth host, which may have the same origin. */
const ownPages = /^(?!.*\/(connect\/|docs($|\/)))/;

/** The figures of the open page come first. */
const loadPagesAfterMs = 2000;

/** Safari before 26 lacks `requestIdleCallback`. */
const whenIdle = (run: () => void) => (window.requestIdleCallback ?? setTimeout)(run);

/** Loads the pages that are not open, so that they open at once, also while the server restarts. */
function loadPages(): void {
  for (const { component } of pages) void component.preload();
}

/** Screen readers announce the new page by its heading. */
function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>('main h1') ?? document.getElementById('main')!;
  heading.tabIndex = -1;
  heading.focus();
}
