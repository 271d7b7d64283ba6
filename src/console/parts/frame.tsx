import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { Application } from '../../contract/shapes/application.ts';
import {
  address,
  applicationSettingsAddress,
  type EnvironmentPage,
  environmentAddress,
  flagAddress,
  kept,
} from '../address.ts';
import { withQuery } from '../api/client.ts';
import { applications } from '../applications.tsx';
import { type Shortcut, useKeys } from '../keys.ts';
import { rememberPlace, withLastPlace } from '../last-place.ts';
import { type Place, placeOf } from '../place.ts';
import { routes, tabs } from '../routes.ts';
import { safeText } from '../safe-text.ts';
import { root } from '../settings.ts';
import { pageTitle } from '../title.ts';
import { AccountMenu } from './account-menu.tsx';
import { IgnoredParameters } from './ignored-parameters.tsx';
import { LiveStatus } from './live.tsx';
import { SearchButton } from './search-button.tsx';
import { Switcher } from './switcher.tsx';

/** Pages outside of environments that have a shortcut. */
const topLevel = routes.filter(({ key, path }) => key !== undefined && !path.startsWith('/apps/'));

const goTo = (title: string, key: string, run: () => void): Shortcut => ({
  keys: `g ${key}`,
  help: `Go to ${title}`,
  run,
});

/** The frame of every page. */
export function Frame({ children }: { readonly children: ComponentChildren }) {
  const { path, query, route } = useLocation();
  useKeys(
    topLevel.map(({ path, title, key }) =>
      goTo(title!, key!, () => route(root + path.replace('/:page?', ''))),
    ),
  );
  const here = placeOf(path.slice(root.length), query);
  useEffect(() => rememberPlace(here), [path]);
  const place = withLastPlace(here);
  const application = applications.value?.find(({ id }) => id === place.application);
  useDocumentTitle(here, application);
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="bar">
        <a class="brand" href={`${root}/`}>
          <Logo />
          flagmeter
        </a>
        <Switchers place={place} application={application} />
        <span class="spacer" />
        <LiveStatus />
        <SearchButton />
        <nav class="top-links" aria-label="Console">
          <a href={`${root}/`} aria-current={place.page === '' ? 'page' : undefined}>
            Home
          </a>
          <a href={address('audit')} aria-current={place.page === 'audit' ? 'page' : undefined}>
            Audit log
          </a>
          <a href={address('docs')}>Docs</a>
        </nav>
        <AccountMenu />
        {application && <Tabs place={place} application={application} />}
      </header>
      <main id="main" tabIndex={-1}>
        <IgnoredParameters />
        {children}
      </main>
    </>
  );
}

/** Three bars at a flagpole, as in the icon of the page. */
function Logo() {
  return (
    <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M4 3v18M9 5h11M9 10h7M9 15h3" />
    </svg>
  );
}

interface InApplication {
  readonly place: Place;
  readonly application: Application;
}

/** Switches to another application or environment. Keeps the range, and the page if it exists there. */
function Switchers({ place, application }: { place: Place; application: Application | undefined }) {
  const { query } = useLocation();
  const page = tabs.find((tab) => tab.page === place.page)?.page ?? 'flags';
  const all = applications.value ?? [];
  if (all.length === 0) return null;
  const leading = (app: Application) => {
    const environment =
      app.environments.find(({ name }) => name === place.environment) ?? app.environments[0];
    if (environment === undefined || place.page === 'application') return applicationSettingsAddress(app.id);
    return withQuery(environmentAddress(app.id, environment.name, page), kept(query));
  };
  return (
    <div class="switchers">
      <Switcher
        title="Application"
        current={application?.id}
        choices={all.map((app) => ({ key: app.id, label: app.name, href: leading(app) }))}
      />
      {application && application.environments.length > 0 && (
        <>
          <span class="quiet" aria-hidden="true">
            ▸
          </span>
          <Switcher
            title="Environment"
            current={place.environment}
            choices={application.environments.map(({ name }) => ({
              key: name,
              label: name,
              href: sameElsewhere(application.id, name, place, query),
            }))}
          />
        </>
      )}
    </div>
  );
}

/** The same page, or the same flag, of another environment. */
function sameElsewhere(
  app: string,
  environment: string,
  place: Place,
  query: Record<string, string>,
): string {
  const { name } = query;
  if (place.page === 'flag' && name !== undefined)
    return flagAddress({ application: app, environment, name }, query);
  const page = tabs.find((tab) => tab.page === place.page)?.page ?? 'flags';
  return withQuery(environmentAddress(app, environment, page), kept(query));
}

function Tabs({ place, application }: InApplication) {
  const { query, route } = useLocation();
  const environment = place.environment ?? application.environments[0]?.name;
  const hrefOf = (page: EnvironmentPage) =>
    environment === undefined
      ? applicationSettingsAddress(application.id)
      : withQuery(environmentAddress(application.id, environment, page), kept(query));
  useKeys(tabs.map(({ page, title, key }) => goTo(title, key, () => route(hrefOf(page)))));
  return (
    <nav class="tabs" aria-label="Pages of the application">
      {environment !== undefined &&
        tabs.map(({ page, title }) => (
          <a key={page} href={hrefOf(page)} aria-current={current(place, page)}>
            {title}
          </a>
        ))}
      <a
        href={applicationSettingsAddress(application.id)}
        aria-current={place.page === 'application' ? 'page' : undefined}
      >
        <span class="tabs-wide">Application </span>
        <span class="tabs-last">settings</span>
      </a>
    </nav>
  );
}

function current(place: Place, page: string): 'page' | 'true' | undefined {
  if (place.page === page) return 'page';
  return place.page === 'flag' && page === 'flags' ? 'true' : undefined;
}

function useDocumentTitle(place: Place, application: Application | undefined): void {
  const named = pageTitle.value;
  useEffect(() => {
    const shown = place.page === 'application' ? 'settings' : place.page;
    const title = routes.find(({ page }) => page === shown)?.title;
    const parts = [named || title, place.environment, application?.name, 'flagmeter'];
    document.title = safeText(parts.filter(Boolean).join(' · '));
  }, [named, place.page, place.environment, application?.name]);
}
