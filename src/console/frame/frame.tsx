import { useSignal } from '@preact/signals';
import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { Application } from '../../contract/shapes/application.ts';
import {
  address,
  applicationSettingsAddress,
  type EnvironmentPage,
  environmentAddress,
  type FlagTab,
  featureAddress,
  kept,
  useQuery,
} from '../address/address.ts';
import { ignoredIn } from '../address/parameters.ts';
import { type Place, readPlace, rememberPlace, withLastPlace } from '../address/place.ts';
import { endsNow, readRange } from '../address/range.ts';
import { reachable, withQuery } from '../api/client.ts';
import { now } from '../api/clock.ts';
import { liveness } from '../api/poll.ts';
import { ApiProblem } from '../api/problem.ts';
import { asked, signOut, user } from '../api/session.ts';
import { root } from '../api/settings.ts';
import { announce } from '../components/announce.tsx';
import { Menu } from '../components/menu.tsx';
import { openShortcuts, type Shortcut, useKeys } from '../components/shortcuts.tsx';
import { pageTitle } from '../components/title.ts';
import { routes, tabs } from '../pages/routes.ts';
import { applications, hasRole, useZone } from '../reader/reader.tsx';
import type { SearchDialogProps } from '../search/dialog.tsx';
import { chooseTheme, type Theme, theme, themes } from '../styles/theme.ts';
import { format } from '../text/format.ts';
import { safeText } from '../text/safe-text.ts';
import { computeLiveness, type Liveness } from './liveness.ts';
import { Switcher } from './switcher.tsx';

const topLevel = routes.filter(({ key, path }) => key !== undefined && !path.startsWith('/apps/'));

const goTo = (title: string, key: string, run: () => void): Shortcut => ({
  keys: `g ${key}`,
  help: `Go to ${title}`,
  run,
});

export function Frame({ children }: { readonly children: ComponentChildren }) {
  const { path, query, route } = useLocation();
  useKeys(topLevel.map(({ path, title, key }) => goTo(title!, key!, () => route(root + path.replace('/:page?', '')))));
  const here = readPlace(path.slice(root.length), query);
  useEffect(() => rememberPlace(here), [path]);
  const place = withLastPlace(here);
  const application = applications.value?.find(({ id }) => id === place.application);
  // The tabs are shown before the applications are loaded, because late tabs would move the page.
  const shown = applications.value === undefined ? place.application : application?.id;
  useDocumentTitle(here, application);
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="bar">
        <a class="brand" href={`${root}/`}>
          <Logo />
          <span class="hidden-on-phone">flagmeter</span>
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
        {shown && <Tabs place={place} id={shown} environments={application?.environments ?? []} />}
      </header>
      <main id="main" tabIndex={-1}>
        <IgnoredParameters />
        {children}
      </main>
    </>
  );
}

function Logo() {
  return (
    <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M4 3v18M9 5h11M9 10h7M9 15h3" />
    </svg>
  );
}

/** Switches to another application or environment. Keeps the range, and the page if it exists there. */
function Switchers({ place, application }: { place: Place; application: Application | undefined }) {
  const { query } = useLocation();
  const page = tabs.find((tab) => tab.page === place.page)?.page ?? 'flags';
  const all = applications.value ?? [];
  if (all.length === 0) return null;
  const pageAddress = (app: string, environment: string) =>
    withQuery(environmentAddress(app, environment, page), kept(query));
  const leading = (app: Application) => {
    const environment = app.environments.find(({ name }) => name === place.environment) ?? app.environments[0];
    if (environment === undefined || place.page === 'application') return applicationSettingsAddress(app.id);
    return pageAddress(app.id, environment.name);
  };
  const { name: flag } = query;
  // The flag stays selected, because a flag has the same name in all environments.
  const elsewhere = (app: string, environment: string) =>
    place.page === 'flag' && flag !== undefined
      ? featureAddress({ application: app, environment, name: flag }, query, query['tab'] as FlagTab | undefined)
      : pageAddress(app, environment);
  return (
    <div class="switchers">
      <Switcher
        title="Application"
        current={application?.id}
        choices={all.map((app) => ({ key: app.id, label: app.name, href: leading(app) }))}
      />
      {application && application.environments.length > 0 && (
        <>
          <span class="quiet hidden-on-phone" aria-hidden="true">
            ▸
          </span>
          <Switcher
            title="Environment"
            current={place.environment}
            choices={application.environments.map(({ name }) => ({
              key: name,
              label: name,
              href: elsewhere(application.id, name),
            }))}
          />
        </>
      )}
    </div>
  );
}

interface TabsProps {
  readonly place: Place;
  readonly id: string;
  /** Empty until the application is known. */
  readonly environments: Application['environments'];
}

function Tabs({ place, id, environments }: TabsProps) {
  const { query, route } = useLocation();
  const environment = place.environment ?? environments[0]?.name;
  const tabAddress = (page: EnvironmentPage) =>
    environment === undefined
      ? applicationSettingsAddress(id)
      : withQuery(environmentAddress(id, environment, page), kept(query));
  const keyed = environment === undefined ? [] : tabs;
  useKeys(keyed.map(({ page, title, key }) => goTo(title, key, () => route(tabAddress(page)))));
  const links = (some: typeof tabs) =>
    environment !== undefined &&
    some.map(({ page, title }) => (
      <a key={page} href={tabAddress(page)} aria-current={current(place, page)}>
        {title}
      </a>
    ));
  const more = useRef<HTMLDivElement>(null);
  const hideMore = () => more.current?.hidePopover?.();
  useEffect(hideMore, [place.page]);
  return (
    <nav class="tabs" aria-label="Pages of the application">
      {links(tabs.slice(0, tabsOnPhone))}
      <button type="button" class="tabs-more" popoverTarget="more-pages">
        More
      </button>
      {/* On wide screens, the popover is shown as part of the list. */}
      <div ref={more} id="more-pages" popover="auto" class="tabs-rest">
        {links(tabs.slice(tabsOnPhone))}
        <a href={applicationSettingsAddress(id)} aria-current={place.page === 'application' ? 'page' : undefined}>
          Application settings
        </a>
      </div>
    </nav>
  );
}

/** Number of pages in the bar of a phone. Its button *More* shows the other pages. */
const tabsOnPhone = 3;

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

function SearchIcon() {
  return (
    <svg class="logo search-icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M14 14l6 6M10 4a6 6 0 1 0 .01 0" />
    </svg>
  );
}

function LiveStatus() {
  const { query } = useQuery();
  const fixed = !endsNow(readRange(query), now.peek(), useZone());
  const ended = asked.value === 'ended';
  const state = computeLiveness({ polled: liveness.value, reachable: reachable.value, ended, now: now.value });
  useAnnounced(state?.kind);
  if (state === undefined) return fixed ? <span class="live hidden-on-phone">○ fixed range</span> : null;
  return (
    <span class={`live live-${state.kind}`} title={`Figures as of ${format.clockSeconds(state.since)}`}>
      <span class="live-dot" aria-hidden="true" />
      <span class={state.kind === 'live' ? 'hidden-on-phone' : undefined}>{statusText(state)}</span>
      {whyAway(liveness.value?.error)}
    </span>
  );
}

function statusText({ kind, since }: Liveness): string {
  if (kind === 'live') return 'live';
  return `${kind} since ${format.clockSeconds(since)}`;
}

function whyAway(error: unknown): string {
  return error instanceof ApiProblem && error.code === 'postgres_unavailable' ? `: ${error.message}` : '';
}

/** Announces a state if it lasts for two seconds, because the figures are briefly old after a tab becomes visible. */
function useAnnounced(kind: Liveness['kind'] | undefined): void {
  const said = useRef<Liveness['kind'] | undefined>('live');
  useEffect(() => {
    if (kind === undefined || kind === said.current) return undefined;
    const timer = setTimeout(() => {
      said.current = kind;
      announce(kind === 'live' ? 'The figures are live again' : `The figures are ${kind}`);
    }, 2000);
    return () => clearTimeout(timer);
  }, [kind]);
}

const loadSearch = () => import('../search/dialog.tsx').then(({ SearchDialog }) => SearchDialog);

const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

/** The button that opens the search, as Ctrl+K or Cmd+K do. The dialog is loaded when it is first opened. */
function SearchButton() {
  const dialog = useSignal<{ readonly Dialog: ComponentType<SearchDialogProps> } | undefined>(undefined);
  const isOpen = useSignal(false);
  async function open() {
    try {
      dialog.value = { Dialog: await loadSearch() };
      isOpen.value = true;
    } catch {
      announce('The search could not be loaded: the server cannot be reached');
    }
  }
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isSearch = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey);
      if (!isSearch || event.altKey || event.shiftKey) return;
      event.preventDefault();
      if (document.querySelector('dialog[open]') === null) void open();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  const Dialog = dialog.value?.Dialog;
  return (
    <>
      <button type="button" class="search-button" aria-haspopup="dialog" onClick={() => void open()}>
        <SearchIcon />
        <span class="hidden-on-phone">Search</span> <kbd>{isApple ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      {Dialog !== undefined && isOpen.value && <Dialog onClose={() => (isOpen.value = false)} />}
    </>
  );
}

function AccountMenu() {
  const { route } = useLocation();
  const { name, email } = user.value ?? { name: '', email: '' };
  return (
    <Menu
      class="account"
      end
      label={
        <>
          <span class="avatar" aria-hidden="true">
            {(name || email).slice(0, 1).toUpperCase()}
          </span>
          <span class="hidden">Account: </span>
          <span class="account-label hidden-on-phone" title={name || email}>
            {name || email}
          </span>
        </>
      }
      items={[
        { label: 'Settings', onSelect: () => route(address('settings')) },
        { label: 'Audit log', onSelect: () => route(address('audit')) },
        ...(hasRole('Admin') ? [{ label: 'Server', onSelect: () => route(address('server')) }] : []),
        { label: 'Docs', onSelect: () => location.assign(address('docs')) },
        { label: 'Shortcuts', onSelect: openShortcuts },
        ...(Object.keys(themes) as Theme[]).map((each, index) => ({
          label: themes[each],
          checked: theme.value === each,
          apart: index === 0,
          onSelect: () => chooseTheme(each),
        })),
        { label: 'Sign out', apart: true, onSelect: () => void signOut() },
      ]}
    />
  );
}

/** Time after which a page has read all its query parameters, ms. Some are read only after the first response. */
const settledAfterMs = 3000;

function IgnoredParameters() {
  const { query } = useLocation();
  const { change } = useQuery();
  const since = useMemo(() => now.peek(), [query]);
  const names = Object.keys(query);
  const ignored = names.length === 0 ? [] : ignoredIn(query, now.value - since > settledAfterMs);
  if (ignored.length === 0) return null;
  return (
    <div class="callout callout-warn ignored" role="status">
      {ignored.map(({ name, value, reason }) => (
        <p key={name} class="head">
          <span>
            <code>
              {name}={value}
            </code>{' '}
            in the address is ignored: {reason}.
          </span>
          <button type="button" onClick={() => change({ [name]: undefined })}>
            Remove {name}
          </button>
        </p>
      ))}
    </div>
  );
}
