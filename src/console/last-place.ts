import { signal } from '@preact/signals';
import type { InEnvironment, Place } from './place.ts';

const key = 'flagmeter-place';

/** The environment that this tab showed last. */
const last = signal<InEnvironment | undefined>(read());

/** Stores the environment of an address. It lasts as long as the tab. */
export function rememberPlace({ application, environment }: Place): void {
  if (application === undefined || environment === undefined) return;
  const { value } = last;
  if (value?.application === application && value.environment === environment) return;
  last.value = { application, environment };
  try {
    sessionStorage.setItem(key, JSON.stringify(last.value));
  } catch {
    // Without storage it lasts until the page is reloaded.
  }
}

/** A place whose address names no environment, such as the settings, gets the last one. The home page has none. */
export function withLastPlace(place: Place): Place {
  const { application, environment, page } = place;
  if (last.value === undefined || environment !== undefined || page === '') return place;
  if (application !== undefined && application !== last.value.application) return place;
  return { ...place, ...last.value };
}

function read(): InEnvironment | undefined {
  try {
    const stored = JSON.parse(sessionStorage.getItem(key) ?? 'null') as Partial<InEnvironment> | null;
    const { application, environment } = stored ?? {};
    return application === undefined || environment === undefined ? undefined : { application, environment };
  } catch {
    return undefined;
  }
}
