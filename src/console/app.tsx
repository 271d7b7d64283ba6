import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { LocationProvider, lazy, Route, Router, useLocation } from 'preact-iso';
import type { Application } from '../contract/shapes/application.ts';
import { readPlace } from './address/place.ts';
import { resource } from './api/client.ts';
import { usePoll } from './api/poll.ts';
import { trouble, user } from './api/session.ts';
import { root } from './api/settings.ts';
import { Announcer } from './components/announce.tsx';
import { Guarded, NoEnvironment, NotFound, Pending } from './components/failure.tsx';
import { Shortcuts } from './components/shortcuts.tsx';
import { useTitle } from './components/title.ts';
import { Frame } from './frame/frame.tsx';
import { SignInAgain } from './frame/sign-in-again.tsx';
import { type ConsoleRoute, routes } from './pages/routes.ts';
import { ApplicationsReader, applications, applicationsError, InTimeZone } from './reader/reader.tsx';

const pages = routes.map(({ path, load }) => ({ path: root + path, component: lazyPage(load) }));

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

/**
 * Links that the router handles: all links except links to the docs and to the auth host, which can have the same
 * origin.
 */
const ownPages = /^(?!.*\/(connect\/|docs($|\/)))/;

/** Delay before the other pages are loaded, ms. Until then, the open page loads its figures. */
const loadPagesAfterMs = 2000;

/** Safari before 26 lacks `requestIdleCallback`. */
const whenIdle = (run: () => void) => (window.requestIdleCallback ?? setTimeout)(run);

/** Loads the other pages in advance. They then open immediately, even while the server restarts. */
function loadPages(): void {
  for (const { component } of pages) void component.preload();
}

/** Moves the focus to the heading, so that screen readers announce the new page. */
function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>('main h1') ?? document.getElementById('main')!;
  heading.tabIndex = -1;
  heading.focus();
}

type Page = ComponentType<object>;

/** Returns a component that is loaded when it is first shown. After a failure, it retries when shown again. */
function lazyPage(loadPage: ConsoleRoute['load']) {
  const load = loadPage as () => Promise<Page>;
  const missing = (): Page => (props) => <Missing load={load} props={props} />;
  return lazy<Page>(() => load().catch(missing));
}

/** Shown if a page could not be loaded, because the server is unreachable, or was upgraded and has other files. */
function Missing({ load, props }: { readonly load: () => Promise<Page>; readonly props: object }) {
  const [loaded, setLoaded] = useState<{ readonly Page: Page }>();
  useTitle(loaded === undefined ? 'Not loaded' : '');
  useEffect(() => {
    load().then(
      (Page) => setLoaded({ Page }),
      () => undefined,
    );
  }, []);
  if (loaded !== undefined) return <loaded.Page {...props} />;
  return (
    <section class="notice" role="alert">
      <h1>This page could not be loaded</h1>
      <p>The server cannot be reached, or it was upgraded since this tab was opened. No data was changed.</p>
      <p class="actions">
        <button type="button" class="primary" onClick={() => location.reload()}>
          Reload
        </button>
      </p>
    </section>
  );
}

/** Shows the page if the application and the environment of its address exist. Pages rely on this check. */
function CheckedPlace({ children }: { readonly children: ComponentChildren }) {
  const { path, query } = useLocation();
  const { application: id, environment } = readPlace(path.slice(root.length), query);
  const listed = applications.value?.find((each) => each.id === id);
  // A new application might not be listed yet.
  const asked = applications.value !== undefined && listed === undefined ? id : undefined;
  const single = usePoll<Application>(asked === undefined ? undefined : resource('applications', asked), undefined);
  if (applications.value === undefined) return <Pending error={applicationsError.value} />;
  if (id === undefined) return <>{children}</>;
  const application = listed ?? single.data;
  if (application === undefined) return single.error === undefined ? null : <NotFound error={single.error} />;
  if (environment !== undefined && !application.environments.some(({ name }) => name === environment))
    return <NoEnvironment application={application} environment={environment} />;
  return <>{children}</>;
}
