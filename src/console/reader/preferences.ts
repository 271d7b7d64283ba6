import { computed } from '@preact/signals';
import type { Preferences, PreferencesPatch } from '../../contract/shapes/preferences.ts';
import { call, resource } from '../api/client.ts';
import { user } from '../api/session.ts';

/** How the signed-in user wants to see the console; `undefined` until it is known. */
export const preferences = computed<Preferences | undefined>(() => user.value?.preferences);

/** Changes some preferences. @throws as `call` */
export async function changePreferences(patch: PreferencesPatch): Promise<void> {
  const changed = await call<Preferences>('PATCH', resource('users', 'me', 'preferences'), { body: patch });
  if (user.value !== undefined) user.value = { ...user.value, preferences: changed };
}
