import { signal } from '@preact/signals';

export interface Place {
  readonly application: string | undefined;
  readonly environment: string | undefined;
  /** The page, such as `flags` or `settings`; empty if the address names no page. */
  readonly page: string;
}

/**
 * Properties of a page of an environment, from the router. `CheckedPlace` verifies that application and environment
 * exist.
 */
export interface InEnvironment {
  readonly application: string;
  readonly environment: string;
}

/**
 * Reads an address.
 * @param path path relative to the root of the console
 */
export function readPlace(path: string, query: Readonly<Record<string, string>>): Place {
  const [first = '', second, third, fourth = ''] = path.split('/').filter(Boolean).map(decoded);
  if (first === 'apps') return { application: second, environment: third, page: fourth };
  if (first === 'settings' && second === 'application')
    return { application: query['app'], environment: undefined, page: 'application' };
  return { application: undefined, environment: undefined, page: first };
}

/** Decodes a segment of a path. For a malformed segment, returns a name that does not exist. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return '\ufffd';
  }
}

const storageKey = 'flagmeter-place';

/** The environment that this browser tab showed last. Pages without an environment of their own keep showing it. */
const last = signal<InEnvironment | undefined>(readLast());

/** Remembers the environment of an address until the tab is closed. */
export function rememberPlace({ application, environment }: Place): void {
  if (application === undefined || environment === undefined) return;
  const { value } = last;
  if (value?.application === application && value.environment === environment) return;
  last.value = { application, environment };
  try {
    sessionStorage.setItem(storageKey, JSON.stringify(last.value));
  } catch {
    // If storage is unavailable, the environment is remembered until the page is reloaded.
  }
}

/** Adds the last environment to a place without an environment, such as the settings. The home page stays unchanged. */
export function withLastPlace(place: Place): Place {
  const { application, environment, page } = place;
  if (last.value === undefined || environment !== undefined || page === '') return place;
  if (application !== undefined && application !== last.value.application) return place;
  return { ...place, ...last.value };
}

function readLast(): InEnvironment | undefined {
  try {
    const stored = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as Partial<InEnvironment> | null;
    const { application, environment } = stored ?? {};
    return application === undefined || environment === undefined ? undefined : { application, environment };
  } catch {
    return undefined;
  }
}
