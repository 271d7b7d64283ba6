import { computed, signal } from '@preact/signals';
import { type ComponentChildren, Fragment } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { isTimeZone } from '../../contract/calendar.ts';
import { isAtLeast, type Role } from '../../contract/roles.ts';
import type { Application } from '../../contract/shapes/application.ts';
import type { Preferences, PreferencesPatch } from '../../contract/shapes/preferences.ts';
import { useQuery } from '../address/address.ts';
import { readPlace } from '../address/place.ts';
import { call, resource } from '../api/client.ts';
import { useWholeList } from '../api/list.ts';
import { forget } from '../api/poll.ts';
import { user } from '../api/session.ts';
import { root } from '../api/settings.ts';
import { browserZone, formatIn } from '../text/format.ts';

/** The applications of the reader's teams, the oldest first; `undefined` until they are known. */
export const applications = signal<readonly Application[] | undefined>(undefined);

export const applicationsError = signal<unknown>(undefined);

const path = resource('applications');
const everyMs = 30_000;

export function ApplicationsReader() {
  const { items, error } = useWholeList<Application>(path, {}, everyMs);
  useLayoutEffect(() => {
    applicationsError.value = items === undefined ? error : undefined;
    if (items !== undefined) applications.value = items;
  }, [items, error]);
  return null;
}

export function refreshApplications(): void {
  forget(path);
}

export const preferences = computed<Preferences | undefined>(() => user.value?.preferences);

export async function changePreferences(patch: PreferencesPatch): Promise<void> {
  const changed = await call<Preferences>('PATCH', resource('users', 'me', 'preferences'), { body: patch });
  if (user.value !== undefined) user.value = { ...user.value, preferences: changed };
}

/**
 * True if the reader has a role in the team of the address. If the address has no team, a role in any team suffices.
 * Only the API enforces roles; the page hides actions that the API would refuse.
 */
export function hasRole(least: Role): boolean {
  if (user.value === undefined) return false;
  const { teamRoles } = user.value;
  const team = teamOfAddress();
  const held = team === undefined ? Object.values(teamRoles) : [teamRoles[team]];
  return held.some((role) => isAtLeast(role, least));
}

function teamOfAddress(): string | undefined {
  const path = location.pathname.slice(root.length);
  const query = Object.fromEntries(new URLSearchParams(location.search));
  if (path.startsWith('/settings/team')) return query['team'] ?? user.value?.primaryTeam;
  if (path.startsWith('/settings/webhook')) return query['team'];
  const { application } = readPlace(path, query);
  return applications.value?.find(({ id }) => id === application)?.teamId;
}

export function preferredZone(): string {
  const zone = preferences.value?.timeZone;
  // The server can know a time zone that the browser lacks.
  return zone && isTimeZone(zone) ? zone : browserZone;
}

/** Returns the time zone of the page's address, or else the preferred time zone. */
export function useZone(): string {
  const { tz } = useQuery().query;
  return tz !== undefined && isTimeZone(tz) ? tz : preferredZone();
}

/** Shows its children in the time zone of the page. Renders all children again when the time zone changes. */
export function InTimeZone({ children }: { readonly children: ComponentChildren }) {
  const zone = useZone();
  formatIn(zone);
  return <Fragment key={zone}>{children}</Fragment>;
}
