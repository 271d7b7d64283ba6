import type { ApiError } from '../../contract/errors.ts';
import type { Group } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';
import type { Reply, Route } from '../../http/types.ts';
import { type CallbackDeps, callbackEndpoint } from './callback.ts';
import { failurePage } from './failure-page.ts';
import { sessionEndpoints, sessionPath } from './session-endpoints.ts';
import { signInEndpoint } from './sign-in.ts';

/** How a browser gets a session of the console, and what it may ask of it. */
export const consoleSession: Group<CallbackDeps> = {
  tag: 'Console session',
  description: 'Signing in to the web console.',
  endpoints: [signInEndpoint, callbackEndpoint, ...sessionEndpoints],
};

/** The answer to a request when accounts cannot be known: JSON for the console's script, a page for people. */
export function cannotAnswer(refusal: ApiError, { path }: Pick<Route, 'path'>): Reply {
  return path === sessionPath ? problem(refusal, { 'cache-control': 'no-store' }) : failurePage(refusal);
}
