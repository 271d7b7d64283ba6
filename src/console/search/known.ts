import { signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { IngestReport } from '../../contract/shapes/ledger.ts';
import type { SearchResult, SearchResults } from '../../contract/shapes/search.ts';
import {
  address,
  applicationSettingsAddress,
  environmentAddress,
  featureAddress,
  kept,
  useQuery,
} from '../address/address.ts';
import { type Place, readPlace } from '../address/place.ts';
import { type Preset, presets, rangeQuery } from '../address/range.ts';
import { call, resource, withQuery } from '../api/client.ts';
import { usePoll } from '../api/poll.ts';
import { signOut } from '../api/session.ts';
import { root } from '../api/settings.ts';
import { announce } from '../components/announce.tsx';
import { openShortcuts } from '../components/shortcuts.tsx';
import { programsIn } from '../pages/ingest/programs.ts';
import { routes, tabs } from '../pages/routes.ts';
import { applications, hasRole } from '../reader/reader.tsx';
import { chooseTheme, type Theme, themes } from '../styles/theme.ts';
import { type Entry, sentText } from './entries.ts';

/** The entries that the console knows: pages, applications, settings and actions. */
export function useKnownEntries(): Entry[] {
  const { path, query } = useLocation();
  const { change } = useQuery();
  const place = readPlace(path.slice(root.length), query);
  const all = applications.value ?? [];
  const current = all.find(({ id }) => id === place.application) ?? all[0];
  const environment = place.environment ?? current?.environments[0]?.name;
  return [
    ...(current && environment !== undefined
      ? tabs.map(
          ({ page, title }): Entry => ({
            kind: 'page',
            title,
            detail: `${current.name} · ${environment}`,
            href: withQuery(environmentAddress(current.id, environment, page), kept(query)),
          }),
        )
      : []),
    ...routes.flatMap(({ path: route, title }): Entry[] =>
      title === undefined || route.includes(':application')
        ? []
        : [{ kind: 'page', title, href: root + route.replace(/\/:.*/, '') }],
    ),
    ...all.flatMap(({ id, name, environments, allowedOrigins }): Entry[] => [
      ...environments.map(
        (each): Entry => ({
          kind: 'application',
          title: `${name} · ${each.name}`,
          href: environmentAddress(id, each.name, 'flags'),
        }),
      ),
      {
        kind: 'setting',
        title: `${name}: application settings`,
        words: 'keys origins environments identities',
        href: applicationSettingsAddress(id),
      },
      // Each origin has its own address, because the search lists an address only once.
      ...allowedOrigins.map(
        (origin): Entry => ({
          kind: 'origin',
          title: origin,
          detail: `${name} · allowed origin`,
          href: `${applicationSettingsAddress(id)}#${encodeURIComponent(origin)}`,
        }),
      ),
    ]),
    ...settings.flatMap(([page, title, words]): Entry[] =>
      page === 'sign-in' && !hasRole('Admin')
        ? []
        : [{ kind: 'setting', title, words, href: address('settings', page) }],
    ),
    ...ranges(place.environment !== undefined, (preset) => change(rangeQuery({ preset }))),
    ...actions,
  ];
}

const settings = [
  ['you', 'Your profile', 'you password authenticator passkeys sessions two-step'],
  ['applications', 'Applications', 'create an application'],
  ['team', 'Team', 'access members users invite invitation reset link roles api keys sign-in clients webhooks limits'],
  ['sign-in', 'Sign-in policy', 'second factor identity providers single sign-on sso password'],
] as const;

function ranges(isOffered: boolean, choose: (preset: Preset) => void): Entry[] {
  if (!isOffered) return [];
  return (Object.keys(presets) as Preset[]).map((preset) => ({
    kind: 'action',
    title: `Range: ${presets[preset].label}`,
    run: () => choose(preset),
  }));
}

const actions: readonly Entry[] = [
  { kind: 'action', title: 'Create application', href: address('settings', 'applications') },
  { kind: 'action', title: 'Invite user', href: address('settings', 'team') },
  { kind: 'action', title: 'Copy link of this page', words: 'share url', run: () => void copyLink() },
  ...(Object.keys(themes) as Theme[]).map(
    (each): Entry => ({ kind: 'action', title: `Theme: ${themes[each].toLowerCase()}`, run: () => chooseTheme(each) }),
  ),
  { kind: 'action', title: 'List shortcuts', words: 'keyboard help', run: () => setTimeout(openShortcuts) },
  { kind: 'action', title: 'Sign out', run: () => void signOut() },
];

async function copyLink(): Promise<void> {
  try {
    await navigator.clipboard.writeText(location.href);
    announce('Link copied');
  } catch {
    announce('The browser does not allow copying');
  }
}

const sections = signal<readonly Entry[] | undefined>(undefined);

interface Title {
  readonly title: string;
  readonly page: string;
  readonly to: string;
}

export function docsEntries(): readonly Entry[] {
  return sections.value ?? [];
}

/** Loads the titles of the docs. If loading fails, the search omits the docs. */
export async function readDocs(): Promise<void> {
  if (sections.value !== undefined) return;
  try {
    const response = await fetch(`${root}/docs/titles.json`);
    if (!response.ok) return;
    const titles = (await response.json()) as readonly Title[];
    sections.value = titles.map(({ title, page, to }) => ({
      kind: 'docs',
      title,
      href: `${root}/docs/${to}`,
      ...(page !== title && { detail: page }),
    }));
  } catch {
    // When the search is next opened, it loads the titles again.
  }
}

/** Returns the programs that sent messages to the current environment in the last day; none for an empty text. */
export function useSenders(text: string): readonly Entry[] {
  const { path, query } = useLocation();
  const { application, environment } = readPlace(path.slice(root.length), query);
  const known = application !== undefined && environment !== undefined && text !== '';
  const report = known ? withQuery(resource('applications', application, 'ingest'), { environment }) : undefined;
  const { data } = usePoll<IngestReport>(report, undefined);
  if (!known || data === undefined) return [];
  const page = environmentAddress(application, environment, 'ingest');
  return programsIn(data.entries).map(({ name, versions }) => ({
    kind: 'sender',
    title: name,
    detail: environment,
    words: versions.map(({ label }) => label).join(' '),
    href: withQuery(page, { ...kept(query), sender: name }),
  }));
}

const storageKey = 'flagmeter-recent';
const mostKept = 8;

/** Returns the pages that were chosen last in this browser, the latest first. */
export function recentEntries(): Entry[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isEntry).map((entry) => ({ ...entry, kind: 'recent' })) : [];
  } catch {
    return [];
  }
}

/** Stores a chosen page. Actions and people are not stored. */
export function remember({ title, detail, href }: Entry): void {
  if (href === undefined) return;
  const others = recentEntries().filter((entry) => entry.href !== href);
  const all = [{ title, detail, href }, ...others.map(({ title, detail, href }) => ({ title, detail, href }))];
  try {
    localStorage.setItem(storageKey, JSON.stringify(all.slice(0, mostKept)));
  } catch {
    // If storage is unavailable, the page is not stored.
  }
}

/** True if stored data is an entry. An earlier version of the console can have stored other fields. */
function isEntry(value: unknown): value is Entry {
  const { title, detail, href } = (value ?? {}) as Partial<Record<string, unknown>>;
  const isText = (each: unknown) => typeof each === 'string';
  return isText(title) && isText(href) && (href as string).startsWith('/') && (detail === undefined || isText(detail));
}

const typingMs = 120;
const againMs = 500;
const mostRepeats = 20;

interface Found {
  readonly entries: readonly Entry[];
  /** The flag with the most similar name, if nothing matches. */
  readonly similar: readonly Entry[];
  readonly isComplete: boolean;
}

export function useFound(text: string): Found {
  const { path, query } = useLocation();
  const place = readPlace(path.slice(root.length), query);
  const found = useSignal<{ readonly q: string; readonly results: SearchResults } | undefined>(undefined);
  const q = sentText(text);
  useEffect(() => {
    if (q === '') return undefined;
    const stopping = new AbortController();
    let repeats = 0;
    const search = async () => {
      try {
        const { signal } = stopping;
        const options = { query: { q, limit: 30, application: place.application }, signal };
        const results = await call<SearchResults>('GET', resource('search'), options);
        found.value = { q, results };
        repeats += 1;
        if (!results.complete && repeats < mostRepeats) timer = setTimeout(search, againMs);
      } catch {
        // The dialog still shows the entries of the console, and the next typed character repeats the search.
      }
    };
    let timer = setTimeout(search, typingMs);
    return () => {
      stopping.abort();
      clearTimeout(timer);
    };
  }, [q]);
  const { results } = found.value ?? {};
  const isCurrent = q === '' || found.value?.q === q;
  // While the reader types, earlier results that still match are shown.
  const items = q === '' ? [] : (results?.items ?? []);
  const similar = isCurrent && q !== '' ? results?.similar : undefined;
  return {
    entries: items.map((result) => createEntry(result, place, query)),
    similar: similar === undefined ? [] : [{ ...createEntry(similar, place, query), kind: 'similar' }],
    isComplete: isCurrent && (results?.complete ?? true),
  };
}

function createEntry(
  { type, name, detail, application, link }: SearchResult,
  place: Place,
  query: Readonly<Record<string, string>>,
): Entry {
  const shown = [application?.name, detail].filter(Boolean).join(' · ');
  const environments = applications.value?.find(({ id }) => id === application?.id)?.environments ?? [];
  const environment = environments.find((each) => each.name === place.environment)?.name;
  const isHere = type === 'feature' && application?.id === place.application && environment !== undefined;
  const href = isHere ? featureAddress({ application: application!.id, environment, name }, query) : root + link;
  return { kind: type, title: name, href, ...(shown !== '' && { detail: shown }) };
}
