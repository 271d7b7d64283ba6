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

/** The address of a page of the console: segments are encoded. */
export function address(...segments: readonly string[]): string {
  return `${root}/${segments.map(encodeURIComponent).join('/')}`;
}

export function environmentAddress(app: string, environment: string, page: EnvironmentPage): string {
  return address('apps', app, environment, page);
}

/** The address of the first page of an application. @param environment its first one; `undefined` if it has none */
export function applicationAddress(app: string, environment: string | undefined): string {
  return environment === undefined ? applicationSettingsAddress(app) : environmentAddress(app, environment, 'flags');
}

/** The address of a flag. @param query of the current page, whose range it keeps */
export function featureAddress(
  { application, environment, name }: InEnvironment & { readonly name: string },
  query: Readonly<Record<string, string>>,
): string {
  return withQuery(environmentAddress(application, environment, 'flag'), { ...kept(query), name });
}

/** The parameters that stay from page to page: the range, its time zone, and its comparison. */
export function kept({ range, from, to, tz, compare }: Readonly<Record<string, string>>): Query {
  return { range, from, to, tz, compare };
}

export function useQuery() {
  const { path, query, route } = useLocation();
  return {
    query: recorded(query),
    /** Changes some parameters; `undefined` removes one. @param push adds an entry to the browser's history */
    change(patch: Readonly<Record<string, string | undefined>>, push = false): void {
      route(withQuery(path, { ...query, ...patch }), !push);
    },
  };
}

/** In place of the id of a key: all leaked ones. */
export const leakedKey = 'leaked';

/**
 * The address of an application's settings. Below `/apps/:app` an environment could be called "settings".
 * @param key id of a key, or `leakedKey`: its row is highlighted
 */
export function applicationSettingsAddress(app: string, key?: string): string {
  return withQuery(address('settings', 'application'), { app, key });
}

export type TeamTab = 'api-keys' | 'sign-in-clients' | 'webhooks' | 'limits' | 'sign-in' | 'general';

export function teamAddress(team: string, tab?: TeamTab): string {
  return withQuery(address('settings', 'team'), { team, tab });
}

export function webhookAddress(team: string, webhook: string): string {
  return withQuery(address('settings', 'webhook'), { team, webhook });
}
