import type { ConsoleSettings } from '../contract/console.ts';

/** What the server wrote into the page. */
export const settings: ConsoleSettings = JSON.parse(document.getElementById('settings')!.textContent!);

/** The path of the console's address, without a slash at its end; empty at the root of a host. */
export const root = new URL(settings.baseUrl).pathname.replace(/\/$/, '');
