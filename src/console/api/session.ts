import { signal } from '@preact/signals';
import type { SignedIn, SignedInUser, SignedOut } from '../../contract/shapes/console.ts';
import { ApiProblem, pauseAfter, readProblem, Unreachable } from './problem.ts';
import { root } from './settings.ts';

export const user = signal<SignedInUser | undefined>(undefined);

export const trouble = signal<unknown>(undefined);

/** Reason why the page asks for a new sign-in: the session has ended, or the sign-in is too old for a change. */
export const asked = signal<'ended' | 'too-old' | undefined>(undefined);

const tabs = new BroadcastChannel('flagmeter');
let waiting: { readonly go: () => void; readonly stop: (reason: unknown) => void }[] = [];

type Notice = { readonly user: string } | 'signed-in' | 'signed-out';

tabs.addEventListener('message', ({ data }: MessageEvent<Notice>) => {
  if (data === 'signed-out') leave();
  else if (data === 'signed-in' || asked.value === 'ended') void resume();
  else if (user.value !== undefined && user.value.id !== data.user) location.reload();
});

/** Reads the signed-in user. Without a session, opens the sign-in page. Retries while the server is unreachable. */
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
  else notify({ user: user.value.id });
}

/** Resolves when the user has signed in again. @throws if `aborted` aborts, or the user cancels the sign-in */
export function signedInAgain(why: 'ended' | 'too-old', aborted?: AbortSignal): Promise<void> {
  // The page has not shown anything yet, so leaving it loses nothing.
  if (user.value === undefined) signIn();
  else asked.value = asked.value === 'ended' ? 'ended' : why;
  return new Promise((resolve, reject) => {
    waiting.push({ go: resolve, stop: reject });
    aborted?.addEventListener('abort', () => reject(aborted.reason), { once: true });
  });
}

export async function resume(): Promise<void> {
  const found = await readUser();
  if (found === undefined) return;
  // Another user has signed in, and the waiting requests belong to the previous user.
  if (user.value !== undefined && user.value.id !== found.id) return location.reload();
  user.value = found;
  for (const { go } of takeWaiting()) go();
}

export function giveUp(): void {
  const why = 'Nothing was changed, because you did not sign in again.';
  const reason = new ApiProblem(401, 'insufficient_user_authentication', why);
  for (const { stop } of takeWaiting()) stop(reason);
}

function takeWaiting(): typeof waiting {
  asked.value = undefined;
  const taken = waiting;
  waiting = [];
  return taken;
}

/**
 * Returns the address of the sign-in page.
 * @param path console path to return to
 * @param maxAge maximum age of the present sign-in, seconds; an older sign-in is repeated
 */
export function signInAddress(path: string, maxAge?: number): string {
  const limit = maxAge === undefined ? '' : `&max_age=${maxAge}`;
  return `${root}/console/sign-in?return=${encodeURIComponent(path)}${limit}`;
}

export async function signOut(): Promise<void> {
  const headers = { 'flagmeter-console': '1' };
  const response = await fetch(`${root}/console/session`, { method: 'DELETE', headers });
  const onward = response.status === 200 ? ((await response.json()) as SignedOut).continueAt : undefined;
  notify('signed-out');
  if (onward === undefined) leave();
  else location.assign(onward);
}

/** Handles `/console/signed-in`: notifies the waiting tab, and closes this tab. */
export function reportSignIn(): void {
  notify('signed-in');
  window.close();
}

function notify(notice: Notice): void {
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
  if (!response.ok) throw await readProblem(response);
  return ((await response.json()) as SignedIn).user ?? undefined;
}
