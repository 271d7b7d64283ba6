import type { Group } from '../http/endpoint.ts';
import { type CallbackDeps, callbackEndpoint } from './callback.ts';
import { sessionEndpoints } from './session-endpoints.ts';
import { signInEndpoint } from './sign-in.ts';

/** How a browser gets a session of the console, and what it may ask of it. */
export const consoleSession: Group<CallbackDeps> = {
  tag: 'Console session',
  description: 'Signing in to the web console.',
  endpoints: [signInEndpoint, callbackEndpoint, ...sessionEndpoints],
};
