import type { ApplicationKey } from '../settings/shapes.ts';

export type KeyType = ApplicationKey['type'];

/** The types of keys, and what each is for. */
export const keyTypes: readonly (readonly [type: KeyType, words: string])[] = [
  ['Frontend', 'For pages in a browser. Everyone can read it; packets must come from the allowed origins.'],
  ['Mobile', 'For apps. Everyone who has the app can read it; packets need no origin.'],
  ['Backend', 'For your servers only: reports, and minting of identities. It is secret.'],
];

/** Something still sends with a key that was used this recently. */
const recentMs = 15 * 60_000;

/** What to know before an old key is deleted. */
export type OldKeyState = 'never used' | 'in use' | 'quiet';

/** Whether an old key is still used. Its last use is known to the minute or so. */
export function oldKeyState(lastUsedAt: string | null, now: number): OldKeyState {
  if (lastUsedAt === null) return 'never used';
  return now - Date.parse(lastUsedAt) < recentMs ? 'in use' : 'quiet';
}
