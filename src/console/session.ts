import { signal } from '@preact/signals';
import type { SignedIn, SignedInUser } from '../contract/console.ts';
import { pauseAfter } from './api/pause.ts';
import { problemOf, Unreachable } from './api/problem.ts';
import { root } from './settings.ts';

/** Who is signed in; `undefined` until that is known. */
export const user = signal<SignedInUser | undefined>(undefined);

/** Why that is not known yet. */
export const trouble = signal<unknown>(undefined);

/** Whether the session ended in the middle of work, so that the page asks to sign in again. */
export const expired = signal(false);

/** Tells the other tabs of this browser who sign in and out. */
const tabs = new BroadcastChannel('flagmeter');
let waiting: (() => void)[] = [];

/** What tabs tell each other: who is signed in, or that someone is or no one is any more. */
type Notice = { readonly user: string } | 'signed-in' | 'signed-out';

tabs.addEventListener('message', ({ data }: MessageEvent<Notice>) => {
  if (data === 'signed-out') leave();
  else if (data === 'signed-in' || expired.value) void resume();
  else if (user.value !== undefined && user.value.id !== data.user) location.reload();
});

/** Finds out who is signed in, or goes to the sign-in page. While the server cannot say, it is asked again. */
export async function begin(failures = 1): Promise<void> {
  try {
    user.value = await readUser();
    trouble.value = undefined;
  } catch (error) {
    trouble.value = error;
    const pause = pauseAfter(Number.POSITIVE_INFINITY, failures, error);
    if (pause !== undefined) setTimeout(() => void begin(failures + 1), pause);
    return;
  }
  if (user.value === undefined) signIn();
  else tell({ user: user.value.id });
}

/** Resolves when the user has signed in again. @throws when `aborted` is aborted */
export function sessionEnded(aborted?: AbortSignal): Promise<void> {
  // The page has shown nothing yet, so nothing is lost by leaving it.
  if (user.value === undefined) signIn();
  else expired.value = true;
  return new Promise((resolve, reject) => {
    waiting.push(resolve);
    aborted?.addEventListener('abort', () => reject(aborted.reason), { once: true });
  });
}

/** Goes on with what waited for a session, if there is one. @returns whether there is */
export async function resume(): Promise<boolean> {
  const found = await readUser();
  if (found === undefined) return false;
  // What waits was meant to be done as someone else.
  if (user.value !== undefined && user.value.id !== found.id) {
    location.reload();
    return true;
  }
  user.value = found;
  expired.value = false;
  const resumed = waiting;
  waiting = [];
  for (const go of resumed) go();
  return true;
}

/** The address of the sign-in page that returns to a path of the console. */
export function signInAddress(path: string): string {
  return `${root}/console/sign-in?return=${encodeURIComponent(path)}`;
}

/** Ends the session, in all tabs. */
export async function signOut(): Promise<void> {
  await fetch(`${root}/console/session`, { method: 'DELETE', headers: { 'flagmeter-console': '1' } });
  tell('signed-out');
  leave();
}

/** What `/console/signed-in` does: the tab that waits goes on, and this one is not needed any more. */
export function reportSignIn(): void {
  tell('signed-in');
  window.close();
}

function tell(notice: Notice): void {
  tabs.postMessage(notice);
}

function signIn(): void {
  location.assign(signInAddress(location.pathname + location.search));
}

function leave(): void {
  location.assign(`${root}/`);
}

async function readUser(): Promise<SignedInUser | undefined> {
  const response = await fetch(`${root}/console/session`, {
    cache: 'no-store',
    headers: { 'flagmeter-console': '1' },
  }).catch((cause) => {
    throw new Unreachable('The server cannot be reached', { cause });
  });
  if (!response.ok) throw await problemOf(response);
  return ((await response.json()) as SignedIn).user ?? undefined;
}
