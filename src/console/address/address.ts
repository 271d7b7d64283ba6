import { useLocation } from 'preact-iso';
import { type Query, withQuery } from '../api/client.ts';
import { root } from '../api/settings.ts';
import { recorded } from './parameters.ts';
import type { InEnvironment } from './place.ts';

export type EnvironmentPage =
  | 'flags'
  | 'flag'
  | 'experiments'
  | 'experiment'
  | 'cleanup'
  | 'activity'
  | 'metrics'
  | 'ingest'
  | 'people'
  | 'connect';

/** Returns the address of a console page. Encodes each segment. */
export function address(...segments: readonly string[]): string {
  return `${root}/${segments.map(encodeURIComponent).join('/')}`;
}

export function environmentAddress(app: string, environment: string, page: EnvironmentPage): string {
  return address('apps', app, environment, page);
}

/**
 * Returns the address of an application's first page.
 * @param environment the application's first environment, if any
 */
export function applicationAddress(app: string, environment: string | undefined): string {
  return environment === undefined ? applicationSettingsAddress(app) : environmentAddress(app, environment, 'flags');
}

/** Tabs of the page of a flag. The first tab is the default. */
export const flagTabs = ['overview', 'traffic', 'experiment', 'senders', 'settings'] as const;
export type FlagTab = (typeof flagTabs)[number];

/** Returns the address of a flag. @param query query of the current page; its range is kept */
export function featureAddress(
  { application, environment, name }: InEnvironment & { readonly name: string },
  query: Readonly<Record<string, string>>,
  tab?: FlagTab,
): string {
  return withQuery(environmentAddress(application, environment, 'flag'), { ...kept(query), name, tab });
}

/** Returns the query parameters that links to other pages keep: the range, its time zone, and its comparison. */
export function kept({ range, from, to, tz, compare }: Readonly<Record<string, string>>): Query {
  return { range, from, to, tz, compare };
}

export function useQuery() {
  const { path, query, route } = useLocation();
  return {
    query: recorded(query),
    /**
     * Changes some query parameters; `undefined` removes the parameter. @param push adds an entry to the browser's
     * history
     */
    change(patch: Readonly<Record<string, string | undefined>>, push = false): void {
      route(withQuery(path, { ...query, ...patch }), !push);
    },
  };
}

/** Value of the parameter `key` that stands for all leaked keys. */
export const leakedKey = 'leaked';

/**
 * Returns the address of an application's settings. It is not below `/apps/:app`, because an environment can be named
 * "settings".
 * @param key id of the key to highlight, or `leakedKey`
 */
export function applicationSettingsAddress(app: string, key?: string): string {
  return withQuery(address('settings', 'application'), { app, key });
}

export type TeamTab = 'webhooks' | 'limits' | 'sign-in' | 'general';

export function teamAddress(team: string, tab?: TeamTab): string {
  return withQuery(address('settings', 'team'), { team, tab });
}

export function webhookAddress(team: string, webhook: string): string {
  return withQuery(address('settings', 'webhook'), { team, webhook });
}
