import type { ConsoleSettings } from '../../contract/shapes/console.ts';

export const settings: ConsoleSettings = JSON.parse(document.getElementById('settings')!.textContent!);

/** The path of the base URL without a trailing slash; empty at the root of a host. */
export const root = new URL(settings.baseUrl).pathname.replace(/\/$/, '');
